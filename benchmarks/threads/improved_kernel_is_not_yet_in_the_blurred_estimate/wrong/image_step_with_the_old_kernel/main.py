# -*- coding: utf-8 -*-
"""Blind deconvolution of one image by two untrained nets, kernel and image in turns."""
import torch
import torch.nn.functional as F

from networks import skip_net, fcn
from utils import make_blurry, fill_noise, tv_loss, psnr

torch.manual_seed(0)
torch.set_num_threads(1)

opt = dict(num_iter=40, img_size=24, kernel_size=5, lr_x=0.01, lr_k=0.001, tv=1e-3, reg_noise_std=0.001)

x_true, k_true, y = make_blurry(opt['img_size'], opt['kernel_size'])
pad = opt['kernel_size'] // 2

net_input = fill_noise((1, 8, opt['img_size'] + 2 * pad, opt['img_size'] + 2 * pad))
net = skip_net(8, 1)

kernel_input = fill_noise((1, 32))
net_kernel = fcn(32, opt['kernel_size'] ** 2)

optimizer_x = torch.optim.Adam(net.parameters(), lr=opt['lr_x'])
optimizer_k = torch.optim.Adam(net_kernel.parameters(), lr=opt['lr_k'])
mse = torch.nn.MSELoss()

net_input_saved = net_input.clone()

for step in range(opt['num_iter']):
    net_input = net_input_saved + opt['reg_noise_std'] * torch.randn_like(net_input_saved)

    out_x = net(net_input)
    out_k = net_kernel(kernel_input).view(1, 1, opt['kernel_size'], opt['kernel_size'])
    out_y = F.conv2d(out_x.detach(), out_k)

    # 1) kernel step, the sharp image is kept
    optimizer_k.zero_grad()
    loss_k = mse(out_y, y)
    loss_k.backward()
    optimizer_k.step()

    # 2) image step, against the kernel that has just been improved
    optimizer_x.zero_grad()
    loss_x = mse(F.conv2d(out_x, out_k.detach()), y) + opt['tv'] * tv_loss(out_x)
    loss_x.backward()
    optimizer_x.step()

    if (step + 1) % 10 == 0:
        sharp = out_x[:, :, pad:-pad, pad:-pad].detach()
        print('iter %03d  loss_k %.6f  loss_x %.6f  psnr %.6f  kernel err %.6f' % (
            step + 1, loss_k.item(), loss_x.item(), psnr(sharp, x_true), (out_k.detach() - k_true).abs().sum().item()))
