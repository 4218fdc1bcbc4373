"""Evidential classification: the network gives the parameters of a Dirichlet."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
K, ANNEALING_EPOCHS = 4, 4


def kl_to_uniform(alpha):
    ones = torch.ones(1, alpha.size(1))
    s = alpha.sum(dim=1, keepdim=True)
    first = torch.lgamma(s) - torch.lgamma(alpha).sum(1, keepdim=True) - torch.lgamma(ones.sum(1, keepdim=True))
    second = ((alpha - ones) * (torch.digamma(alpha) - torch.digamma(s))).sum(1, keepdim=True)
    return first + second


def edl_loss(evidence, target, epoch):
    alpha = evidence + 1
    y = F.one_hot(target, K).float()
    S = alpha.sum(dim=1, keepdim=True)
    # type-II likelihood of the true class
    nll = (y * (torch.digamma(S) - torch.digamma(alpha))).sum(dim=1, keepdim=True)
    # misleading evidence is drawn to zero: the true class takes part with 1
    kl_alpha = (1 - y) * (alpha - 1) + 1e-6 + y * alpha
    coefficient = min(1.0, epoch / ANNEALING_EPOCHS)
    loss = (nll + coefficient * kl_to_uniform(kl_alpha)).mean()
    # expected probability of the true class under the Dirichlet, variance included
    p = alpha / S
    mse = ((y - p) ** 2 + p * (1 - p) / (S + 1)).sum(dim=1).mean()
    return loss + mse, (K / S).mean().item()


net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, K), nn.Softplus())
optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=1e-4)
means = 2 * torch.randn(K, 6)
target = torch.randint(0, K, (160,))
x = means[target] + torch.randn(160, 6)
for epoch in range(6):
    for i in range(0, 160, 40):
        loss, u = edl_loss(net(x[i:i + 40]), target[i:i + 40], epoch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        evidence = net(x)
        match = evidence.argmax(1) == target
        per_class = evidence.sum(1)
    print(f"epoch {epoch} loss {loss.item():.5f} u {u:.5f} acc {match.float().mean():.4f} evidence {per_class[match].mean():.4f}")
