import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.proj = nn.Linear(3, d)
        self.gate = nn.Linear(d, d)
        self.features = None

    def forward(self, tokens):
        h = torch.tanh(self.proj(tokens)).clone()
        self.features = h
        weight = torch.softmax(self.gate(h.clone()), dim=-1)
        drop = torch.randperm(tokens.shape[1])[:2]
        h[:, drop] = 0.0
        return h * weight


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.decoder = nn.Linear(6, 3)

    def loss(self, tokens):
        restored = self.decoder(self.encoder(tokens))
        fit = (restored - tokens).square().mean()
        f = nn.functional.normalize(self.encoder.features.mean(1), dim=-1)
        apart = (f @ f.t()).square().mean()
        return fit + 0.5 * apart


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(8):
    loss = model.loss(torch.randn(6, 5, 3))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, round(loss.item(), 5))
