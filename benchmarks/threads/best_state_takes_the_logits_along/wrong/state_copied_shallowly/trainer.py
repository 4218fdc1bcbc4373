import copy

import torch
import torch.nn.functional as F


class EarlyStopping:
    """Keeps a copy of the best state and says when to stop."""

    def __init__(self, patience):
        self.patience = patience
        self.counter = 0
        self.best_score = float('inf')
        self.best_state = None

    def __call__(self, score, state):
        if score < self.best_score:
            self.best_score = score
            self.best_state = copy.copy(state)
            self.counter = 0
        else:
            self.counter += 1
        return self.counter >= self.patience


class Trainer:
    def __init__(self, model, graph, cfg):
        self.model = model
        self.graph = graph
        self.cfg = cfg
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        self.stopper = EarlyStopping(cfg.patience)

    def accuracy(self, logits, idx):
        return (logits[idx].argmax(1) == self.graph.y[idx]).float().mean().item()

    def fit(self):
        g = self.graph
        for epoch in range(self.cfg.epochs):
            self.model.train()
            logits = self.model(g.x, g.adj)
            loss = F.cross_entropy(logits[g.train], g.y[g.train])
            val_loss = F.cross_entropy(logits[g.val], g.y[g.val]).item()

            state = {'epoch': epoch,
                     'model': self.model.state_dict(),
                     'logits': logits,
                     'val_loss': val_loss}
            stop = self.stopper(val_loss, state)

            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if epoch % 5 == 0:
                print('epoch %d loss %.4f val loss %.4f val acc %.4f'
                      % (epoch, loss.item(), val_loss, self.accuracy(logits, g.val)))
            if stop:
                break
        self.model.load_state_dict(self.stopper.best_state['model'])
        return self.stopper.best_state

    @torch.no_grad()
    def test(self):
        self.model.eval()
        return self.accuracy(self.model(self.graph.x, self.graph.adj), self.graph.test)
