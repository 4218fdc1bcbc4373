# Оценка поворота головы: три угла, но в этом эксперименте учим только часть из них
import argparse
import sys

import torch
import torch.nn as nn


def parse_args(argv):
    p = argparse.ArgumentParser()
    p.add_argument("--angles", nargs="+", default=["yaw"], choices=["pitch", "roll", "yaw"])
    p.add_argument("--batch_size", type=int, default=6)
    p.add_argument("--psuedo_batch_loop", type=int, default=4, help="сколько мини-батчей накапливать")
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--weight_decay", type=float, default=1e-4)
    return vars(p.parse_args(argv))


class HeadPoseNet(nn.Module):
    ANGLES = ("pitch", "roll", "yaw")

    def __init__(self, n_landmarks, width=24):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(2 * n_landmarks, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
        )
        self.heads = nn.ModuleDict({a: nn.Linear(width, 1) for a in self.ANGLES})

    def forward(self, landmarks):
        h = self.backbone(landmarks.flatten(1))
        return {a: head(h).squeeze(1) for a, head in self.heads.items()}


class Loss:
    """Сумма по батчу (деление - после накопления)"""

    def __init__(self, angles):
        self.angles = angles
        self.f = nn.SmoothL1Loss(reduction="sum")

    def __call__(self, predictions, targets):
        return sum(self.f(predictions[a], targets[a]) for a in self.angles)


def rotation(pitch, roll, yaw):
    def about(i, j, angle):
        R = torch.eye(3).repeat(len(angle), 1, 1)
        c, s = torch.cos(angle), torch.sin(angle)
        R[:, i, i], R[:, j, j], R[:, i, j], R[:, j, i] = c, c, -s, s
        return R

    return about(1, 2, pitch) @ about(0, 1, roll) @ about(2, 0, yaw)


def faces(n, n_landmarks):
    """Случайная «голова», повёрнутая и спроецированная на плоскость"""
    shape = torch.randn(n_landmarks, 3)
    angles = {a: 0.6 * (2 * torch.rand(n) - 1) for a in HeadPoseNet.ANGLES}
    points = shape @ rotation(**angles).transpose(1, 2)
    return points[..., :2] + 0.01 * torch.randn(n, n_landmarks, 2), angles


def loader(data, batch_size):
    x, y = data
    for idx in torch.randperm(len(x)).split(batch_size):
        yield x[idx], {a: v[idx] for a, v in y.items()}


def train(args):
    torch.manual_seed(1234)
    data = faces(96, n_landmarks=10)
    model = HeadPoseNet(n_landmarks=10)
    optimizer = torch.optim.SGD(model.parameters(), lr=args["lr"], momentum=0.9, weight_decay=args["weight_decay"])
    loss_fn = Loss(args["angles"])

    for epoch in range(args["epochs"]):
        running_loss = 0.0
        optimizer.zero_grad()
        for step, (landmarks, targets) in enumerate(loader(data, args["batch_size"])):
            loss = loss_fn(model(landmarks), targets)
            loss.backward()
            running_loss += loss.item()

            if (step + 1) % args["psuedo_batch_loop"] == 0:
                # среднее по всем накопленным примерам
                for param in model.parameters():
                    if param.grad is None:
                        break
                    if param.requires_grad:
                        param.grad *= 1./float(args["psuedo_batch_loop"]*args["batch_size"])
                optimizer.step()
                optimizer.zero_grad()

        with torch.no_grad():
            pred = model(data[0])
            mae = [torch.rad2deg((pred[a] - data[1][a]).abs().mean()).item() for a in args["angles"]]
        print("Эпоха %d: loss %.5f, MAE %s" % (epoch + 1, running_loss / len(data[0]), " ".join("%.4f" % m for m in mae)))
    return model


if __name__ == "__main__":
    train(parse_args(sys.argv[1:]))
