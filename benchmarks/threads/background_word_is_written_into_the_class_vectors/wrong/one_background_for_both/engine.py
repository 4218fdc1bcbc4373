import torch
import torch.nn.functional as F


def sample(cfg, generator, classes):
    labels = torch.randint(0, classes + 1, (cfg["num_rois"],), generator=generator)
    centers = torch.sin(torch.arange(cfg["roi_dim"])[None] * (labels[:, None] + 1) * 0.7)
    return centers + 0.3 * torch.randn(cfg["num_rois"], cfg["roi_dim"], generator=generator), labels


def train_one_epoch(model, optimizer, cfg, generator):
    model.train()
    meters = {}
    for _ in range(cfg["iters"]):
        feats, labels = sample(cfg, generator, cfg["num_seen"])
        losses = model.forward_train(feats, labels)
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        for name, value in losses.items():
            meters[name] = meters.get(name, 0.0) + value.item() / cfg["iters"]
    return meters


@torch.no_grad()
def evaluate(model, cfg, generator):
    model.eval()
    feats, labels = sample(cfg, generator, cfg["num_unseen"])
    words = F.normalize(model.bbox_head.vec[1:1 + cfg["num_unseen"]], dim=1)
    pred = (F.normalize(model.embed(feats), dim=1) @ words.t()).argmax(1) + 1
    hit = (pred == labels)[labels > 0].float().mean()
    return hit.item(), model.rpn.bg.norm().item()
