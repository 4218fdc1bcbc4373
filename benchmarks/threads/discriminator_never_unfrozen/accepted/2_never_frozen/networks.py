import torch
import torch.nn as nn


class GANLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.MSELoss()

    def __call__(self, prediction, target_is_real):
        target = torch.ones_like(prediction) if target_is_real else torch.zeros_like(prediction)
        return self.loss(prediction, target)


def define_G(ngf):
    return nn.Sequential(nn.Conv1d(1, ngf, 5, padding=2), nn.ReLU(), nn.Conv1d(ngf, ngf, 5, padding=2), nn.ReLU(),
                         nn.Conv1d(ngf, 1, 5, padding=2), nn.Tanh())


def define_D(ndf):
    return nn.Sequential(nn.Conv1d(2, ndf, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv1d(ndf, ndf, 4, 2, 1), nn.LeakyReLU(0.2),
                         nn.Conv1d(ndf, 1, 3, padding=1))
