import torch
import torch.nn as nn


class Client:
    def __init__(self, n_in, n_cut, lr, name):
        self.name = name
        self.model = nn.Sequential(nn.Linear(n_in, 12), nn.Tanh(), nn.Linear(12, n_cut), nn.ReLU())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.out = None
        self.grad_norm = 0.0

    def forward(self, x):
        self.out = self.model(x)
        return self.out

    def backward(self, grad):
        """grad: d loss / d smashed data, as it came over the wire"""
        self.out.backward(grad)
        self.grad_norm = sum(p.grad.norm().item() for p in self.model.parameters())


class Server:
    def __init__(self, n_in, n_out, lr):
        self.model = nn.Sequential(nn.Linear(n_in, 16), nn.ReLU(), nn.Linear(16, n_out))
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)

    def train_step(self, smashed, y):
        smashed = [s.detach().requires_grad_() for s in smashed]
        pred = self.model(torch.cat(smashed, dim=1))
        loss = self.criterion(pred, y)
        loss.backward()
        return loss.item(), [torch.zeros_like(s) for s in smashed]
