import torch
from torch import nn

from rbm import RBM


class DBN(nn.Module):
    def __init__(self, sizes, n_classes):
        super().__init__()
        self.rbms = nn.ModuleList(RBM(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.head = nn.Linear(sizes[-1], n_classes)

    def forward(self, x):
        for rbm in self.rbms:
            x = rbm(x)
        return self.head(x)

    def pretrain(self, x, epochs, lr, batch=12):
        errors = []
        for rbm in self.rbms:
            for _ in range(epochs):
                errs = [rbm.contrastive_divergence(v, lr) for v in x.split(batch)]
            errors.append(sum(errs) / len(errs))
            with torch.no_grad():
                x = rbm(x)       # the next machine sees what this one has learned
        return errors


class FineTuner:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def epoch(self, x, y):
        self.optimizer.zero_grad()
        logits = self.model(x)
        loss = self.criterion(logits, y)
        loss.backward()
        self.optimizer.step()
        return loss.item(), (logits.argmax(1) == y).float().mean().item()
