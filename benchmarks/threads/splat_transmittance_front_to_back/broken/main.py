import math
import torch

from render import rasterize
from scene import GaussianScene


def target_image(size):
    ys, xs = torch.meshgrid(torch.linspace(0, 1, size), torch.linspace(0, 1, size), indexing="ij")
    disc = ((xs - 0.45) ** 2 + (ys - 0.55) ** 2 < 0.08).float()
    return torch.stack([disc, 0.3 + 0.4 * xs, ys * (1 - disc)], -1)


def psnr(a, b):
    return -10.0 * math.log10(torch.mean((a - b) ** 2).item())


def main(iterations=8, n=14, size=16):
    torch.manual_seed(0)
    gt = target_image(size)
    scene = GaussianScene(n, size)
    bg = torch.tensor([0.1, 0.1, 0.1])
    optim = torch.optim.Adam([
        {"params": [scene.mean], "lr": 0.2, "name": "xyz"},
        {"params": [scene.log_scale, scene.theta], "lr": 0.02, "name": "cov"},
        {"params": [scene.opacity_raw], "lr": 0.05, "name": "opacity"},
        {"params": [scene.color_raw], "lr": 0.05, "name": "color"},
    ])
    for it in range(iterations):
        out, extras = rasterize(scene, bg, return_extras=True)
        loss = (out - gt).abs().mean() + 0.01 * (1.0 - extras["T"]).mean()
        loss.backward()
        optim.step()
        optim.zero_grad(set_to_none=True)
        if it % 2 == 0 or it == iterations - 1:
            print("[ITER %d] L1 %.6f PSNR %.4f" % (it, loss.item(), psnr(out.detach(), gt)))


if __name__ == "__main__":
    main()
