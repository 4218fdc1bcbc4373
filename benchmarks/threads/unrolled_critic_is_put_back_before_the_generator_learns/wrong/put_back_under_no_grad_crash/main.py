import torch

from data import RingOfGaussians
from nets import Discriminator, Generator
from trainer import UnrolledTrainer

config = dict(
    z_dim=16,
    hidden=32,
    batch_size=64,
    d_lr=1e-3,
    g_lr=2e-3,
    d_steps=1,
    g_steps=1,
    unrolled_steps=3,
    iterations=60,
    log_every=15,
)

if __name__ == '__main__':
    torch.manual_seed(22)
    G = Generator(config['z_dim'], config['hidden'])
    D = Discriminator(config['hidden'])
    trainer = UnrolledTrainer(G, D, RingOfGaussians(), config)
    trainer.fit()

    with torch.no_grad():
        samples = G(torch.randn(256, config['z_dim']))
    print('mean radius %.6f' % samples.norm(dim=1).mean().item())
    print('spread %.6f' % samples.std().item())
