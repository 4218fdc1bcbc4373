import torch
from torch import nn


class item(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.rate, self.genre = nn.Embedding(c['num_rate'], c['embedding_dim']), nn.Embedding(c['num_genre'], c['embedding_dim'])

    def forward(self, x):
        return torch.cat((self.rate(x[:, 0]), self.genre(x[:, 1])), 1)


class user(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gender, self.age = nn.Embedding(c['num_gender'], c['embedding_dim']), nn.Embedding(c['num_age'], c['embedding_dim'])

    def forward(self, x):
        return torch.cat((self.gender(x[:, 2]), self.age(x[:, 3])), 1)
