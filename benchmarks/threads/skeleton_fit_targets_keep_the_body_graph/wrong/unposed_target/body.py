import torch
from torch import nn


class SurfaceBody(nn.Module):
    """A small linear blend body: template + shape + pose blend shapes."""

    def __init__(self, n_verts, n_betas, n_pose=9):
        super().__init__()
        self.template = nn.Parameter(torch.randn(n_verts, 3) * 0.3)
        self.betas = nn.Parameter(torch.randn(1, n_betas) * 0.5)
        self.register_buffer("shapedirs", torch.randn(n_betas, n_verts, 3) * 0.1)
        self.register_buffer("posedirs", torch.randn(n_pose, n_verts, 3) * 0.1)

    def forward(self, pose, trans):
        shaped = self.template + torch.einsum("bk,kvd->bvd", self.betas, self.shapedirs)
        posed = shaped + torch.einsum("tp,pvd->tvd", torch.sin(pose), self.posedirs)
        scale = 1.0 + 0.1 * torch.tanh(self.betas[:, :1, None])
        return {"vertices": posed * scale + trans[:, None], "shaped": shaped}
