import torch
import torch.nn as nn


def corruptor(patches):
    """Gives a function that draws a batch of patches and its corrupted version."""

    def draw(sigma, at):
        noisy = patches[at]
        return noisy, sigma * torch.randn_like(noisy)

    return draw


class Denoiser(nn.Module):
    def __init__(self, d=12):
        super().__init__()
        self.level = nn.Linear(d, d)
        self.body = nn.Sequential(nn.Linear(d, 24), nn.SiLU(), nn.Linear(24, d))

    def forward(self, noisy):
        return self.body(noisy) + self.level(noisy)


def train(model, draw, patches, steps=12):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(steps):
        at = slice(8 * (step % 3), 8 * (step % 3) + 8)
        clean, noise = draw(0.3, at)
        identity = model(1 * clean)              # clean in, clean out
        noisy = clean
        noisy += noise
        restored = model(noisy)
        loss = (identity - patches[at]).square().mean() + (restored - patches[at]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            print(step, "%.4f" % loss.item())


torch.manual_seed(7)
patches = torch.rand(24, 12)
train(Denoiser(), corruptor(patches), patches)
