import torch
import torch.nn.functional as F
from torch import nn


class SeqVAE(nn.Module):
    def __init__(self, n_in, n_z, lr):
        super().__init__()
        self.lr = lr
        self.encoder = nn.Sequential(nn.Linear(n_in, 16), nn.Tanh(), nn.Linear(16, 2 * n_z))
        self.decoder = nn.Sequential(nn.Linear(n_z, 16), nn.Tanh(), nn.Linear(16, n_in))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)

    def training_step(self, batch, batch_idx):
        mu, logvar = self.encoder(batch).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        rec = F.mse_loss(self.decoder(z), batch, reduction="none").sum(1).mean()
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        return {"loss": rec + kl, "rec": rec, "kl": kl, "z": z}

    def training_epoch_end(self, outputs):
        z = torch.cat([o["z"] for o in outputs])
        return {"active units": z.std(0).mean().item(), "loss": sum(o["loss"].item() for o in outputs) / len(outputs)}
