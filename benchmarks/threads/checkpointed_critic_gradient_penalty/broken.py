import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential


class Critic(nn.Module):
    def __init__(self, d=6, hid=12, segments=2):
        super().__init__()
        self.blocks = nn.Sequential(nn.Linear(d, hid), nn.Softplus(), nn.Linear(hid, hid), nn.Softplus())
        self.out = nn.Linear(hid, 1)
        self.segments = segments

    def forward(self, x):
        h = checkpoint_sequential(self.blocks, self.segments, x, use_reentrant=True)
        return self.out(h)


def gradient_penalty(critic, real, fake):
    eps = torch.rand(len(real), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_()
    score = critic(mixed)
    grad, = torch.autograd.grad(score.sum(), mixed, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


def main(hps=dict(lr=3e-3, lam=10, steps=5)):
    torch.manual_seed(24005)
    critic = Critic()
    opt = torch.optim.Adam(critic.parameters(), lr=hps["lr"], betas=(0.5, 0.9))
    for _ in range(hps["steps"]):
        real, fake = torch.randn(12, 6) + 1, torch.randn(12, 6).requires_grad_()
        loss = critic(fake).mean() - critic(real.requires_grad_()).mean()
        loss = loss + hps["lam"] * gradient_penalty(critic, real.detach(), fake.detach())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{loss.item():.6f}")


main()
