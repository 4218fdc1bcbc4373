import torch
from model import Interpolator

TIMES = (0.25, 0.5, 0.75)


def clip(g, n=8, width=20):
    """a bump that moves to the right; frames at 0, TIMES and 1"""
    start = 3 + 4 * torch.rand(n, 1, generator=g)
    speed = 3 + 4 * torch.rand(n, 1, generator=g)
    grid = torch.arange(width).float()
    at = lambda t: torch.exp(-0.5 * (grid - start - t * speed) ** 2)
    return at(0.0), at(1.0), [at(t) for t in TIMES]


def main():
    torch.manual_seed(5)
    g = torch.Generator().manual_seed(6)
    net = Interpolator(width=20)
    optim = torch.optim.Adam(net.parameters(), lr=5e-3)
    for it in range(8):
        first, last, between = clip(g)
        frames, flow = net(first, last, TIMES)
        loss = sum((f - target).pow(2).mean() for f, target in zip(frames, between))
        loss = loss + 1e-3 * (flow[:, 1:] - flow[:, :-1]).pow(2).mean()      # smooth motion 0 -> 1
        optim.zero_grad()
        loss.backward()
        optim.step()
        print('%d loss %.7f motion %.6f' % (it, loss.item(), flow.detach().mean().item()))


main()
