"""Conditional WGAN-GP for tabular data (synthetic credit records)."""
import torch
import torch.nn as nn
from torch import autograd
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)


def make_records(n=512):
    label = torch.randint(0, 2, (n,))
    age = 35 + 10 * torch.randn(n)
    income = 30 + 0.6 * age + 15 * label + 5 * torch.randn(n)
    debt = 0.4 * income - 8 * label + 4 * torch.randn(n)
    savings = 0.2 * income + 3 * label + 2 * torch.randn(n)
    x = torch.stack([age, income, debt, savings], dim=1)
    return (x - x.mean(0)) / x.std(0), label


class Generator(nn.Module):
    def __init__(self, z_dim, n_classes, out_dim, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(n_classes, 4)
        self.net = nn.Sequential(
            nn.Linear(z_dim + 4, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True),
            nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True),
            nn.Linear(hidden, out_dim))

    def forward(self, z, y):
        return self.net(torch.cat([z, self.emb(y)], dim=1))


class Critic(nn.Module):
    def __init__(self, n_classes, in_dim, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(n_classes, 4)
        self.net = nn.Sequential(
            nn.Linear(in_dim + 4, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1))

    def forward(self, x, y):
        return self.net(torch.cat([x, self.emb(y)], dim=1)).squeeze(1)


class Trainer:
    def __init__(self, gen, critic, loader, z_dim=8, n_critic=3, lambda_gp=10.0, lr=1e-3):
        self.G, self.D = gen, critic
        self.loader = loader
        self.z_dim = z_dim
        self.n_critic = n_critic
        self.lambda_gp = lambda_gp
        self.opt_G = torch.optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.9))
        self.opt_D = torch.optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.9))
        self.steps = 0
        self.log = {'G': 0.0, 'D': 0.0, 'GP': 0.0, 'norm': 0.0}

    def sample(self, y):
        z = torch.randn(len(y), self.z_dim)
        return self.G(z, y)

    def gradient_penalty(self, real, fake, y):
        alpha = torch.rand(real.size(0), 1)
        interpolated = (alpha * real.data + (1 - alpha) * fake.data).requires_grad_(True)
        prob_interpolated = self.D(interpolated, y)
        gradients = autograd.grad(outputs=prob_interpolated, inputs=interpolated,
                                  grad_outputs=torch.ones_like(prob_interpolated),
                                  create_graph=True, retain_graph=True)[0]
        norms = gradients.view(real.size(0), -1).norm(2, dim=1)
        self.log['norm'] = norms.mean().item()
        return self.lambda_gp * ((norms - 1) ** 2).mean()

    def critic_step(self, real, y):
        fake = self.sample(y)
        self.opt_D.zero_grad()
        d_real = self.D(real, y).mean()
        d_fake = self.D(fake.detach(), y).mean()
        gp = self.gradient_penalty(real, fake, y)
        loss = d_fake - d_real + gp
        loss.backward()
        self.opt_D.step()
        self.log['D'] = loss.item()
        self.log['GP'] = gp.item()

    def generator_step(self, y):
        self.opt_G.zero_grad()
        loss = -self.D(self.sample(y), y).mean()
        loss.backward()
        self.opt_G.step()
        self.log['G'] = loss.item()

    def train(self, epochs):
        for epoch in range(epochs):
            for real, y in self.loader:
                self.steps += 1
                self.critic_step(real, y)
                if self.steps % self.n_critic == 0:
                    self.generator_step(y)
            print('epoch %d  D %.4f  G %.4f  GP %.4f  grad norm %.4f'
                  % (epoch, self.log['D'], self.log['G'], self.log['GP'], self.log['norm']))


if __name__ == '__main__':
    x, y = make_records()
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True, drop_last=True)
    trainer = Trainer(Generator(8, 2, x.size(1)), Critic(2, x.size(1)), loader)
    trainer.train(4)
