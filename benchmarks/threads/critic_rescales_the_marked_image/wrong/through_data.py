"""GAN with gradient normalisation: the critic's score is divided by the norm of its gradient in the image."""
import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, z=4, pixels=9):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(z, 24), nn.ReLU(), nn.Linear(24, pixels), nn.Sigmoid())

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    """expects images in [0, 1]"""

    def __init__(self, pixels=9):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(pixels, 24), nn.Softplus(), nn.Linear(24, 1))

    def forward(self, x):
        x.data.mul_(2).sub_(1)      # [0, 1] -> [-1, 1]
        return self.main(x)


def normalize_gradient(net_D, x):
    """
                     f
    f_hat = --------------------
            || grad_f || + | f |
    """
    x.requires_grad_(True)
    f = net_D(x)
    grad = torch.autograd.grad(f, [x], torch.ones_like(f), create_graph=True, retain_graph=True)[0]
    grad_norm = torch.norm(torch.flatten(grad, start_dim=1), p=2, dim=1).unsqueeze(1)
    return f / (grad_norm + torch.abs(f))


class Trainer(object):
    def __init__(self, steps=7, batch=10, n_dis=2):
        self.G, self.D = Generator(), Discriminator()
        self.opt_G = torch.optim.Adam(self.G.parameters(), lr=4e-3, betas=(0.0, 0.9))
        self.opt_D = torch.optim.Adam(self.D.parameters(), lr=4e-3, betas=(0.0, 0.9))
        self.steps, self.batch, self.n_dis = steps, batch, n_dis
        stripes = torch.tensor([1., 0., 1.] * 3)
        self.images = (stripes * torch.rand(30, 1) + 0.05 * torch.rand(30, 9)).clamp(0, 1)

    def real_batch(self, i):
        return self.images[(i * self.batch) % 30:][:self.batch].clone()

    def train(self):
        for step in range(self.steps):
            for k in range(self.n_dis):
                real = self.real_batch(step * self.n_dis + k)
                with torch.no_grad():
                    fake = self.G(torch.randn(self.batch, 4))
                pred_real = normalize_gradient(self.D, real)
                pred_fake = normalize_gradient(self.D, fake)
                loss_D = torch.relu(1 - pred_real).mean() + torch.relu(1 + pred_fake).mean()
                self.opt_D.zero_grad()
                loss_D.backward()
                self.opt_D.step()
            fake = self.G(torch.randn(self.batch, 4))
            loss_G = -normalize_gradient(self.D, fake).mean()
            self.opt_G.zero_grad()
            loss_G.backward()
            self.opt_G.step()
            bright = real.detach().mean()
            print('step %d  D %.6f  G %.6f  batch brightness %.6f' % (step, loss_D, loss_G, bright))


if __name__ == '__main__':
    torch.manual_seed(17)
    Trainer().train()
