import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, cfg, model, callbacks=()):
        self.cfg = cfg
        self.model = model
        self.callbacks = list(callbacks)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    def call(self, hook, *args):
        for cb in self.callbacks:
            getattr(cb, hook)(self, *args)

    def fit(self, data):
        for r in range(self.cfg.rounds):
            self.call('on_round_start', r)
            x, y = data.up_to(r)
            for _ in range(self.cfg.epochs_per_round):
                logs = self.epoch(x, y)
            self.call('on_round_end', r, logs)

    def epoch(self, x, y):
        order = torch.randperm(len(x))
        total, hits = 0., 0
        for idx in order.split(self.cfg.batch_size):
            out = self.model(x[idx])
            loss = F.cross_entropy(out, y[idx])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(idx)
            hits += (out.argmax(1) == y[idx]).sum().item()
        return {'loss': total / len(x), 'acc': hits / len(x)}
