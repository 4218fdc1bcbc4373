import copy
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    rounds: int = 2
    local_steps: int = 3
    clients: int = 2
    mu: float = 0.8
    lr: float = 0.1


class Client:
    def __init__(self, cid, model, cfg):
        self.model, self.cfg = copy.deepcopy(model), cfg
        g = torch.Generator().manual_seed(100 + cid)
        self.x = torch.randn(20, 4, generator=g)
        self.y = (self.x[:, cid] > 0).long()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=cfg.lr)

    def proximal(self, server):
        return sum((p - q.detach()).pow(2).sum() for p, q in zip(self.model.parameters(), server.parameters()))

    def local_train(self, server):
        self.model.load_state_dict(server.state_dict())
        self.model[0].bias.data += 0.01
        prox = self.cfg.mu / 2 * self.proximal(server)
        for _ in range(self.cfg.local_steps):
            self.opt.zero_grad()
            loss = F.cross_entropy(self.model(self.x), self.y) + prox
            loss.backward()
            self.opt.step()
        return loss.item()


def aggregate(server, clients):
    with torch.no_grad():
        for name, p in server.named_parameters():
            p.copy_(torch.stack([dict(c.model.named_parameters())[name] for c in clients]).mean(0))


cfg = Config()
torch.manual_seed(45)
server = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
clients = [Client(i, server, cfg) for i in range(cfg.clients)]
for r in range(cfg.rounds):
    losses = [c.local_train(server) for c in clients]
    aggregate(server, clients)
    print(r, " ".join(f"{l:.6f}" for l in losses))
