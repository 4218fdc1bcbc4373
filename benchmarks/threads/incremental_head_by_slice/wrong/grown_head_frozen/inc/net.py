import copy

import torch
import torch.nn as nn


class IncrementalNet(nn.Module):
    def __init__(self, feature_dim):
        super().__init__()
        self.convnet = nn.Sequential(nn.Linear(8, feature_dim), nn.ReLU(), nn.Linear(feature_dim, feature_dim), nn.ReLU())
        self.feature_dim = feature_dim
        self.fc = None

    def update_fc(self, nb_classes):
        """grow the classifier; what was learned for the old classes is kept"""
        fc = self.generate_fc(self.feature_dim, nb_classes)
        if self.fc is not None:
            nb_output = self.fc.out_features
            fc.requires_grad_(False)
            fc.weight[:nb_output] = self.fc.weight.detach()
            fc.bias[:nb_output] = self.fc.bias.detach()
        del self.fc
        self.fc = fc

    def generate_fc(self, in_dim, out_dim):
        fc = nn.Linear(in_dim, out_dim)
        nn.init.kaiming_uniform_(fc.weight, nonlinearity='linear')
        nn.init.constant_(fc.bias, 0)
        return fc

    def forward(self, x):
        return self.fc(self.convnet(x))

    def frozen_copy(self):
        net = copy.deepcopy(self).eval()
        for p in net.parameters():
            p.requires_grad = False
        return net
