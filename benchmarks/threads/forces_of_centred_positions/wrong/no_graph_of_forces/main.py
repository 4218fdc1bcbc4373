import argparse

import torch
import torch.nn.functional as F

from data import Clusters
from model import PairPotential


def step(model, batch, rho):
    """energies and forces of one batch, and the loss"""
    pos = batch["pos"].requires_grad_(True)
    pos = pos - pos.mean(dim=1, keepdim=True)      # centre of mass frame
    pos.retain_grad()
    energy = model(pos)
    energy.sum().backward(retain_graph=True)
    forces = -pos.grad
    loss_e = F.mse_loss(energy, batch["energy"])
    loss_f = F.mse_loss(forces, batch["forces"])
    return loss_e + rho * loss_f, loss_e.item(), loss_f.item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--rho", type=float, default=0.5, help="weight of the forces")
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    torch.manual_seed(a.seed)
    train = Clusters(24)
    model = PairPotential()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(a.epochs):
        e_sum = f_sum = n = 0
        for batch in train.batches(a.batch_size):
            loss, e, f = step(model, batch, a.rho)
            opt.zero_grad()
            loss.backward()
            opt.step()
            e_sum, f_sum, n = e_sum + e, f_sum + f, n + 1
        print("epoch %d  MSE(E) %.6f  MSE(F) %.6f" % (epoch, e_sum / n, f_sum / n))


if __name__ == "__main__":
    main()
