#!/usr/bin/env python
# fit a source sphere to a target point cloud: per-vertex offsets + one anisotropic scale
# (after the "deform source mesh" tutorial, without pytorch3d)
import math
import torch
import torch.nn.functional as F

torch.manual_seed(5)
N_ITER = 9
W_CHAMFER, W_LAP, W_EDGE = 1.0, 0.1, 0.5


class Mesh:
    """verts (V,3), faces (F,3). offset / scale return new meshes"""

    def __init__(self, verts, faces):
        self.verts, self.faces = verts, faces

    def offset_verts(self, d):
        return Mesh(self.verts + d, self.faces)

    def scale_verts(self, s):
        return Mesh(self.verts * s, self.faces)

    def edges(self):
        f = self.faces
        e = torch.cat([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]], 0).sort(1).values
        return torch.unique(e, dim=0)


def uv_sphere(nu=8, nv=5):
    us = torch.arange(nu) * (2 * math.pi / nu)
    vs = torch.linspace(0.3, math.pi - 0.3, nv)
    V = torch.stack([torch.stack([torch.sin(v) * torch.cos(u), torch.sin(v) * torch.sin(u), torch.cos(v)]) for v in vs for u in us])
    faces = []
    for i in range(nv - 1):
        for j in range(nu):
            a, b = i * nu + j, i * nu + (j + 1) % nu
            faces += [[a, b, a + nu], [b, b + nu, a + nu]]
    return Mesh(V, torch.tensor(faces))


def chamfer(a, b):
    d = torch.cdist(a, b) ** 2
    return d.min(1).values.mean() + d.min(0).values.mean()


def edge_loss(m):
    e = m.edges()
    return ((m.verts[e[:, 0]] - m.verts[e[:, 1]]).norm(dim=1) ** 2).mean()


def laplacian(m):
    e = m.edges()
    V = m.verts
    A = torch.zeros(len(V), len(V))
    A[e[:, 0], e[:, 1]] = 1.
    A[e[:, 1], e[:, 0]] = 1.
    return ((A @ V) / A.sum(1, keepdim=True) - V).norm(dim=1).mean()


src_mesh = uv_sphere()
target = F.normalize(torch.randn(120, 3), dim=1) * torch.tensor([1.6, 0.8, 0.5]) + 0.02 * torch.randn(120, 3)

deform_verts = torch.full(src_mesh.verts.shape, 0.0, requires_grad=True)
scale_xyz = torch.tensor([[0.5413, 0.5413, 0.5413]], requires_grad=True)   # softplus -> 1
def scale_pos():
    return F.softplus(scale_xyz)


optimizer = torch.optim.SGD([deform_verts, scale_xyz], lr=0.2, momentum=0.9)

for i in range(N_ITER):
    optimizer.zero_grad()
    new_mesh = src_mesh.offset_verts(deform_verts).scale_verts(scale_pos())
    losses = {'chamfer': W_CHAMFER * chamfer(new_mesh.verts, target),
              'lap': W_LAP * laplacian(new_mesh),
              'edge': W_EDGE * edge_loss(new_mesh)}
    total = sum(losses.values())
    total.backward()
    optimizer.step()
    print(i, ' '.join('%s %.5f' % (k, float(v)) for k, v in losses.items()))

print('scale', ' '.join('%.5f' % s for s in F.softplus(scale_xyz).flatten().tolist()))
