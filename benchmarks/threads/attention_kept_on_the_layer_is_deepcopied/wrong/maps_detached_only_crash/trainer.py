import copy

import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    def train_epoch(self, x, y):
        self.model.train()
        total = 0.0
        for xb, yb in zip(x.split(self.cfg.batch_size), y.split(self.cfg.batch_size)):
            loss = F.cross_entropy(self.model(xb), yb)
            loss = loss + self.cfg.reg_weight * self.model.att.attention_regularizer_loss
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total

    def fit(self, train, val):
        best, best_loss, bad = None, float("inf"), 0
        for epoch in range(self.cfg.epochs):
            train_loss = self.train_epoch(*train)
            val_loss = F.cross_entropy(self.model(val[0]), val[1])
            if val_loss < best_loss:
                best, best_loss, bad = copy.deepcopy(self.model), val_loss.item(), 0
            else:
                bad += 1
                if bad > self.cfg.patience:
                    break
            if self.cfg.verbose:
                print("epoch %d train %.6f val %.6f" % (epoch, train_loss, val_loss.item()))
        return best

    @staticmethod
    @torch.no_grad()
    def evaluate(model, x, y):
        model.eval()
        out = model(x)
        return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()

    @staticmethod
    @torch.no_grad()
    def peak_attention(model, x):
        model(x)
        return model.att.attention.amax(-1).mean().item()
