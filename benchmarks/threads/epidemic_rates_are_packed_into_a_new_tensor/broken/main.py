import argparse

import numpy as np
import torch

from model import SIRModel, rk4
from data import observed_epidemic

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=40)
parser.add_argument("--lr", type=float, default=0.02)
parser.add_argument("--days", type=int, default=25)
parser.add_argument("--seed", type=int, default=7)
args = parser.parse_args()

torch.manual_seed(args.seed)
np.random.seed(args.seed)

t, y_obs = observed_epidemic(args.days)
model = SIRModel(beta=0.3, gamma=0.2)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

for epoch in range(args.epochs):
    optimizer.zero_grad()
    y_pred = rk4(model, model.initial_state(), t)
    loss = torch.mean((y_pred - y_obs) ** 2)
    loss.backward()
    optimizer.step()
    if epoch % 5 == 0 or epoch == args.epochs - 1:
        print("epoch %2d  loss %.6f  beta %.6f  gamma %.6f"
              % (epoch, loss.item(), model.beta.item(), model.gamma.item()))

print("R0 %.6f" % (model.beta / model.gamma).item())
