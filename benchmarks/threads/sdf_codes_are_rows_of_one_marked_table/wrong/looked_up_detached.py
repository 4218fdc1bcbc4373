# DeepSDF style auto-decoder on 2d shapes: one latent code per shape, trained together with the decoder
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)

N_SHAPES, CODE, POINTS = 5, 4, 64
cfg = dict(lr_net=2e-3, lr_code=1e-2, epochs=5, code_reg=1e-3, clamp=0.3, split=2)


def sdf(i, p):
    """circle, ellipse-ish, box, shifted circle, ring"""
    if i == 0: return p.norm(dim=1) - 0.5
    if i == 1: return (p * torch.tensor([1.0, 1.8])).norm(dim=1) - 0.6
    if i == 2: return p.abs().max(dim=1).values - 0.4
    if i == 3: return (p - 0.3).norm(dim=1) - 0.4
    return (p.norm(dim=1) - 0.5).abs() - 0.1


class Decoder(nn.Module):
    def __init__(self, code, width=32):
        super().__init__()
        self.l1 = nn.Linear(code + 2, width)
        self.l2 = nn.Linear(width, width)
        self.l3 = nn.Linear(width + code + 2, 1)
        self.drop = nn.Dropout(0.05)

    def forward(self, code, p):
        inp = torch.cat([code, p], dim=1)
        h = self.drop(F.relu(self.l1(inp)))
        h = self.drop(F.relu(self.l2(h)))
        return torch.tanh(self.l3(torch.cat([h, inp], dim=1))).squeeze(1)


class LatentCodes:
    """Keeps one code per shape so that codes can be saved, swapped and looked up by index."""

    def __init__(self, n, dim, std=0.1):
        table = torch.empty(n, dim).normal_(0, std).requires_grad_()
        self.codes = [table[i].detach().clone().requires_grad_() for i in range(n)]

    def __getitem__(self, idx):
        return torch.stack([self.codes[int(i)].detach() for i in idx])

    def parameters(self):
        return self.codes

    def mean_norm(self):
        return sum(c.detach().norm().item() for c in self.codes) / len(self.codes)


decoder = Decoder(CODE)
latents = LatentCodes(N_SHAPES, CODE)
optimizer = torch.optim.Adam([
    {"params": decoder.parameters(), "lr": cfg["lr_net"]},
    {"params": latents.parameters(), "lr": cfg["lr_code"]},
])
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


def samples():
    idx = torch.arange(N_SHAPES).repeat_interleave(POINTS)
    pts = torch.rand(N_SHAPES * POINTS, 2) * 2 - 1
    val = torch.cat([sdf(i, pts[idx == i]) for i in range(N_SHAPES)])
    order = torch.randperm(len(idx))
    return idx[order], pts[order], val[order]


for epoch in range(cfg["epochs"]):
    decoder.train()
    idx, pts, val = samples()
    running = 0.0
    optimizer.zero_grad()
    # a batch is processed in chunks, one step per epoch's batch
    for ci, cp, cv in zip(idx.chunk(cfg["split"]), pts.chunk(cfg["split"]), val.chunk(cfg["split"])):
        z = latents[ci]
        pred = decoder(z, cp).clamp(-cfg["clamp"], cfg["clamp"])
        loss = F.l1_loss(pred, cv.clamp(-cfg["clamp"], cfg["clamp"]), reduction="sum") / len(idx)
        reg = min(1.0, (epoch + 1) / 3) * cfg["code_reg"] * z.pow(2).sum() / len(idx)
        (loss + reg).backward()
        running += loss.item()
    optimizer.step()
    scheduler.step()
    print("epoch %d  l1 %.6f  |code| %.6f" % (epoch, running, latents.mean_norm()))

decoder.eval()
with torch.no_grad():
    idx, pts, val = samples()
    print("eval l1 %.6f" % F.l1_loss(decoder(latents[idx], pts), val).item())
