"""Two-stage detector on sparse point features: proposals first, refinement second."""
import argparse
import logging

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

LOG = logging.getLogger("detector")
cfg = {
    "RPN": {"hidden": 24, "cls_weight": 1.0, "reg_weight": 2.0, "train": True},
    "RCNN": {"rois": 8, "hidden": 24, "pool_size": 1.2, "reg_weight": 1.0, "cls_weight": 1.0},
    "OPT": {"lr": 6e-3, "decay": 0.9, "clip": 5.0},
}


class Scene:
    """A car is a cluster of points with extent; the rest is ground clutter."""

    def __init__(self, n_points=64, n_cars=3, seed=0):
        self.n_points, self.n_cars = n_points, n_cars
        self.rng = np.random.RandomState(seed)

    def __call__(self):
        r = self.rng
        centers = r.uniform(-5, 5, (self.n_cars, 2))
        size = r.uniform(0.8, 1.6, (self.n_cars, 1))
        which = r.randint(-1, self.n_cars, self.n_points)
        pts = r.uniform(-6, 6, (self.n_points, 2))
        on = which >= 0
        pts[on] = centers[which[on]] + size[which[on]] * r.uniform(-0.5, 0.5, (on.sum(), 2))
        height = np.where(on, r.uniform(0.3, 1.0, self.n_points), r.uniform(0, 0.2, self.n_points))
        boxes = np.concatenate([centers, size], 1)
        gt = boxes[np.clip(which, 0, None)]
        f = lambda a: torch.tensor(a, dtype=torch.float32)
        return {"pts": f(pts), "height": f(height), "fg": f(on), "gt": f(gt), "boxes": f(boxes)}


class RPN(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(3, c["hidden"]), nn.ReLU(), nn.Linear(c["hidden"], c["hidden"]), nn.ReLU())
        self.cls = nn.Linear(c["hidden"], 1)
        self.reg = nn.Linear(c["hidden"], 3)

    def forward(self, d):
        feat = self.backbone(torch.cat([d["pts"], d["height"][:, None]], 1))
        reg = self.reg(feat)
        boxes = torch.cat([d["pts"] + reg[:, :2], F.softplus(reg[:, 2:]) + 0.3], 1)
        return {"feat": feat, "score": self.cls(feat).squeeze(1), "boxes": boxes}


class RCNN(nn.Module):
    def __init__(self, c, width):
        super().__init__()
        self.c = c
        self.mlp = nn.Sequential(nn.Linear(width + 3, c["hidden"]), nn.ReLU())
        self.cls = nn.Linear(c["hidden"], 1)
        self.reg = nn.Linear(c["hidden"], 3)

    def forward(self, d, rois):
        delta = (d["pts"][None] - rois[:, None, :2]) / (rois[:, None, 2:] * self.c["pool_size"])
        weight = torch.exp(-delta.pow(2).sum(-1))
        weight = weight / (weight.sum(1, keepdim=True) + 1e-4)
        pooled = weight @ d["feat"]
        h = self.mlp(torch.cat([pooled, rois], 1))
        refined = rois + torch.tanh(self.reg(h))
        return refined, self.cls(h).squeeze(1)


class PointDetector(nn.Module):
    def __init__(self):
        super().__init__()
        self.rpn = RPN(cfg["RPN"])
        self.rcnn = RCNN(cfg["RCNN"], cfg["RPN"]["hidden"])

    def propose(self, out):
        out["boxes"] = out["boxes"].detach()
        keep = out["score"].topk(cfg["RCNN"]["rois"]).indices
        rois = out["boxes"][keep]
        # the second stage takes its regions as data
        return rois, keep

    def forward(self, d):
        out = self.rpn(d)
        rois, keep = self.propose(out)
        refined, score = self.rcnn({"pts": d["pts"], "feat": out["feat"]}, rois)
        return {**out, "rois": rois, "keep": keep, "refined": refined, "rcnn_score": score}


def rpn_loss(out, d):
    cls = F.binary_cross_entropy_with_logits(out["score"], d["fg"])
    reg = F.smooth_l1_loss(out["boxes"], d["gt"], reduction="none").mean(1)
    reg = (reg * d["fg"]).sum() / d["fg"].sum().clamp(min=1)
    return cfg["RPN"]["cls_weight"] * cls + cfg["RPN"]["reg_weight"] * reg


def rcnn_loss(out, d):
    dist = torch.cdist(out["rois"][:, :2].detach(), d["boxes"][:, :2])
    near, index = dist.min(1)
    target = d["boxes"][index]
    positive = (near < 2.5).float()
    cls = F.binary_cross_entropy_with_logits(out["rcnn_score"], positive)
    reg = F.smooth_l1_loss(out["refined"], target, reduction="none").mean(1)
    reg = (reg * positive).sum() / positive.sum().clamp(min=1)
    return cfg["RCNN"]["cls_weight"] * cls + cfg["RCNN"]["reg_weight"] * reg


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=9)
    ap.add_argument("--seed", type=int, default=4)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    scene, model = Scene(seed=args.seed), PointDetector()
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["OPT"]["lr"])
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, cfg["OPT"]["decay"])
    for it in range(args.iters):
        d = scene()
        out = model(d)
        parts = {"rpn": rpn_loss(out, d), "rcnn": rcnn_loss(out, d)}
        opt.zero_grad()
        sum(parts.values()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), cfg["OPT"]["clip"])
        opt.step()
        sched.step()
        LOG.info("iter %d %s", it, parts)
        if it % 4 == 0:
            print(f"iter {it} " + " ".join(f"{k} {v.item():.5f}" for k, v in parts.items()))
    model.eval()
    with torch.no_grad():
        d = scene()
        out = model(d)
    print(f"val rpn {rpn_loss(out, d).item():.5f} rcnn {rcnn_loss(out, d).item():.5f}")


if __name__ == "__main__":
    main()
