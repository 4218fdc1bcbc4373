"""Deep image prior with an optimised input code, annealed input noise (notebook turned script)"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

seed = 12
torch.manual_seed(seed)

iterations = 60
lr = 5e-3
input_depth = 4
size = 16
input_noise_strength = 0.1
opt_over = 'net,input'


def make_image(size):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing='ij')
    disc = ((yy - 6) ** 2 + (xx - 9) ** 2 < 16).float()
    bars = ((xx // 3) % 2).float() * 0.3
    return (0.2 + 0.5 * disc + bars)[None, None]


def psnr(a, b):
    return -10 * math.log10(F.mse_loss(a, b).item())


class HourGlass(nn.Module):
    def __init__(self, depth, ch=12):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(depth, ch, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
                                  nn.Conv2d(ch, ch, 3, padding=1), nn.LeakyReLU(0.2))
        self.skip = nn.Conv2d(depth, 4, 1)
        self.up = nn.Sequential(nn.Conv2d(ch + 4, ch, 3, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(ch, 1, 1))

    def forward(self, z):
        h = F.interpolate(self.down(z), scale_factor=2, mode='nearest')
        return torch.sigmoid(self.up(torch.cat([h, self.skip(z)], 1)))


clean = make_image(size)
noisy = (clean + 0.1 * torch.randn_like(clean)).clamp(0, 1)

net = HourGlass(input_depth)
net_input = torch.rand(1, input_depth, size, size) * 0.1

params = []
for name in opt_over.split(','):
    if name == 'net':
        params.append({'params': list(net.parameters())})
    elif name == 'input':
        net_input.requires_grad_(True)
        params.append({'params': [net_input], 'lr': lr * 0.5})

optimizer = torch.optim.Adam(params, lr=lr)
out_avg, exp_weight = None, 0.9

for itt in range(iterations):
    # regularisation: the net sees its code through a little fresh noise, less and less of it
    noise_ramp = 1 - min(1, itt / iterations)
    if input_noise_strength:
        net_input += torch.randn_like(net_input) * input_noise_strength * noise_ramp

    out = net(net_input)
    loss = F.mse_loss(out, noisy)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    # smoothing of the outputs
    with torch.no_grad():
        out_avg = out.detach() if out_avg is None else out_avg * exp_weight + out.detach() * (1 - exp_weight)
    if itt % 15 == 0 or itt == iterations - 1:
        print('iter %3d  loss %.6f  psnr noisy %.4f  psnr clean %.4f  smoothed %.4f' % (
            itt, loss.item(), psnr(out, noisy), psnr(out, clean), psnr(out_avg, clean)))

with torch.no_grad():
    final = net(net_input)
print('without noise: psnr %.4f, code std %.5f' % (psnr(final, clean), net_input.std().item()))
