"""SwAV with multi-crop on vectors ("crops" are masked copies), single process, no queue."""
import argparse
import torch
from torch import nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description="swav toy")
parser.add_argument("--crops_for_assign", type=int, nargs="+", default=[0, 1])
parser.add_argument("--nmb_crops", type=int, default=4)
parser.add_argument("--nmb_prototypes", type=int, default=6)
parser.add_argument("--epsilon", type=float, default=0.25)
parser.add_argument("--sinkhorn_iterations", type=int, default=3)
parser.add_argument("--freeze_prototypes_niters", type=int, default=2)
parser.add_argument("--batch_size", type=int, default=12)
args = parser.parse_args([])


class MultiPrototypes(nn.Module):
    def __init__(self, d_in=14, feat=8):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(d_in, 24), nn.ReLU(), nn.Linear(24, feat))
        self.prototypes = nn.Linear(feat, args.nmb_prototypes, bias=False)
        # learned instead of the fixed 0.1 of the paper
        self.logit_scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, crops):
        z = F.normalize(self.backbone(torch.cat(crops)), dim=1, p=2)
        return z, self.prototypes(z)


def distributed_sinkhorn(out):
    Q = out.div_(args.epsilon).exp_().t()  # Q is K-by-B for consistency with notations from our paper
    B, K = Q.shape[1], Q.shape[0]
    Q /= Q.sum()
    for _ in range(args.sinkhorn_iterations):
        Q /= Q.sum(dim=1, keepdim=True)
        Q /= K
        Q /= Q.sum(dim=0, keepdim=True)
        Q /= B
    Q *= B
    return Q.t()


def swav_loss(model, output, bs):
    loss = 0
    for i, crop_id in enumerate(args.crops_for_assign):
        # prediction of the other crops, softmax of the scaled scores
        preds = []
        for v in range(args.nmb_crops):
            if v == crop_id:
                continue
            x = output[bs * v: bs * (v + 1)] * model.logit_scale.exp()
            preds.append(F.log_softmax(x, dim=1))
        # code of this crop, no gradient through it
        out = output[bs * crop_id: bs * (crop_id + 1)].data
        q = distributed_sinkhorn(out)
        subloss = 0
        for p in preds:
            subloss -= torch.mean(torch.sum(q * p, dim=1))
        loss += subloss / (args.nmb_crops - 1)
    return loss / len(args.crops_for_assign)


def get_crops():
    base = torch.randn(args.batch_size, 14)
    return [base * (torch.rand_like(base) > (0.1 if c < 2 else 0.4)) for c in range(args.nmb_crops)]


def train(n_iter=7):
    model = MultiPrototypes()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9, weight_decay=1e-6)
    for it in range(n_iter):
        with torch.no_grad():
            w = model.prototypes.weight.data.clone()
            w = F.normalize(w, dim=1, p=2)
            model.prototypes.weight.copy_(w)
        embedding, output = model(get_crops())
        loss = swav_loss(model, output, args.batch_size)
        optimizer.zero_grad()
        loss.backward()
        if it < args.freeze_prototypes_niters:
            model.prototypes.weight.grad = None
        optimizer.step()
        print("[%d] loss %.6f scale %.6f" % (it, loss.item(), model.logit_scale.exp().item()))


torch.manual_seed(31)
train()
