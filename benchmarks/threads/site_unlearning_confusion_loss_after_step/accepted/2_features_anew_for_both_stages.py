"""Scanner harmonisation by unlearning: three losses, three optimizers.

stage 1: encoder + regressor on age
stage 2: domain classifier on (fixed) features
stage 3: encoder such that the domain classifier is confused
"""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Args:
    epochs: int = 3
    batch_size: int = 20
    alpha: float = 1.0
    beta: float = 4.0
    epoch_stage_1: int = 1
    learning_rate: float = 3e-3
    n_sites: int = 3


class Encoder(nn.Module):
    def __init__(self):
        super(Encoder, self).__init__()
        self.net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 10), nn.ReLU())

    def forward(self, x):
        return self.net(x)


class Regressor(nn.Module):
    def __init__(self):
        super(Regressor, self).__init__()
        self.fc_1, self.fc_2 = nn.Linear(10, 16), nn.Linear(16, 1)

    def forward(self, h):
        return self.fc_2(torch.relu(self.fc_1(h))).squeeze(1)


class DomainPredictor(nn.Module):
    def __init__(self, nodes):
        super(DomainPredictor, self).__init__()
        self.domain = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, nodes))

    def forward(self, h):
        return torch.softmax(self.domain(h), dim=1)


class ConfusionLoss(nn.Module):
    def forward(self, x):
        log = torch.log(x + 1e-6)
        normalised_log_sum = torch.div(torch.sum(log, dim=1), x.size(1))
        return torch.mul(torch.sum(normalised_log_sum), -1) / x.size(0)


def make_data(args, n=60):
    rng = np.random.RandomState(3)
    age = rng.uniform(-1, 1, n)
    site = rng.randint(0, args.n_sites, n)
    W = rng.normal(size=(1, 12))
    shift = rng.normal(size=(args.n_sites, 12))
    x = age[:, None] * W + 0.7 * shift[site] + 0.1 * rng.normal(size=(n, 12))
    t = torch.tensor
    return t(x, dtype=torch.float32), t(age, dtype=torch.float32), t(site)


def loader(data, args):
    perm = torch.randperm(len(data[0]))
    for idx in perm.split(args.batch_size):
        yield tuple(d[idx] for d in data)


def train_normal(batch, models, optimizers):
    encoder, regressor, domain_predictor = models
    optimizer, _, optimizer_dm = optimizers
    x, y, d = batch
    features = encoder(x)
    loss = F.mse_loss(regressor(features), y) + F.nll_loss(torch.log(domain_predictor(features) + 1e-6), d)
    optimizer.zero_grad(), optimizer_dm.zero_grad()
    loss.backward()
    optimizer.step(), optimizer_dm.step()
    return loss.item(), 0.0, 0.0


def train_unlearn(args, batch, models, optimizers, conf_criterion):
    encoder, regressor, domain_predictor = models
    optimizer, optimizer_conf, optimizer_dm = optimizers
    x, y, d = batch

    # First update the encoder and regressor
    optimizer.zero_grad()
    features = encoder(x)
    loss_1 = F.mse_loss(regressor(features), y)
    loss_1.backward(retain_graph=True)
    optimizer.step()

    features = encoder(x)
    # Now update just the domain classifier
    optimizer_dm.zero_grad()
    output_dm = domain_predictor(features.detach())
    loss_dm = args.alpha * F.nll_loss(torch.log(output_dm + 1e-6), d)
    loss_dm.backward()
    optimizer_dm.step()

    # Now update just the encoder using the confusion loss
    optimizer_conf.zero_grad()
    output_dm_conf = domain_predictor(features)
    loss_conf = args.beta * conf_criterion(output_dm_conf)
    loss_conf.backward(retain_graph=False)
    optimizer_conf.step()
    return loss_1.item(), loss_dm.item(), loss_conf.item()


def main():
    torch.manual_seed(12)
    args = Args()
    data = make_data(args)
    models = Encoder(), Regressor(), DomainPredictor(args.n_sites)
    encoder, regressor, domain_predictor = models
    optimizer = torch.optim.Adam(list(encoder.parameters()) + list(regressor.parameters()), lr=args.learning_rate)
    optimizer_conf = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    optimizer_dm = torch.optim.Adam(domain_predictor.parameters(), lr=1e-3)
    optimizers = optimizer, optimizer_conf, optimizer_dm
    conf_criterion = ConfusionLoss()
    for epoch in range(args.epochs):
        for batch in loader(data, args):
            if epoch < args.epoch_stage_1:
                out = train_normal(batch, models, optimizers)
            else:
                out = train_unlearn(args, batch, models, optimizers, conf_criterion)
        print('epoch', epoch, 'age %.6f domain %.6f conf %.6f' % out)


if __name__ == '__main__':
    main()
