import torch
from torch.nn import functional as F


class Solver:
    WEIGHTS = {'rec': 1.0, 'commit': 0.25, 'codebook': 1.0, 'latent': 0.05}

    def __init__(self, model, lr=1e-2):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.5, 0.9))

    def losses(self, wav):
        out, z, _, commit, codebook = self.model(wav)
        return {'rec': F.l1_loss(out, wav), 'commit': commit, 'codebook': codebook,
                'latent': (z.pow(2).mean() - 1).pow(2)}     # keeps the latents at unit power

    def run_step(self, wav):
        losses = self.losses(wav)
        total = sum(self.WEIGHTS[k] * v for k, v in losses.items())
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        return {k: v.item() for k, v in losses.items()}
