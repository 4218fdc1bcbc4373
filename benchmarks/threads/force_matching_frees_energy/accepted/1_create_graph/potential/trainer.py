import torch
import torch.nn.functional as F


class Trainer:
    """loss = (1 - rho) |E - E'|^2 + rho |F - F'|^2,  F' = -dE'/dr"""

    def __init__(self, model, lr, rho):
        self.model, self.rho = model, rho
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def predict(self, positions):
        positions = positions.clone().requires_grad_(True)
        energy = self.model(positions)
        forces = -torch.autograd.grad(energy.sum(), positions, create_graph=True)[0]
        return energy, forces

    def train_step(self, batch):
        energy, forces = self.predict(batch["positions"])
        e_loss = F.mse_loss(energy, batch["energy"])
        f_loss = F.mse_loss(forces, batch["forces"])
        loss = (1 - self.rho) * e_loss + self.rho * f_loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), (energy - batch["energy"]).abs().mean().item(), (forces - batch["forces"]).abs().mean().item()
