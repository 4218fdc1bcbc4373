import torch
from torch import nn

from model import Encoder


def main():
    torch.manual_seed(0)
    net = Encoder(vocab=11, dim=8)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for step in range(10):
        tokens = torch.randint(0, 11, (4, 7 if step % 2 else 5))
        scores = net(tokens)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens.roll(1, 1).flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 3 == 0:
            print(f"{step:3d} {loss.item():.5f}")


if __name__ == "__main__":
    main()
