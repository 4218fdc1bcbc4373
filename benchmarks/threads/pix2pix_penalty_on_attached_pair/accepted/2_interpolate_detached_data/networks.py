import torch
import torch.nn as nn


def init_weights(net, gain=0.02):
    for m in net.modules():
        if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
            nn.init.normal_(m.weight.data, 0.0, gain * 5)
            if m.bias is not None:
                nn.init.constant_(m.bias.data, 0.0)
    return net


def define_G(input_nc, output_nc, ngf):
    return init_weights(nn.Sequential(
        nn.Conv2d(input_nc, ngf, 3, padding=1), nn.InstanceNorm2d(ngf), nn.ReLU(True),
        nn.Conv2d(ngf, ngf, 3, padding=1), nn.InstanceNorm2d(ngf), nn.ReLU(True),
        nn.Conv2d(ngf, output_nc, 3, padding=1), nn.Tanh()))


def define_D(input_nc, ndf):
    # PatchGAN, 2 Ebenen reichen fuer 16x16
    return init_weights(nn.Sequential(
        nn.Conv2d(input_nc, ndf, 4, stride=2, padding=1), nn.LeakyReLU(0.2, True),
        nn.Conv2d(ndf, ndf * 2, 4, stride=2, padding=1), nn.InstanceNorm2d(ndf * 2), nn.LeakyReLU(0.2, True),
        nn.Conv2d(ndf * 2, 1, 3, padding=1)))


def set_requires_grad(nets, requires_grad=False):
    if not isinstance(nets, list):
        nets = [nets]
    for net in nets:
        for param in net.parameters():
            param.requires_grad = requires_grad


def cal_gradient_penalty(netD, real_data, fake_data, type='mixed', constant=1.0, lambda_gp=10.0):
    """WGAN-GP (arXiv 1704.00028). type: real | fake | mixed"""
    if lambda_gp <= 0.0:
        return 0.0, None
    if type == 'real':
        interpolatesv = real_data
    elif type == 'fake':
        interpolatesv = fake_data
    elif type == 'mixed':
        alpha = torch.rand(real_data.shape[0], 1, 1, 1)
        interpolatesv = (alpha * real_data + (1 - alpha) * fake_data).detach()
    else:
        raise NotImplementedError('{} not implemented'.format(type))
    interpolatesv.requires_grad_(True)
    disc_interpolates = netD(interpolatesv)
    gradients = torch.autograd.grad(outputs=disc_interpolates, inputs=interpolatesv, grad_outputs=torch.ones(disc_interpolates.size()), create_graph=True, retain_graph=True, only_inputs=True)
    gradients = gradients[0].view(real_data.size(0), -1)
    penalty = (((gradients + 1e-16).norm(2, dim=1) - constant) ** 2).mean() * lambda_gp
    return penalty, gradients
