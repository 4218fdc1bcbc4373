import torch
import torch.nn.functional as F

from .cell import MixedCell


class Search:
    def __init__(self):
        self.net = MixedCell()
        self.w_optim = torch.optim.SGD(self.net.weights(), lr=0.05, momentum=0.9)
        self.a_optim = torch.optim.Adam([self.net.alphas], lr=3e-2, betas=(0.5, 0.999))

    def loss(self, batch):
        return F.mse_loss(self.net(batch[0]), batch[1])

    def iteration(self, train, valid):
        train_loss = self.loss(train)
        valid_loss = self.loss(valid)

        self.w_optim.zero_grad()
        train_loss.backward()
        self.w_optim.step()

        self.a_optim.zero_grad()
        valid_loss.backward()
        self.a_optim.step()
        return train_loss.item(), valid_loss.item()
