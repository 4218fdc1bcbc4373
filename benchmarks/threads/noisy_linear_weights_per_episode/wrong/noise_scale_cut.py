import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class NoisyLinear(nn.Module):
    """Factorised Gaussian noise on weights and biases."""

    def __init__(self, n_in, n_out, sigma=0.5):
        super().__init__()
        self.n_in, self.n_out = n_in, n_out
        bound = 1 / math.sqrt(n_in)
        self.mu_w = nn.Parameter(torch.empty(n_out, n_in).uniform_(-bound, bound))
        self.mu_b = nn.Parameter(torch.empty(n_out).uniform_(-bound, bound))
        self.sigma_w = nn.Parameter(torch.full((n_out, n_in), sigma * bound))
        self.sigma_b = nn.Parameter(torch.full((n_out,), sigma * bound))
        self.reset_noise()

    @staticmethod
    def scaled(n):
        x = torch.randn(n)
        return x.sign() * x.abs().sqrt()

    def reset_noise(self):
        eps_in, eps_out = self.scaled(self.n_in), self.scaled(self.n_out)
        self.eps_w, self.eps_b = self.sigma_w.detach() * torch.outer(eps_out, eps_in), self.sigma_b.detach() * eps_out

    def forward(self, x):
        if self.training:
            return F.linear(x, self.mu_w + self.eps_w, self.mu_b + self.eps_b)
        return F.linear(x, self.mu_w, self.mu_b)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 16)
        self.head = NoisyLinear(16, 3)

    def forward(self, s):
        return self.head(F.relu(self.body(s)))


def environment(s, a, g):
    nxt = 0.9 * s + 0.1 * torch.randn(s.shape, generator=g)
    nxt[..., a] += 0.2
    return nxt, float(nxt[..., 0] - nxt[..., 1].abs()), bool(nxt.abs().max() > 1.5)


def main():
    torch.manual_seed(0); random.seed(0)
    g = torch.Generator().manual_seed(1)
    online, target = QNet(), QNet()
    target.load_state_dict(online.state_dict()); target.eval()
    opt = torch.optim.Adam(online.parameters(), lr=1e-3)
    memory, updates = [], 0
    for episode in range(3):
        s = torch.randn(4, generator=g)
        online.head.reset_noise()
        for t in range(8):
            with torch.no_grad():
                a = int(online(s[None]).argmax())
            s2, r, done = environment(s, a, g)
            memory.append((s, a, r, s2, done))
            s = s2
            if len(memory) >= 6 and t % 2:
                batch = random.sample(memory, 6)
                S, A, R, S2, D = zip(*batch)
                with torch.no_grad():
                    y = torch.tensor(R) + 0.9 * target(torch.stack(S2)).max(1)[0] * (1 - torch.tensor(D).float())
                q = online(torch.stack(S)).gather(1, torch.tensor(A)[:, None]).squeeze(1)
                loss = F.mse_loss(q, y)
                opt.zero_grad(); loss.backward(); opt.step()
                updates += 1
        target.load_state_dict(online.state_dict())
        print(f"episode {episode} updates {updates} loss {loss.item():.6f} sigma {online.head.sigma_w.abs().mean():.6f}")


if __name__ == "__main__":
    main()
