# Generative Latent Optimization, Bojanowski et al. 2017. one learnable code per training image, codes live in the unit ball
import torch
import torch.nn as nn
import torch.nn.functional as F


class Generator(nn.Module):

    def __init__(self, code_dim, side, n_filter=8):
        super().__init__()
        self.side = side
        self.dcnn = nn.Sequential(
            nn.ConvTranspose2d(code_dim, n_filter, 4, 1, 0),
            nn.ReLU(),
            nn.ConvTranspose2d(n_filter, 1, 4, 2, 1),
            nn.Sigmoid(),
        )

    def forward(self, code):
        return self.dcnn(code.view(code.size(0), code.size(1), 1, 1))


def project_l2_ball(z):
    """ project the vectors in z onto the l2 unit norm ball"""
    return z / z.norm(dim=1, keepdim=True).clamp(min=1.0)


def lap_l1(a, b):
    # two level "pyramid", enough for 8x8
    coarse = F.l1_loss(F.avg_pool2d(a, 2), F.avg_pool2d(b, 2))
    return F.l1_loss(a, b) + 0.5 * coarse


class GLO(object):

    def __init__(self, n_images, code_dim, side, lr_g, lr_z, device="cpu"):
        self.g = Generator(code_dim, side).to(device)
        # codes start on the sphere
        self.Z = F.normalize(torch.randn(n_images, code_dim, device=device, requires_grad=True), dim=1)
        self.optimizer = torch.optim.SGD([
            {"params": self.g.parameters(), "lr": lr_g * 20},
            {"params": [self.Z], "lr": lr_z * 100},
        ], lr=lr_g)

    def step(self, idx, x):
        self.optimizer.zero_grad()
        rec = self.g(self.Z[idx])
        loss = lap_l1(rec, x)
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            self.Z[idx] = project_l2_ball(self.Z[idx])
        return loss.item()

    def code_norm(self):
        return self.Z.detach().norm(dim=1).mean().item()
