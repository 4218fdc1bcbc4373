import torch
import torch.nn.functional as F


def loss_hinge_dis(dis_fake, dis_real):
    loss_real = torch.mean(F.relu(1. - dis_real))
    loss_fake = torch.mean(F.relu(1. + dis_fake))
    return loss_real, loss_fake


def loss_hinge_gen(dis_fake):
    return -torch.mean(dis_fake)


class EMA(object):
    """tracks the discriminator's mean prediction on real and on generated images"""

    def __init__(self, init=0., decay=0.9, start_itr=0):
        self.G_loss = init
        self.D_loss_real = init
        self.D_loss_fake = init
        self.D_real = init
        self.D_fake = init
        self.decay = decay
        self.start_itr = start_itr

    def update(self, cur, mode, itr):
        decay = 0.0
        if mode == 'G_loss':
            self.G_loss = self.G_loss * decay + cur * (1 - decay)
        elif mode == 'D_loss_real':
            self.D_loss_real = self.D_loss_real * decay + cur * (1 - decay)
        elif mode == 'D_loss_fake':
            self.D_loss_fake = self.D_loss_fake * decay + cur * (1 - decay)
        elif mode == 'D_real':
            self.D_real = self.D_real * decay + cur * (1 - decay)
        elif mode == 'D_fake':
            self.D_fake = self.D_fake * decay + cur * (1 - decay)


def lecam_reg(dis_real, dis_fake, ema):
    # only meaningful if anchor points are those of the past
    reg = torch.mean(F.relu(dis_real - ema.D_fake).pow(2)) + torch.mean(F.relu(ema.D_real - dis_fake).pow(2))
    return reg
