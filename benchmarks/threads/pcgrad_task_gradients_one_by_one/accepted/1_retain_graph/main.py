# multi task: regression + classification + "is it an outlier", shared trunk with dropout
import torch
from torch import nn
import torch.nn.functional as F

from pcgrad import PCGrad

CFG = dict(lr=0.1, steps=8, p_drop=0.2, batch=24, tasks=('reg', 'cls', 'out'))


class MTL(nn.Module):
    def __init__(self, d=8, h=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Dropout(CFG['p_drop']), nn.Linear(h, h), nn.Tanh())
        self.heads = nn.ModuleDict({'reg': nn.Linear(h, 1), 'cls': nn.Linear(h, 3), 'out': nn.Linear(h, 1)})

    def forward(self, x):
        z = self.trunk(x)
        return {t: head(z) for t, head in self.heads.items()}


def criterion(pred, y):
    return [
        F.mse_loss(pred['reg'].squeeze(1), y['reg']),
        F.cross_entropy(pred['cls'], y['cls']),
        F.binary_cross_entropy_with_logits(pred['out'].squeeze(1), y['out']),
    ]


def make_batch(w):
    x = torch.randn(CFG['batch'], 8)
    s = x @ w
    return x, {'reg': -s[:, 0], 'cls': s.argmax(1), 'out': (s[:, 0] > 1).float()}


def main():
    torch.manual_seed(5)
    w = torch.randn(8, 3)
    net = MTL().train()
    pc = PCGrad(torch.optim.SGD(net.parameters(), lr=CFG['lr']), net.trunk.parameters())
    for it in range(CFG['steps']):
        x, y = make_batch(w)
        losses = criterion(net(x), y)
        pc.zero_grad()
        pc.pc_backward(losses, [net.heads[t] for t in CFG['tasks']])
        pc.step()
        print(it, ' '.join(f'{l.item():.6f}' for l in losses))
    print('conflicts %.1f' % float(pc.conflicts))


if __name__ == '__main__':
    main()
