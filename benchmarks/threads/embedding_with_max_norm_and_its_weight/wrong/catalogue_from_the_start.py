import torch
import torch.nn as nn
import torch.nn.functional as F


class MatchingModel(nn.Module):
    """Scores all items for a session; both towers share the item embedding."""

    def __init__(self, n_items, dim):
        super().__init__()
        self.items = nn.Embedding(n_items, dim, max_norm=1.0)
        self.mix = nn.Linear(dim, dim)

    def forward(self, session):
        catalogue = self.mix(F.normalize(self.items.weight.clone(), dim=1))
        user = self.items(session).mean(1)
        return user @ catalogue.t()


class Trainer:
    def __init__(self, model, lr=0.05):
        self.model = model
        self.opt = torch.optim.Adagrad(model.parameters(), lr=lr)
        self.history = []

    def epoch(self, sessions, nxt, batch=8):
        total = 0.
        for s, y in zip(sessions.split(batch), nxt.split(batch)):
            loss = F.cross_entropy(self.model(s), y)
            self.opt.zero_grad(); loss.backward(); self.opt.step()
            total += loss.item() * len(s)
        self.history.append(total / len(sessions))


if __name__ == '__main__':
    torch.manual_seed(26)
    model = MatchingModel(12, 6)
    nn.init.normal_(model.items.weight, std=0.6)
    first = torch.randint(0, 12, (16, 1))
    sessions, nxt = (first + torch.arange(3)) % 12, (first[:, 0] + 3) % 12
    trainer = Trainer(model)
    for _ in range(3):
        trainer.epoch(sessions, nxt)
    print(' '.join('%.6f' % h for h in trainer.history), '%.6f' % model.items.weight.norm().item())
