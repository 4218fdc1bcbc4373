import torch
import torch.nn as nn
import torch.nn.functional as F

eps = 0.05


def warp_grid(H, grid):
    """Projects the grid by a batch of homographies; keeps the denominator's scale for the penalty."""
    ones = torch.ones(grid.shape[0], 1)
    pts = torch.cat([grid, ones], 1)
    out = pts @ H.transpose(1, 2)
    t = out[..., 2] * 1.0
    fold = F.softplus(1 - t * t).mean()
    t[t.abs() < eps] = eps
    return out[..., :2] / t.unsqueeze(-1), fold


class HomographyNet(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(dim, 16), nn.LeakyReLU(), nn.Linear(16, 9))
        self.register_buffer("eye", torch.eye(3).flatten())

    def forward(self, f):
        return (self.eye + 3 * self.fc(f)).view(-1, 3, 3)


def main():
    torch.manual_seed(233)
    net = HomographyNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    ys, xs = torch.meshgrid(torch.linspace(-1, 1, 5), torch.linspace(-1, 1, 5), indexing="ij")
    grid = torch.stack([xs, ys], -1).view(-1, 2)
    for it in range(5):
        f = torch.randn(10, 8)
        warped, fold = warp_grid(net(f), grid)
        loss = F.smooth_l1_loss(warped, grid.expand_as(warped) + f[:, None, :2] * 0.1) + 0.2 * fold
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{loss.item():.6f} {fold.item():.6f}")


main()
