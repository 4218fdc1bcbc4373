import torch, math
import torch.nn as nn
import torch.nn.functional as F
import numpy as np

# Hyperspherical prototypes: first spread them out, then train a net towards them.

SEED, CLASSES, DIMS = 100, 6, 3

class Separation:
    """largest cosine of each prototype with another one"""
    def __init__(self, tri=None):
        self.tri = tri

    def __call__(self, prototypes):
        product = torch.matmul(prototypes, prototypes.t()) + 1
        product = product - 2. * torch.diag(torch.diag(product))
        loss = product.max(dim=1)[0].mean()
        if self.tri is not None:
            a, p, n = self.tri
            loss = loss + 0.3 * torch.clamp((prototypes[a] * prototypes[n]).sum(1) - (prototypes[a] * prototypes[p]).sum(1) + 0.2, min=0).mean()
        return loss, product.max()


def learn_prototypes(separation, epochs=9, lr=0.2):
    prototypes = nn.Parameter(F.normalize(torch.randn(CLASSES, DIMS), p=2, dim=1))
    optimizer = torch.optim.SGD([prototypes], lr=lr, momentum=0.9)
    for i in range(epochs):
        optimizer.zero_grad()
        loss, worst = separation(prototypes)
        loss.backward()
        optimizer.step()
        # Renormalize prototypes: back onto the sphere after the step.
        if i % 2 == 0:
            print("Epoch %d loss %.6f worst angle %.6f" % (i, loss.item(), math.acos(worst.item() - 1) if worst.item() < 2 else 0.))
    return F.normalize(prototypes.detach(), p=2, dim=1)


class Net(nn.Module):
    def __init__(self, prototypes):
        super().__init__()
        self.register_buffer("polars", prototypes)
        self.body = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, DIMS))

    def forward(self, x):
        return self.body(x)

    def predict(self, x):
        return F.normalize(x, p=2, dim=1) @ self.polars.t()


def train(net, epochs=5):
    f_loss = nn.CosineSimilarity(dim=1, eps=1e-9)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    rng = np.random.RandomState(SEED)
    centres = rng.randn(CLASSES, 5)
    for e in range(epochs):
        target = rng.randint(0, CLASSES, 32)
        data = torch.from_numpy((centres[target] + 0.3 * rng.randn(32, 5)).astype(np.float32))
        target = torch.from_numpy(target)
        output = net(data)
        loss = (1 - f_loss(output, net.polars[target])).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        acc = (net.predict(output).max(1)[1] == target).float().mean()
        print("train %.6f acc %.6f" % (loss.item(), acc.item()))


if __name__ == "__main__":
    torch.manual_seed(SEED)
    triplets = torch.tensor([[0, 1, 3], [1, 2, 4], [4, 5, 0]]).t()
    train(Net(learn_prototypes(Separation(triplets))))
