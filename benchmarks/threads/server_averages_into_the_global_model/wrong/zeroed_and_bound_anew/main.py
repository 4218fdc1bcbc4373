import argparse
import copy

import torch
import torch.nn as nn

from client import Client
from server import Server


class MLP(nn.Module):
    def __init__(self, d=8, h=10, c=3):
        super().__init__()
        self.layer_input = nn.Linear(d, h)
        self.layer_hidden = nn.Linear(h, c)

    def forward(self, x):
        return self.layer_hidden(torch.relu(self.layer_input(x)))


def non_iid_shards(n_users, n, d=8, c=3):
    w = torch.randn(d, c)
    shards = []
    for u in range(n_users):
        m = n + 6 * u                       # unequal shards on purpose
        x = torch.randn(m, d) + 0.6 * torch.randn(1, d)
        shards.append((x, (x @ w).argmax(1)))
    return shards


def args_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--num_users", type=int, default=3)
    parser.add_argument("--frac", type=float, default=1.0, help="not used, everybody takes part")
    parser.add_argument("--local_ep", type=int, default=2)
    parser.add_argument("--local_bs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.1)
    return parser.parse_args()


if __name__ == "__main__":
    args = args_parser()
    torch.manual_seed(123)
    global_model = MLP()
    clients = [Client(i, s, copy.deepcopy(global_model), args) for i, s in enumerate(non_iid_shards(args.num_users, 20))]
    server = Server(global_model, clients)
    for rnd in range(args.rounds):
        loss = server.run_round()
        print("| Global Round : %d | loss %.6f | eval %.6f" % (rnd, loss, server.evaluate()))
