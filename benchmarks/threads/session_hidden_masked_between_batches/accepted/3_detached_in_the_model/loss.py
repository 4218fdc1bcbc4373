import torch
import torch.nn as nn


class LossFunction(nn.Module):
    def __init__(self, loss_type='TOP1'):
        super(LossFunction, self).__init__()
        self.loss_type = loss_type

    def forward(self, logit):
        diff = -(logit.diag().view(-1, 1).expand_as(logit) - logit)
        if self.loss_type == 'BPR':
            return -torch.mean(torch.nn.functional.logsigmoid(-diff))
        return torch.sigmoid(diff).mean() + torch.sigmoid(logit ** 2).mean()
