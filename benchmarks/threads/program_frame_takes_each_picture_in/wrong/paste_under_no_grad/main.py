import torch
import torch.nn as nn
import torch.nn.functional as F

from data import counting_squares, textures
from program import Program


class cfg:
    h1 = 16          # input of the victim
    h2 = 6           # picture of the new task
    n_old = 6
    n_new = 3
    batch_size = 48
    steps = 90
    lr = 0.05
    lmd = 1e-3


def make_victim(g):
    net = nn.Sequential(
        nn.Conv2d(1, 12, 5, stride=2), nn.ReLU(),
        nn.Conv2d(12, 16, 3), nn.ReLU(),
        nn.Flatten(), nn.Linear(16 * 16, cfg.n_old),
    )
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(60):
        x, y = textures(64, g)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    x, y = textures(256, g)
    print('victim accuracy %.6f' % (net(x).argmax(1) == y).float().mean().item())
    return net


def main():
    torch.manual_seed(7)
    g = torch.Generator().manual_seed(7)
    model = Program(make_victim(g), cfg)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=cfg.lr, betas=(0.5, 0.999))
    for step in range(1, cfg.steps + 1):
        image, label = counting_squares(cfg.batch_size, g)
        logits = model(image)
        loss = F.cross_entropy(logits, label) + cfg.lmd * model.W.norm() ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            print('step %d loss %.6f' % (step, loss.item()))

    image, label = counting_squares(300, g)
    with torch.no_grad():
        accuracy = (model(image).argmax(1) == label).float().mean().item()
    print('new task accuracy %.6f  program norm %.6f' % (accuracy, model.W.norm().item()))


if __name__ == '__main__':
    main()
