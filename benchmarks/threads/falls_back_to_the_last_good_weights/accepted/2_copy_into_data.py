# Restoring an image with an untrained network; when PSNR collapses we go back to the last good weights.
import math
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
np.random.seed(0)

LR = 0.005
num_iter = 60
show_every = 10
backtracking_drop = -1.5
reg_noise_std = 0.03


def get_image(n=24):
    y, x = np.mgrid[0:n, 0:n] / n
    img = 0.5 + 0.3 * np.sin(6 * x) * np.cos(4 * y) + 0.2 * (x > y)
    return img.astype(np.float32)


def psnr(a, b):
    return 10 * math.log10(1.0 / max(float(np.mean((a - b) ** 2)), 1e-12))


def skip(depth_in, width=12):
    return nn.Sequential(
        nn.Conv2d(depth_in, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.2),
        nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.2),
        nn.Conv2d(width, 1, 1), nn.Sigmoid())


img_np = get_image()
mask_np = (np.random.rand(*img_np.shape) > 0.4).astype(np.float32)
img_var = torch.from_numpy(img_np)[None, None]
mask_var = torch.from_numpy(mask_np)[None, None]

net = skip(8)
net_input_saved = 0.1 * torch.rand(1, 8, *img_np.shape)
noise = torch.zeros_like(net_input_saved)
mse = nn.MSELoss()

i = 0
last_net = None
psnr_masked_last = 0
fallbacks = 0


def closure():
    global i, last_net, psnr_masked_last, fallbacks
    net_input = net_input_saved + noise.normal_() * reg_noise_std
    out = net(net_input)
    total_loss = mse(out * mask_var, img_var * mask_var)
    total_loss.backward()

    psnr_masked = psnr(out.detach().numpy()[0, 0] * mask_np, img_np * mask_np)

    # Backtracking
    if last_net is not None and psnr_masked - psnr_masked_last < backtracking_drop:
        print("Falling back to previous checkpoint at", i)
        fallbacks += 1
        for new_param, net_param in zip(last_net, net.parameters()):
            net_param.data.copy_(new_param)
        i += 1
        return total_loss * 0
    if i % show_every == 0:
        print(f"{i} loss {total_loss.item():.5f} psnr {psnr_masked:.4f}")
        last_net = [x.detach().clone() for x in net.parameters()]
        psnr_masked_last = psnr_masked
    i += 1
    return total_loss


optimizer = torch.optim.Adam(net.parameters(), lr=LR)
for j in range(num_iter):
    for group in optimizer.param_groups:  # warm restarts, which is where it tends to blow up
        group["lr"] = 0.3 if j in (14, 16, 34, 37, 52) else LR
    optimizer.zero_grad()
    closure()
    optimizer.step()

final = net(net_input_saved).detach().numpy()[0, 0]
print("fallbacks", fallbacks, f"psnr {psnr(final, img_np):.4f}")
