import torch
from torch import nn


class Skeleton(nn.Module):
    """Skin and joints from bone parameters; the weights are given, not learned."""

    def __init__(self, n_verts, n_joints, n_betas, n_pose=6):
        super().__init__()
        self.n_pose = n_pose
        self.register_buffer("skin", torch.randn(n_verts, 3) * 0.3)
        self.register_buffer("bones", torch.randn(n_pose, n_verts, 3) * 0.1)
        self.register_buffer("shapedirs", torch.randn(n_betas, n_verts, 3) * 0.1)
        regressor = torch.softmax(torch.randn(n_joints, n_verts), dim=1)
        self.register_buffer("regressor", regressor)

    def regress_joints(self, vertices):
        return torch.einsum("jv,tvd->tjd", self.regressor, vertices)

    def forward(self, poses, betas, trans):
        v = self.skin + torch.einsum("bk,kvd->bvd", betas, self.shapedirs)
        v = v + torch.einsum("tp,pvd->tvd", torch.sin(poses), self.bones)
        v = v + trans[:, None]
        return {"vertices": v, "joints": self.regress_joints(v)}
