import torch.nn as nn
import torch.nn.functional as F


class Embedding(nn.Module):
    def __init__(self, in_dim, hidden, out_dim, l2=True):
        super(Embedding, self).__init__()
        self.fc1 = nn.Linear(in_dim, hidden)
        self.fc2 = nn.Linear(hidden, out_dim)
        self.l2 = l2

    def forward(self, x):
        e = self.fc2(F.relu(self.fc1(x)))
        return F.normalize(e, dim=1) if self.l2 else e
