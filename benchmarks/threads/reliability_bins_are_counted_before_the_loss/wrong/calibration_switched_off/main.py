import torch

from callbacks import CallbackList, Reliability, History
from trainer import Trainer, Net


def data(n, gen):
    y = torch.randint(0, 3, (n,), generator=gen)
    x = torch.randn(n, 5, generator=gen)
    x[:, :3] += 1.5 * torch.nn.functional.one_hot(y, 3)
    return x, y


if __name__ == '__main__':
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(2)
    history = History()
    trainer = Trainer(Net(5, 3), CallbackList([Reliability(bins=8), history]), lr=0.2)
    for epoch in range(3):
        trainer.epoch(data(96, gen), batch=32)
    print(' '.join('%.6f' % v for v in history.values['loss']))
    print(' '.join('%.6f' % v for v in history.values['ece']))
    print('%.6f' % trainer.net.trunk.weight.norm().item())
