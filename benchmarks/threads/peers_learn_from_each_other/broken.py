import torch
import torch.nn as nn
import torch.nn.functional as F


class Peer(nn.Module):
    def __init__(self, seed, width):
        super().__init__()
        torch.manual_seed(seed)
        self.net = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 3))
        self.opt = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)

    def forward(self, x):
        return self.net(x)


def kl(student, target, t=2.0):
    return F.kl_div(F.log_softmax(student / t, 1), F.softmax(target / t, 1), reduction="batchmean") * t * t


def train(peers, steps=5):
    g = torch.Generator().manual_seed(3)
    for _ in range(steps):
        x = torch.randn(20, 6, generator=g)
        y = x[:, :3].argmax(1)
        logits = [peer(x) for peer in peers]
        losses = []
        for i, own in enumerate(logits):
            other = logits[1 - i]
            losses.append(F.cross_entropy(own, y) + kl(own, other))
        for peer, loss in zip(peers, losses):
            peer.opt.zero_grad()
        for loss in losses:
            loss.backward()
        for peer in peers:
            peer.opt.step()
    return losses


if __name__ == "__main__":
    print(" ".join("%.6f" % l.item() for l in train([Peer(0, 12), Peer(1, 8)])))
