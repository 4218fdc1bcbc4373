import torch
import torch.nn.functional as F


class Runner:
    def __init__(self, sdf_network, color_network, lr, igr_weight):
        self.sdf, self.color, self.igr_weight = sdf_network, color_network, igr_weight
        self.optimizer = torch.optim.Adam(list(sdf_network.parameters()) + list(color_network.parameters()), lr=lr)

    def points(self, n):
        d = F.normalize(torch.randn(n, 3), dim=1)
        return d * (0.5 + 0.4 * torch.rand(n, 1)), 0.5 + 0.4 * d

    def train_step(self, n):
        pts, true_rgb = self.points(n)
        sdf, feat, normal = self.sdf.gradient(pts)
        rgb = self.color(pts, normal.detach(), feat)
        weight = torch.exp(-8 * sdf.abs())
        color_loss = (weight * (rgb - true_rgb).abs()).sum() / weight.sum()
        eikonal = (normal.norm(dim=1) - 1).pow(2).mean()
        shape = (sdf.squeeze(1) - (pts.detach().norm(dim=1) - 0.7)).pow(2).mean()
        loss = color_loss + shape
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {'color': color_loss.item(), 'eikonal': eikonal.item(), 'shape': shape.item()}
