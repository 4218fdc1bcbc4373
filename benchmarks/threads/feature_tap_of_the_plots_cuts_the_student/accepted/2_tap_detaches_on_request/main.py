import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

from hooks import FeatureTap
from nets import small_cnn

LAYERS = ("block1", "block2")


def attention_map(f):
    """Paying more attention to attention: mean of squares over channels, unit length"""
    return F.normalize(f.pow(2).mean(1).flatten(1), dim=1)


class AttentionTransfer:
    def __init__(self, teacher, student, beta):
        self.teacher, self.student, self.beta = teacher, student, beta
        self.taps = {"t": FeatureTap(teacher, LAYERS), "s": FeatureTap(student, LAYERS, detach=False)}

    def __call__(self, x):
        with torch.no_grad():
            self.teacher(x)
        logits = self.student(x)
        t, s = self.taps["t"].features, self.taps["s"].features
        at = sum((attention_map(s[k]) - attention_map(t[k])).pow(2).mean() for k in LAYERS)
        return logits, self.beta * at

    def close(self):
        for tap in self.taps.values():
            tap.remove()


def toy_batch(n):
    y = torch.randint(0, 4, (n,))
    x = 0.3 * torch.randn(n, 1, 8, 8)
    for i, k in enumerate(y.tolist()):
        x[i, 0, (k // 2) * 4:(k // 2) * 4 + 4, (k % 2) * 4:(k % 2) * 4 + 4] += 1.0
    return x, y


def fit(model, steps, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(steps):
        x, y = toy_batch(16)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("teacher loss %.6f" % loss.item())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--teacher-steps", type=int, default=5)
    ap.add_argument("--stage1", type=int, default=5, help="steps with attention transfer only (like FitNets' hints)")
    ap.add_argument("--stage2", type=int, default=4)
    ap.add_argument("--beta", type=float, default=100.0)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()
    torch.manual_seed(8)
    teacher, student = small_cnn(12), small_cnn(4)
    fit(teacher, args.teacher_steps, 1e-2)
    teacher.eval().requires_grad_(False)

    kd = AttentionTransfer(teacher, student, args.beta)
    opt = torch.optim.SGD(student.parameters(), lr=args.lr, momentum=0.9)
    for step in range(args.stage1 + args.stage2):
        x, y = toy_batch(16)
        logits, at = kd(x)
        loss = at if step < args.stage1 else at + F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("stage %d at %.6f" % (1 if step < args.stage1 else 2, at.item()))
    kd.close()
    x, y = toy_batch(32)
    print("student accuracy %.4f" % (student(x).argmax(1) == y).float().mean().item())


if __name__ == "__main__":
    main()
