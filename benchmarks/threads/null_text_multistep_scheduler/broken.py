"""Null-text inversion, toy size. One unconditional embedding is optimised per timestep."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class PLMSScheduler:
    """two-step pseudo linear multistep; remembers the noise that was predicted at each timestep"""

    def __init__(self, num_steps):
        self.alphas = torch.linspace(0.98, 0.25, num_steps)
        self.final_alpha = torch.tensor(0.995)
        self.ets = {}

    def step(self, eps, i, x):
        self.ets[i] = eps
        if i + 1 in self.ets:
            eps = (3 * eps - self.ets[i + 1]) / 2
        a = self.alphas[i]
        a_prev = self.alphas[i - 1] if i > 0 else self.final_alpha
        x0 = (x - (1 - a).sqrt() * eps) / a.sqrt()
        return a_prev.sqrt() * x0 + (1 - a_prev).sqrt() * eps


class Denoiser(nn.Module):
    def __init__(self, dim, ctx):
        super().__init__()
        self.inp = nn.Linear(dim + ctx, 32)
        self.mid = nn.Linear(32, 32)
        self.out = nn.Linear(32, dim)

    def forward(self, x, c):
        h = torch.tanh(self.inp(torch.cat([x, c.expand(x.shape[0], -1)], 1)))
        h = h + torch.tanh(self.mid(h))
        return self.out(h)


class NullInversion:
    def __init__(self, unet, scheduler, guidance):
        self.unet, self.scheduler, self.g = unet, scheduler, guidance

    def noise_pred(self, x, cond, uncond):
        with torch.no_grad():
            eps_c = self.unet(x, cond)
        eps_u = self.unet(x, uncond)
        return eps_u + self.g * (eps_c - eps_u)

    def null_optimization(self, trajectory, cond, null, inner_steps, lr):
        """trajectory[-1] is the noisiest latent of the DDIM inversion"""
        uncond_list, log = [], []
        latent_cur = trajectory[-1]
        uncond = null
        for k, i in enumerate(reversed(range(len(trajectory) - 1))):
            uncond = uncond.clone().detach().requires_grad_(True)
            optimizer = torch.optim.Adam([uncond], lr=lr * (1. - k / 100.))
            latent_prev = trajectory[i]
            for j in range(inner_steps):
                rec = self.scheduler.step(self.noise_pred(latent_cur, cond, uncond), i, latent_cur)
                loss = F.mse_loss(rec, latent_prev)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            uncond_list.append(uncond[:1].detach())
            latent_cur = self.scheduler.step(self.noise_pred(latent_cur, cond, uncond), i, latent_cur)
            log.append(loss.item())
        return uncond_list, log


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--steps', type=int, default=6)
    p.add_argument('--inner', type=int, default=4)
    p.add_argument('--guidance', type=float, default=3.0)
    p.add_argument('--lr', type=float, default=3e-2)
    args = p.parse_args()
    torch.manual_seed(0)
    unet = Denoiser(8, 5).requires_grad_(False)
    cond, null = torch.randn(1, 5), torch.zeros(1, 5)
    traj = [torch.randn(3, 8) * (0.4 + 0.1 * s) for s in range(args.steps + 1)]
    inv = NullInversion(unet, PLMSScheduler(args.steps), args.guidance)
    embs, log = inv.null_optimization(traj, cond, null, args.inner, args.lr)
    print(' '.join(f'{v:.5f}' for v in log))
    print(f'{torch.cat(embs).norm().item():.5f}')
