import torch
from torch import nn, optim


class Critic(nn.Module):
    def __init__(self, dim, pac=2):
        super().__init__()
        self.pac = pac
        self.seq = nn.Sequential(nn.Linear(dim * pac, 16), nn.LeakyReLU(0.2), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, rows):
        return self.seq(rows.view(-1, rows.shape[1] * self.pac))

    def penalty(self, scores, rows, lambda_=10):
        grads = torch.autograd.grad(scores, rows, grad_outputs=torch.ones_like(scores), create_graph=True)[0]
        norm = grads.view(-1, self.pac * grads.shape[1]).norm(2, dim=1) - 1
        return (norm ** 2).mean() * lambda_


class Synthesizer:
    def __init__(self, dim=5, z=3):
        self.z = z
        self.generator = nn.Sequential(nn.Linear(z, 16), nn.ReLU(), nn.Linear(16, dim))
        self.critic = Critic(dim)
        self.optG = optim.Adam(self.generator.parameters(), lr=2e-3, betas=(0.5, 0.9), weight_decay=1e-6)
        self.optD = optim.Adam(self.critic.parameters(), lr=2e-3, betas=(0.5, 0.9))

    def fit_batch(self, real):
        real = real.requires_grad_()
        fake = self.generator(torch.randn(len(real), self.z)).detach()
        y_real, y_fake = self.critic(real), self.critic(fake)
        pen = self.critic.penalty(y_real, real)
        loss_d = -(y_real.mean() - y_fake.mean())
        self.optD.zero_grad()
        pen.backward(retain_graph=True)
        loss_d.backward()
        self.optD.step()

        loss_g = -self.critic(self.generator(torch.randn(len(real), self.z))).mean()
        self.optG.zero_grad()
        loss_g.backward()
        self.optG.step()
        return loss_d.item(), pen.item(), loss_g.item()


torch.manual_seed(37)
model = Synthesizer()
for i in range(5):
    out = model.fit_batch(torch.randn(12, 5) * torch.linspace(0.5, 2, 5))
print('%.6f %.6f %.6f' % out)
