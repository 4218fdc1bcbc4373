"""Soft pruning of an MLP while training, penalty on the gates. Hard pruning comes later in prune.py"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from layers import GatedLinear, gate_penalty

LAMBDA = 0.3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = GatedLinear(10, 20)
        self.fc2 = GatedLinear(20, 12)
        self.out = nn.Linear(12, 2)

    def forward(self, x):
        return self.out(F.relu(self.fc2(F.relu(self.fc1(x)))))


def param_groups(net):
    scores = [p for n, p in net.named_parameters() if n.endswith("score")]
    rest = [p for n, p in net.named_parameters() if not n.endswith("score")]
    return [{"params": rest, "lr": 0.1}, {"params": scores, "lr": 0.4}]


def data():
    x = torch.randn(64, 10)
    y = ((x[:, 0] * x[:, 1] + x[:, 2]) > 0).long()
    return x, y


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        err = (net(x).argmax(1) != y).float().mean().item()
    net.train()
    return err


def main():
    torch.manual_seed(0)
    net = Net()
    opt = torch.optim.SGD(param_groups(net), lr=0.1, momentum=0.9)
    x, y = data()
    for epoch in range(6):
        order = torch.randperm(len(x))
        for idx in order.split(32):
            loss = F.cross_entropy(net(x[idx]), y[idx]) + LAMBDA * gate_penalty(net)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.6f} err {evaluate(net, x, y):.6f} off {net.fc1.sparsity():.6f}")


if __name__ == "__main__":
    main()
