import torch.nn as nn


def define_G(dim, ngf=12):
    return nn.Sequential(nn.Linear(dim, ngf), nn.LeakyReLU(0.2), nn.Linear(ngf, ngf), nn.LeakyReLU(0.2), nn.Linear(ngf, dim), nn.Tanh())


def define_D(dim, ndf=12):
    return nn.Sequential(nn.Linear(2 * dim, ndf), nn.LeakyReLU(0.2), nn.Linear(ndf, 1))
