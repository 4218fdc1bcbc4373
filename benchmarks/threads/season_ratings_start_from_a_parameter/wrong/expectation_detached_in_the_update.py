import torch
import torch.nn as nn

# Elo as a differentiable filter: starting ratings, K factor and home advantage are fitted on several seasons,
# each of which begins with the same starting ratings.


class Elo(nn.Module):
    def __init__(self, teams):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(teams))
        self.log_k = nn.Parameter(torch.tensor(-1.5))
        self.home = nn.Parameter(torch.tensor(0.0))
        self.table = None

    def new_season(self):
        self.table = self.start.clone()

    def play(self, h, a, score):
        """returns the log loss of the forecast, then updates both teams"""
        expected = torch.sigmoid(self.table[h] - self.table[a] + self.home)
        loss = nn.functional.binary_cross_entropy(expected, score)
        delta = self.log_k.exp() * (score - expected.detach())
        self.table[h] += delta
        self.table[a] -= delta
        return loss

    def season(self, games):
        self.new_season()
        losses = [self.play(h, a, s) for h, a, s in games]
        return torch.stack(losses).mean()


def simulate(teams, games, gen):
    strength = torch.linspace(1.5, -1.5, teams) + 0.2 * torch.randn(teams, generator=gen)
    out = []
    for t in range(games):
        h, a = torch.randperm(teams, generator=gen)[:2].tolist()
        strength = strength + 0.15 * torch.randn(teams, generator=gen)
        p = torch.sigmoid(strength[h] - strength[a] + 0.4)
        out.append((h, a, (torch.rand((), generator=gen) < p).float()))
    return out


def main():
    gen = torch.Generator().manual_seed(12)
    seasons = [simulate(6, 24, gen) for _ in range(3)]
    model = Elo(6)
    opt = torch.optim.Adam(model.parameters(), lr=0.1)
    for epoch in range(3):
        for games in seasons:
            loss = model.season(games)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print('%d loss %.6f K %.5f home %.5f' % (epoch, loss.item(), model.log_k.exp().item(), model.home.item()))
    print('start', ' '.join('%.4f' % v for v in model.start.tolist()))


if __name__ == '__main__':
    main()
