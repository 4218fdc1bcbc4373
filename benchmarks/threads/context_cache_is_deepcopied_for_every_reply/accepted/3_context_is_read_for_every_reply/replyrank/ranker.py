import os

import torch
import torch.nn.functional as F

from .kv import KVCache


class ReplyRanker:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        decay = [p for p in model.parameters() if p.dim() > 1]
        rest = [p for p in model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": decay, "weight_decay": cfg["weight_decay"]}, {"params": rest, "weight_decay": 0.0}], lr=cfg["lr"])
        self.scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.3, 1.0, total_iters=4)

    def scores(self, context, replies):
        """log p(reply | context) / T for every candidate, [B, R]"""
        columns = []
        for reply in replies.unbind(1):
            branch = KVCache(self.model.n_layers)
            head = self.model(context, branch)[:, -1:]
            tail = self.model(reply[:, :-1], branch)
            logits = torch.cat([head, tail], dim=1)
            nll = F.cross_entropy(logits.transpose(1, 2), reply, reduction="none")
            columns.append(-nll.mean(1))
        return torch.stack(columns, dim=1)

    def train_epoch(self, data):
        self.model.train()
        seen, total = 0, 0.0
        for context, replies, label in data.loader(self.cfg["batch"], shuffle=True):
            s = self.scores(context, replies)
            rank = F.cross_entropy(self.cfg["sharpness"] * s, label)
            lm = -s.gather(1, label[:, None]).mean()
            loss = rank + self.cfg["lm_weight"] * lm
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg["clip"])
            self.optimizer.step()
            self.scheduler.step()
            seen += len(label)
            total += loss.item() * len(label)
        return total / seen

    @torch.no_grad()
    def evaluate(self, data):
        self.model.eval()
        right, nll, n = 0, 0.0, 0
        for context, replies, label in data.loader(64):
            s = self.scores(context, replies)
            nll += F.cross_entropy(self.cfg["sharpness"] * s, label, reduction="sum").item()
            right += (s.argmax(1) == label).sum().item()
            n += len(label)
        return nll / n, right / n

    def fit(self, train, dev, folder):
        nll, acc = self.evaluate(dev)
        print(f"before training: dev {nll:.6f} acc {acc:.4f}")
        for epoch in range(self.cfg["epochs"]):
            loss = self.train_epoch(train)
            nll, acc = self.evaluate(dev)
            print(f"epoch {epoch}: loss {loss:.6f} dev {nll:.6f} acc {acc:.4f}")
            torch.save(self.model.state_dict(), os.path.join(folder, "ranker.pt"))
