"""Pure python rasteriser, front to back. Slow, for checking the CUDA one."""
import torch

ALPHA_MAX = 0.99
T_MIN = 1e-4


def pixel_grid(size):
    ys, xs = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    return torch.stack([xs, ys], -1).float() + 0.5


def rasterize(scene, background, return_extras=False):
    grid = pixel_grid(scene.size)
    prec, opacity, color = scene.precision(), scene.opacity, scene.color
    image = torch.zeros(scene.size, scene.size, 3)
    depth = torch.zeros(scene.size, scene.size)
    T = torch.ones(scene.size, scene.size)        # transmittance
    for i in torch.argsort(scene.depth).tolist():
        d = grid - scene.mean[i]
        power = -0.5 * torch.einsum("hwi,ij,hwj->hw", d, prec[i], d)
        alpha = (opacity[i] * torch.exp(power)).clamp(max=ALPHA_MAX)
        weight = T.detach().clone() * alpha
        image += weight[..., None] * color[i]
        depth += weight * scene.depth[i]
        T *= 1.0 - alpha
        if T.max() < T_MIN:
            break
    image = image + T[..., None] * background
    if return_extras:
        return image, {"depth": depth, "T": T}
    return image
