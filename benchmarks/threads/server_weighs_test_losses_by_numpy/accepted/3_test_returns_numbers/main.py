import argparse

import numpy as np
import torch
import torch.nn as nn

from server import Server
from users import User


def make_users(model, n, args):
    users = []
    directions = torch.randn(3, 12)
    for uid in range(n):
        shift = 0.8 * torch.randn(12)
        x = torch.randn(36 + 4 * uid, 12) + shift
        y = ((x - 0.5 * shift) @ directions.t()).argmax(dim=1)
        users.append(User(uid, (x[:30], y[:30]), (x[30:], y[30:]), model, args.learning_rate, args.personal_learning_rate))
    return users


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_glob_iters", type=int, default=6)
    parser.add_argument("--local_epochs", type=int, default=2)
    parser.add_argument("--num_users", type=int, default=3)
    parser.add_argument("--learning_rate", type=float, default=0.1)
    parser.add_argument("--personal_learning_rate", type=float, default=0.05)
    args = parser.parse_args()
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 3))
    users = make_users(model, 6, args)
    Server(model, users, args.num_users, args.num_glob_iters, args.local_epochs, np.random.default_rng(1)).train()
