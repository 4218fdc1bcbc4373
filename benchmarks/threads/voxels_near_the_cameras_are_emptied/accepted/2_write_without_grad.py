# Voxel-grid radiance field of a flat little world (2-D "scene", 1-D "photos"), after DVGO:
# coarse density + colour grids, no network, raw density -> softplus -> alpha
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = dict(
    seed=777,
    world=24,            # voxels per side, the world is [-1, 1]^2
    n_views=8,
    n_pix=24,
    n_samples=32,
    near=0.2, far=2.4,
    near_clip=0.55,      # voxels closer than this to a camera are floaters for sure
    act_shift=-3.0,
    iters=120, n_rand=64,
    lrate_density=0.2, lrate_k0=0.1,
)


class Scene:
    """two coloured discs, seen from a ring of cameras"""
    discs = [((0.15, 0.1), 0.22, (0.9, 0.2, 0.1)), ((-0.2, -0.15), 0.16, (0.1, 0.4, 0.9))]

    def __init__(self, cfg):
        ang = np.linspace(0, 2 * np.pi, cfg['n_views'], endpoint=False)
        self.cams = torch.tensor(np.stack([0.95 * np.cos(ang), 0.95 * np.sin(ang)], 1), dtype=torch.float32)
        fan = torch.linspace(-0.5, 0.5, cfg['n_pix'])
        rays_o, rays_d = [], []
        for a, o in zip(ang, self.cams):
            th = fan + float(a) + np.pi
            rays_d.append(torch.stack([th.cos(), th.sin()], 1))
            rays_o.append(o.expand(cfg['n_pix'], 2))
        self.rays_o, self.rays_d = torch.cat(rays_o), torch.cat(rays_d)
        self.rgb = torch.stack([self.shoot(o, d) for o, d in zip(self.rays_o, self.rays_d)])

    def shoot(self, o, d):
        best, rgb = 1e9, torch.zeros(3)
        for c, r, col in self.discs:
            oc = o - torch.tensor(c)
            b, q = float(oc @ d), float(oc @ oc) - r * r
            if b * b > q and -b - (b * b - q) ** 0.5 < best:
                best, rgb = -b - (b * b - q) ** 0.5, torch.tensor(col)
        return rgb


class DirectVoxGO(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        n = cfg['world']
        self.cfg = cfg
        self.density = nn.Parameter(torch.zeros(1, 1, n, n))
        self.k0 = nn.Parameter(torch.zeros(1, 3, n, n))
        ax = torch.linspace(-1, 1, n)
        self.register_buffer('grid_xy', torch.stack(torch.meshgrid(ax, ax, indexing='xy'), -1))

    def maskout_near_cam_vox(self, cam_o, near):
        # nearest camera of every voxel
        dist = (self.grid_xy.unsqueeze(-2) - cam_o).pow(2).sum(-1).sqrt().amin(-1)
        with torch.no_grad():
            self.density.masked_fill_(dist[None, None] <= near, -100)

    def sample(self, grid, pts):
        return F.grid_sample(grid, pts[None], align_corners=True)[0]

    def forward(self, rays_o, rays_d):
        cfg = self.cfg
        t = torch.linspace(cfg['near'], cfg['far'], cfg['n_samples'])
        pts = rays_o[:, None] + t[None, :, None] * rays_d[:, None]
        inside = (pts.abs() <= 1).all(-1)
        sigma = F.softplus(self.sample(self.density, pts)[0] + cfg['act_shift'])
        alpha = (1 - torch.exp(-sigma * 8)) * inside
        trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], 1), 1)
        weights = alpha * trans[:, :-1]
        rgb = torch.sigmoid(self.sample(self.k0, pts)).permute(1, 2, 0)
        return (weights.unsqueeze(-1) * rgb).sum(1), trans[:, -1]


def scene_rep_reconstruction(cfg):
    torch.manual_seed(cfg['seed'])
    np.random.seed(cfg['seed'])
    data = Scene(cfg)
    model = DirectVoxGO(cfg)
    optimizer = torch.optim.Adam([
        {'params': [model.density], 'lr': cfg['lrate_density']},
        {'params': [model.k0], 'lr': cfg['lrate_k0']},
    ])
    model.maskout_near_cam_vox(data.cams, cfg['near_clip'])
    for it in range(cfg['iters']):
        sel = np.random.choice(len(data.rgb), cfg['n_rand'], replace=False)
        rgb, bg = model(data.rays_o[sel], data.rays_d[sel])
        loss = F.mse_loss(rgb, data.rgb[sel])
        # background entropy, as in the coarse stage
        pout = bg.clamp(1e-6, 1 - 1e-6)
        loss = loss - 0.01 * (pout * pout.log() + (1 - pout) * (1 - pout).log()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 30 == 0 or it == cfg['iters'] - 1:
            print('iter %3d  loss %.6f' % (it, loss.item()))
    with torch.no_grad():
        rgb, _ = model(data.rays_o, data.rays_d)
        psnr = -10 * torch.log10(F.mse_loss(rgb, data.rgb))
        n_free = int((model.density < -50).sum())
    print('psnr %.6f  emptied voxels %d  density sum %.4f' % (psnr, n_free, model.density.detach().clamp(min=-20).sum()))


if __name__ == '__main__':
    scene_rep_reconstruction(cfg)
