import logging

import torch
from torch import nn

from client import Client
from server import Server

CFG = {"clients": 3, "rounds": 4, "local_epochs": 2, "batch": 8, "lr": 0.1, "seed": 2022}


def make_model():
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))


def non_iid(n_clients):
    data = []
    for c in range(n_clients):
        y = torch.where(torch.rand(16) < 0.75, torch.full((16,), c % 3), torch.randint(0, 3, (16,)))
        x = torch.randn(16, 5) + torch.eye(3, 5)[y] * 2
        data.append((x, y))
    return data


def main():
    logging.basicConfig(level=logging.WARNING)
    torch.manual_seed(CFG["seed"])
    clients = [Client(i, x, y, make_model, CFG) for i, (x, y) in enumerate(non_iid(CFG["clients"]))]
    server = Server(clients, make_model, CFG)
    for r in range(CFG["rounds"]):
        server.round(r)


if __name__ == "__main__":
    main()
