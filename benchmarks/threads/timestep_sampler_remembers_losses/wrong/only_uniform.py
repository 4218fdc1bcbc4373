import argparse
import math
import torch
import torch.nn as nn


class LossSecondMomentResampler:
    """Importance sampling of timesteps (Nichol & Dhariwal 2021, eq. 18)"""

    def __init__(self, T, history_per_term=2, uniform_prob=0.05):
        self.T = T
        self.history_per_term = history_per_term
        self.uniform_prob = uniform_prob
        self._loss_history = torch.zeros(T, history_per_term)
        self._loss_counts = [0] * T

    def _warmed_up(self):
        return False

    def weights(self):
        if not self._warmed_up():
            return torch.ones(self.T)
        weights = torch.sqrt(torch.mean(self._loss_history ** 2, dim=-1))
        weights = weights / weights.sum()
        weights = weights * (1 - self.uniform_prob) + self.uniform_prob / len(weights)
        return weights

    def sample(self, batch_size):
        w = self.weights()
        p = w / w.sum()
        indices = torch.multinomial(p, batch_size, replacement=True)
        return indices, 1 / (len(p) * p[indices])

    def update_with_all_losses(self, ts, losses):
        for t, loss in zip(ts.tolist(), losses):
            if self._loss_counts[t] == self.history_per_term:
                # Shift out the oldest loss term.
                self._loss_history[t] = torch.cat([self._loss_history[t, 1:], loss[None]])
            else:
                self._loss_history[t, self._loss_counts[t]] = loss
                self._loss_counts[t] += 1


class Eps(nn.Module):
    def __init__(self, d, T, hidden=16):
        super().__init__()
        self.time = nn.Embedding(T, hidden)
        self.inp = nn.Linear(d, hidden)
        self.out = nn.Sequential(nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, d))

    def forward(self, x, t):
        return self.out(self.inp(x) + self.time(t))


class GaussianDiffusion:
    def __init__(self, T):
        f = [math.cos((i / T + 0.008) / 1.008 * math.pi / 2) ** 2 for i in range(T + 1)]
        self.alpha_bar = torch.tensor([f[i + 1] / f[0] for i in range(T)]).clamp(min=1e-3)

    def q_sample(self, x0, t, noise):
        ab = self.alpha_bar[t].unsqueeze(-1)
        return ab.sqrt() * x0 + (1 - ab).sqrt() * noise

    def training_losses(self, model, x0, t):
        noise = torch.randn_like(x0)
        return (model(self.q_sample(x0, t, noise), t) - noise).pow(2).mean(dim=1)


class TrainLoop:
    def __init__(self, args):
        self.args = args
        self.diffusion = GaussianDiffusion(args.T)
        self.model = Eps(args.dim, args.T)
        self.ema = {k: v.detach().clone() for k, v in self.model.state_dict().items()}
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.schedule_sampler = LossSecondMomentResampler(args.T)

    def run_step(self, x):
        t, weights = self.schedule_sampler.sample(x.shape[0])
        losses = self.diffusion.training_losses(self.model, x, t)
        self.schedule_sampler.update_with_all_losses(t, losses)
        loss = (losses * weights).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        with torch.no_grad():
            for k, v in self.model.state_dict().items():
                self.ema[k].lerp_(v, 1 - self.args.ema_rate)
        return losses.mean().item(), loss.item()

    def run(self):
        for step in range(self.args.steps):
            x = torch.randn(self.args.batch, 1) * torch.linspace(-1, 1, self.args.dim)
            mse, loss = self.run_step(x)
            print('step %d mse %.6f loss %.6f' % (step, mse, loss))
        print('ema %.6f' % self.ema['inp.weight'].norm().item())


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--T', type=int, default=5)
    ap.add_argument('--dim', type=int, default=4)
    ap.add_argument('--batch', type=int, default=16)
    ap.add_argument('--steps', type=int, default=8)
    ap.add_argument('--lr', type=float, default=5e-3)
    ap.add_argument('--ema_rate', type=float, default=0.9)
    ap.add_argument('--seed', type=int, default=6)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    TrainLoop(args).run()
