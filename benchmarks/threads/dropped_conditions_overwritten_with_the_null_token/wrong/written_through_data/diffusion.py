import torch
import torch.nn.functional as F


class Diffusion:
    def __init__(self, net, schedule, p_uncond=0.3, guidance=1.5):
        self.net, self.schedule = net, schedule
        self.p_uncond, self.guidance = p_uncond, guidance

    def loss(self, x0, y, attr):
        n = len(x0)
        t = torch.randint(0, self.schedule.T, (n,))
        noise = torch.randn_like(x0)
        drop = torch.rand(n) < self.p_uncond
        pred = self.net(self.schedule.q_sample(x0, t, noise), t, y, attr, drop)
        return F.mse_loss(pred, noise)

    @torch.no_grad()
    def sample(self, y, attr, x_dim):
        s = self.schedule
        x = torch.randn(len(y), x_dim)
        everyone = torch.ones(len(y), dtype=torch.bool)
        for i in reversed(range(s.T)):
            t = torch.full((len(y),), i)
            eps_c = self.net(x, t, y, attr)
            eps_u = self.net(x, t, y, attr, everyone)
            eps = eps_u + self.guidance * (eps_c - eps_u)
            x = (x - s.beta[i] / (1 - s.alpha_bar[i]).sqrt() * eps) / s.alpha[i].sqrt()
            if i > 0:
                x = x + s.beta[i].sqrt() * torch.randn_like(x)
        return x
