import torch
import torch.nn as nn
import torch.nn.functional as F


class Energy(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.Softplus(), nn.Linear(hidden, hidden), nn.Softplus(), nn.Linear(hidden, 1))

    def forward(self, lam):
        i1, i2 = lam.pow(2).sum(1) - 3, lam.pow(-2).sum(1) - 3
        return self.net(torch.stack([i1, i2], 1))[:, 0]


class LitStress(nn.Module):
    """Learns an energy; the stress is its derivative with respect to the stretch."""

    def __init__(self, hidden):
        super().__init__()
        self.energy = Energy(hidden)

    def stress(self, lam):
        lam = lam.detach().requires_grad_(True)
        psi = self.energy(lam)
        return torch.autograd.grad(psi.sum(), lam, create_graph=self.training)[0]

    def training_step(self, batch):
        lam, stress = batch
        return F.mse_loss(self.stress(lam), stress)

    def validation_step(self, batch):
        lam, stress = batch
        return F.mse_loss(self.stress(lam), stress)

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=0.02)
        return opt, torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=0, threshold=0.3)
