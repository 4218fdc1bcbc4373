# -*- coding: utf-8 -*-
# Generación de moléculas atom by atom: base distribution + context, tuned with a property reward
import argparse
import torch
import torch.nn as nn
from torch.distributions import Categorical

ATOMS = ['C', 'N', 'O', 'F']
VALENCE = [4, 3, 2, 1]


class AtomFlow(nn.Module):
    def __init__(self, max_size=5, dim=12):
        super(AtomFlow, self).__init__()
        self.max_size = max_size
        # distribución base, una fila por paso
        self.node_base_log_probs = nn.Parameter(0.1 * torch.randn(max_size, len(ATOMS)))
        self.embed = nn.Embedding(len(ATOMS) + 1, dim)
        self.context = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, len(ATOMS)))

    def generate(self, budget, temperature=1.0):
        """one molecule; the valences of its atoms must not exceed `budget`"""
        state = self.embed(torch.tensor(len(ATOMS)))
        atoms, logp, left = [], 0., budget
        for step in range(self.max_size):
            banned = [a for a in range(len(ATOMS)) if VALENCE[a] > left]
            if len(banned) == len(ATOMS):
                break
            # átomos que ya no caben en esta molécula
            with torch.no_grad():
                self.node_base_log_probs[step, banned] = -1e9
            logits = self.node_base_log_probs[step] * temperature + self.context(state)
            dist = Categorical(logits=logits)
            a = dist.sample()
            logp = logp + dist.log_prob(a)
            atoms.append(int(a))
            left -= VALENCE[int(a)]
            state = state + self.embed(a)
        return atoms, logp


def reward(atoms, budget):
    """hetero atoms, and little valence left over"""
    used = sum(VALENCE[a] for a in atoms)
    hetero = sum(a in (1, 2) for a in atoms) / max(len(atoms), 1)
    return hetero - 0.1 * (budget - used) + 0.05 * len(atoms)


def rand_gen(model, n, g):
    budgets = torch.randint(3, 15, (n,), generator=g).tolist()
    out = []
    for budget in budgets:
        atoms, logp = model.generate(budget)
        out.append((reward(atoms, budget), logp, atoms))
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--iters', type=int, default=8)
    p.add_argument('--batch', type=int, default=10)
    p.add_argument('--lr', type=float, default=0.03)
    conf = p.parse_args()
    torch.manual_seed(13)
    g = torch.Generator().manual_seed(14)
    model = AtomFlow()
    optimizer = torch.optim.Adam(model.parameters(), lr=conf.lr)
    baseline = 0.
    for it in range(conf.iters):
        mols = rand_gen(model, conf.batch, g)
        mean = sum(r for r, _, _ in mols) / len(mols)
        loss = -sum((r - baseline) * lp for r, lp, _ in mols) / len(mols)
        baseline = mean if it == 0 else 0.7 * baseline + 0.3 * mean
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        first = ''.join(ATOMS[a] for a in mols[0][2])
        print('iter %d | reward %.5f | loss %.6f | %s' % (it, mean, loss.item(), first))
    print('base row 0:', ' '.join('%.6f' % v for v in model.node_base_log_probs[0].tolist()))


if __name__ == '__main__':
    main()
