import argparse
import math

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=2, help="number of epochs of training")
parser.add_argument("--batch_size", type=int, default=32)
parser.add_argument("--lr", type=float, default=5e-3, help="learning rate")
parser.add_argument("--latent_dim", type=int, default=4)
parser.add_argument("--n_critic", type=int, default=3, help="number of training steps for discriminator per iter")
parser.add_argument("--clip_value", type=float, default=0.05, help="lower and upper clip value for disc. weights")
parser.add_argument("--sample_interval", type=int, default=2)
opt = parser.parse_args()


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.2)
        nn.init.zeros_(m.bias)


class Generator(nn.Module):
    def __init__(self, latent_dim, n_signal):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2))
            return layers

        self.model = nn.Sequential(*block(latent_dim, 16, normalize=False), *block(16, 24), nn.Linear(24, n_signal), nn.Tanh())

    def forward(self, z):
        return self.model(z)


class Critic(nn.Module):
    def __init__(self, n_signal):
        super(Critic, self).__init__()
        self.model = nn.Sequential(nn.Linear(n_signal, 24), nn.LeakyReLU(0.2), nn.Linear(24, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.model(x)


class WGAN:
    """Wasserstein GAN on sine waves (signals of 12 samples)"""

    def __init__(self, opt, n_signal=12):
        self.opt = opt
        self.G, self.C = Generator(opt.latent_dim, n_signal), Critic(n_signal)
        self.G.apply(weights_init)
        self.C.apply(weights_init)
        self.opt_G = torch.optim.RMSprop(self.G.parameters(), lr=opt.lr)
        self.opt_C = torch.optim.RMSprop(self.C.parameters(), lr=opt.lr)

    def noise(self, n):
        return torch.randn(n, self.opt.latent_dim)

    def clip_critic(self):
        # Lipschitz constraint
        for p in self.C.parameters():
            p.data.clamp_(-self.opt.clip_value, self.opt.clip_value)

    def train_critic(self, real):
        self.opt_C.zero_grad()
        fake = self.G(self.noise(len(real))).detach()
        loss = -torch.mean(self.C(real)) + torch.mean(self.C(fake))
        loss.backward()
        self.opt_C.step()
        self.clip_critic()
        return -loss.item()

    def train_generator(self, n):
        self.opt_G.zero_grad()
        loss = -torch.mean(self.C(self.G(self.noise(n))))
        loss.backward()
        self.opt_G.step()
        return loss.item()


def real_batches(n_batches, batch_size, n_signal=12):
    t = torch.linspace(0, 1, n_signal)
    for _ in range(n_batches):
        phase = torch.rand(batch_size, 1)
        amp = 0.5 + 0.4 * torch.rand(batch_size, 1)
        yield amp * torch.sin(2 * math.pi * (t + phase))


if __name__ == "__main__":
    torch.manual_seed(17)
    gan = WGAN(opt)
    batches_done = 0
    for epoch in range(opt.n_epochs):
        for i, real in enumerate(real_batches(6, opt.batch_size)):
            w = gan.train_critic(real)
            # Train the generator every n_critic iterations
            if i % opt.n_critic == opt.n_critic - 1:
                g = gan.train_generator(opt.batch_size)
                print("[Epoch %d/%d] [W: %.6f] [G loss: %.6f]" % (epoch, opt.n_epochs, w, g))
            batches_done += 1
    print("critic weights", "%.6f" % max(p.abs().max().item() for p in gan.C.parameters()))
