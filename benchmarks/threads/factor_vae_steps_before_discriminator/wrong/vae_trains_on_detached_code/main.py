import torch

from losses import FactorKLoss
from model import VAE

if __name__ == "__main__":
    torch.manual_seed(62)
    model = VAE(n_in=12, n_z=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    loss_f = FactorKLoss(n_z=4, gamma=6.0, lr_disc=3e-3)
    basis = torch.randn(4, 12)
    for it in range(7):
        data = torch.tanh(torch.randn(32, 4) @ basis) + 0.05 * torch.randn(32, 12)
        vae_loss, d_loss = loss_f.call_optimize(data, model, optimizer)
        print(f"{it} vae {vae_loss:.5f} disc {d_loss:.5f}")
