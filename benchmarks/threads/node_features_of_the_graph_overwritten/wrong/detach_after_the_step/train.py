from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class TrainConfig:
    hidden: int = 64
    layers: int = 2
    classes: int = 7
    lr: float = 1e-2
    weight_decay: float = 5e-4
    epochs: int = 8
    eval_every: int = 4
    early_stop: int = 0  # not used at the moment


class Trainer:
    def __init__(self, model, g, cfg):
        self.model, self.g, self.cfg = model, g, cfg
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)

    def train_epoch(self):
        self.model.train()
        logits = self.model(self.g)
        mask = self.g.ndata["train_mask"]
        loss = F.cross_entropy(logits[mask], self.g.ndata["label"][mask])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.g.ndata["h"] = self.g.ndata["h"].detach()
        return loss.item()

    def fit(self):
        for epoch in range(self.cfg.epochs):
            loss = self.train_epoch()
            print(f"epoch {epoch:03d} | loss {loss:.6f}")
