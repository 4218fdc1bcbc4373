# -*- coding: utf-8 -*-
# 长尾多标签分类：重平衡权重 + 负样本容忍的焦点损失
import argparse
import json

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = json.loads("""
{"num_classes": 12, "dim": 20, "train": 160, "test": 80,
 "loss": {"gamma": 2.0, "neg_scale": 2.0, "init_bias": 0.05,
          "map": {"alpha": 0.1, "beta": 10.0, "gamma": 0.2}},
 "optim": {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.0001, "warmup": 3}}
""")


def long_tailed(cfg, rng, n, w):
    """类别频率按幂律下降"""
    x = rng.randn(n, cfg["dim"]).astype("float32")
    score = x @ w
    prior = 1.0 / np.arange(1, cfg["num_classes"] + 1)
    thr = np.quantile(score, 1 - 0.6 * prior, axis=0).diagonal()
    y = (score > thr[None]).astype("float32")
    return torch.from_numpy(x), torch.from_numpy(y)


class ResampleLoss(nn.Module):
    def __init__(self, cfg, class_freq, train_num):
        super().__init__()
        self.gamma = cfg["gamma"]
        self.neg_scale = cfg["neg_scale"]
        self.map = cfg["map"]
        freq = class_freq.clamp(min=1.0)
        self.register_buffer("freq_inv", 1.0 / freq)
        # 与类别先验一致的初始偏置
        self.register_buffer("init_bias", -torch.log(train_num / freq - 1 + 1e-4) * cfg["init_bias"])

    def rebalance_weight(self, labels):
        repeat = (labels * self.freq_inv).sum(1, keepdim=True).clamp(min=1e-6)
        w = self.freq_inv / repeat
        m = self.map
        return torch.sigmoid(m["beta"] * (w - m["gamma"])) + m["alpha"]

    def logit_reg(self, logits, labels, weight):
        logits = logits + self.init_bias
        logits = logits * (1 - labels) * self.neg_scale + logits * labels
        weight = weight / self.neg_scale * (1 - labels) + weight * labels
        return logits, weight

    def forward(self, logits, labels):
        weight = self.rebalance_weight(labels)
        logits, weight = self.logit_reg(logits, labels, weight)
        bce = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
        # 正确一侧的概率：负标签处取 1 - p
        pt = torch.sigmoid(logits).detach()
        neg = labels < 0.5
        pt[neg] = 1 - pt[neg]
        loss = weight * (1 - pt).pow(self.gamma) * bce
        return loss.mean()


class Head(nn.Module):
    def __init__(self, dim, num_classes):
        super().__init__()
        self.fc1 = nn.Linear(dim, 32)
        self.bn = nn.BatchNorm1d(32)
        self.fc2 = nn.Linear(32, num_classes)

    def forward(self, x):
        return self.fc2(F.relu(self.bn(self.fc1(x))))


def average_precision(score, y):
    order = np.argsort(-score)
    y = y[order]
    hits = np.cumsum(y)
    prec = hits / np.arange(1, len(y) + 1)
    return float((prec * y).sum() / max(y.sum(), 1))


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    p = torch.sigmoid(model(x)).numpy()
    model.train()
    aps = [average_precision(p[:, c], y[:, c].numpy()) for c in range(y.shape[1])]
    return np.mean(aps), np.mean(aps[-4:])      # 总体与尾部


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch", type=int, default=40)
    ap.add_argument("--seed", type=int, default=9)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.RandomState(args.seed)
    w = rng.randn(CONFIG["dim"], CONFIG["num_classes"])
    x, y = long_tailed(CONFIG, rng, CONFIG["train"], w)
    xt, yt = long_tailed(CONFIG, rng, CONFIG["test"], w)
    model = Head(CONFIG["dim"], CONFIG["num_classes"])
    criterion = ResampleLoss(CONFIG["loss"], y.sum(0), len(y))
    oc = CONFIG["optim"]
    opt = torch.optim.SGD(model.parameters(), lr=oc["lr"], momentum=oc["momentum"], weight_decay=oc["weight_decay"])
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: min(1.0, (i + 1) / oc["warmup"]))
    for epoch in range(args.epochs):
        losses = []
        for idx in torch.randperm(len(x)).split(args.batch):
            loss = criterion(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            losses.append(loss.item())
        m, tail = evaluate(model, xt, yt)
        print(f"epoch {epoch} loss {np.mean(losses):.6f} mAP {m:.4f} tail {tail:.4f}")


if __name__ == "__main__":
    main()
