import math

import torch
from torch import nn, optim
from torch.autograd import Function
import torch.nn.functional as F


class LowerBound(Function):
    """max(inputs, bound), whose gradient also passes below the bound where it moves the inputs up."""

    def forward(self, inputs, bound):
        b = torch.ones(inputs.size()) * bound
        self.save_for_backward(inputs, b)
        return torch.max(inputs, b)

    def backward(self, grad_output):
        inputs, b = self.saved_tensors
        pass_through_1 = inputs >= b
        pass_through_2 = grad_output < 0
        pass_through = pass_through_1 | pass_through_2
        return pass_through.type(grad_output.dtype) * grad_output, None


class GDN(nn.Module):
    """Generalized divisive normalization layer
    y[i] = x[i] / sqrt(beta[i] + sum_j(gamma[j, i] * x[j]^2))
    """

    def __init__(self, ch, inverse=False, beta_min=1e-3, gamma_init=.1, reparam_offset=2 ** -9):
        super(GDN, self).__init__()
        self.inverse = inverse
        self.pedestal = reparam_offset ** 2
        self.beta_bound = (beta_min + self.pedestal) ** .5
        self.gamma_bound = reparam_offset
        self.beta = nn.Parameter(torch.sqrt(torch.ones(ch) + self.pedestal))
        self.gamma = nn.Parameter(torch.sqrt(gamma_init * torch.eye(ch) + self.pedestal))

    def forward(self, inputs):
        ch = inputs.size(1)
        # Beta bound and reparam
        beta = LowerBound()(self.beta, self.beta_bound)
        beta = beta ** 2 - self.pedestal
        # Gamma bound and reparam
        gamma = LowerBound()(self.gamma, self.gamma_bound)
        gamma = (gamma ** 2 - self.pedestal).view(ch, ch, 1, 1)
        # Norm pool calc
        norm_ = torch.sqrt(F.conv2d(inputs ** 2, gamma, beta))
        return inputs * norm_ if self.inverse else inputs / norm_


class Codec(nn.Module):
    def __init__(self, ch=8, latent=4):
        super(Codec, self).__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, ch, 5, 2, 2), GDN(ch), nn.Conv2d(ch, latent, 5, 2, 2))
        self.dec = nn.Sequential(nn.ConvTranspose2d(latent, ch, 5, 2, 2, 1), GDN(ch, inverse=True),
                                 nn.ConvTranspose2d(ch, 1, 5, 2, 2, 1))
        self.log_scale = nn.Parameter(torch.zeros(latent, 1, 1))

    def forward(self, x):
        y = self.enc(x)
        # additive uniform noise stands in for rounding
        y = y + torch.rand_like(y) - 0.5 if self.training else torch.round(y)
        bits = (y.abs() / self.log_scale.exp() + self.log_scale + math.log(2)) / math.log(2)
        return self.dec(y), bits.sum((1, 2, 3)).mean() / x[0].numel()


def textures(n, gen):
    phase = torch.rand(n, 1, 1, 1, generator=gen) * 6
    freq = 0.2 + torch.rand(n, 1, 1, 1, generator=gen) * 0.6
    ramp = torch.arange(16.0)
    return 3 * torch.sin(freq * (ramp.view(1, 1, 1, -1) + 0.5 * ramp.view(1, 1, -1, 1)) + phase)


if __name__ == '__main__':
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(2)
    model = Codec()
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    lmbda = 0.5
    for step in range(40):
        x = textures(8, gen)
        x_hat, bpp = model(x)
        mse = F.mse_loss(x_hat, x)
        loss = bpp + lmbda * mse
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            low = sum(int((m.gamma < m.gamma_bound).sum()) for m in model.modules() if isinstance(m, GDN))
            print('step {:3d} bpp {:.5f} mse {:.5f} gammas below the bound {}'.format(step + 1, bpp.item(), mse.item(), low))
