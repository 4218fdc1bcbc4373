"""FedDyn in one process: every client carries a dual variable (linear term) from round to round."""
import copy
from dataclasses import dataclass, field
from typing import List, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    clients: int = 4
    rounds: int = 4
    local_epochs: int = 2
    batch: int = 10
    lr: float = 0.1
    alpha: float = 0.1
    weight_decay: float = 1e-3
    seed: int = 12


@dataclass
class Client:
    x: torch.Tensor
    y: torch.Tensor
    model: nn.Module
    gradL: Optional[List[torch.Tensor]] = field(default=None)

    def regulariser(self, server, alpha):
        linear, quadratic = 0.0, 0.0
        for p, g, s in zip(self.model.parameters(), self.gradL, server.parameters()):
            linear = linear + (g * p).sum()
            quadratic = quadratic + ((p - s.detach()) ** 2).sum()
        return -linear + 0.5 * alpha * quadratic

    def train(self, server, cfg):
        self.model.load_state_dict(server.state_dict())
        if True:
            self.gradL = [torch.zeros_like(p) for p in self.model.parameters()]
        optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        total = 0.0
        for _ in range(cfg.local_epochs):
            for xb, yb in zip(self.x.split(cfg.batch), self.y.split(cfg.batch)):
                loss = F.cross_entropy(self.model(xb), yb) + self.regulariser(server, cfg.alpha)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
                optimizer.step()
                total += loss.item()
        # update of the dual variable after local training
        self.gradL = [g - cfg.alpha * (p - s) for g, p, s in zip(self.gradL, self.model.parameters(), server.parameters())]
        return total


class Server:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.h = [torch.zeros_like(p) for p in model.parameters()]

    @torch.no_grad()
    def aggregate(self, clients):
        for i, p in enumerate(self.model.parameters()):
            locals_ = torch.stack([list(c.model.parameters())[i] for c in clients])
            self.h[i] -= self.cfg.alpha * (locals_ - p).mean(dim=0)
            p.copy_(locals_.mean(dim=0) - self.h[i] / self.cfg.alpha)


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
    direction = torch.randn(6, 3)
    clients = []
    for k in range(cfg.clients):
        x = torch.randn(40, 6) + 0.7 * torch.randn(6)
        clients.append(Client(x, (x @ direction).argmax(1), copy.deepcopy(net)))
    server = Server(net, cfg)
    x_test = torch.randn(90, 6)
    y_test = (x_test @ direction).argmax(1)
    for r in range(cfg.rounds):
        totals = [client.train(server.model, cfg) for client in clients]
        server.aggregate(clients)
        with torch.no_grad():
            acc = (server.model(x_test).argmax(1) == y_test).float().mean().item()
        print(f"round {r} acc {acc:.4f} losses " + " ".join(f"{t:.5f}" for t in totals))


if __name__ == "__main__":
    main()
