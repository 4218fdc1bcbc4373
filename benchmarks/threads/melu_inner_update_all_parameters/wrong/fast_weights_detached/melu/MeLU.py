from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F

from .embeddings import item, user


class user_preference_estimator(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.item_emb, self.user_emb = item(c), user(c)
        self.fc1 = nn.Linear(c['embedding_dim'] * 4, c['first_fc_hidden_dim'])
        self.fc2 = nn.Linear(c['first_fc_hidden_dim'], c['second_fc_hidden_dim'])
        self.linear_out = nn.Linear(c['second_fc_hidden_dim'], 1)

    def embed(self, x):
        return torch.cat((self.item_emb(x), self.user_emb(x)), 1)

    def decide(self, e, w):
        h = F.relu(F.linear(e, w['fc1.weight'], w['fc1.bias']))
        h = F.relu(F.linear(h, w['fc2.weight'], w['fc2.bias']))
        return F.linear(h, w['linear_out.weight'], w['linear_out.bias'])[:, 0]


class MeLU(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = user_preference_estimator(config)
        self.inner, self.local_lr = config['inner'], config['local_lr']
        self.meta_optim = torch.optim.Adam(self.model.parameters(), lr=config['lr'])

    def local_update(self, x, y):
        # users and items are not adapted: only how decisions are made from them
        e = self.model.embed(x).detach()
        weights = OrderedDict((n, p) for n, p in self.model.named_parameters() if '_emb' not in n)
        for _ in range(self.inner):
            loss = F.mse_loss(self.model.decide(e, weights), y)
            grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = OrderedDict((n, w - self.local_lr * g) for (n, w), g in zip(weights.items(), grads))
        return OrderedDict((n, w.detach()) for n, w in weights.items())

    def global_update(self, users):
        losses = []
        for sx, sy, qx, qy in users:
            weights = self.local_update(sx, sy)
            losses.append(F.mse_loss(self.model.decide(self.model.embed(qx), weights), qy))
        loss = torch.stack(losses).mean(0)
        self.meta_optim.zero_grad()
        loss.backward()
        self.meta_optim.step()
        return loss.item()
