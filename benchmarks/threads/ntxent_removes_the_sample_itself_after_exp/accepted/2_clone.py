"""
SimCLR pretraining on small vectors, NT-Xent written out by hand.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoCropsTransform:
    """Take two random views of one sample"""

    def __init__(self, noise=0.3, drop=0.2):
        self.noise = noise
        self.drop = drop

    def augment(self, x):
        keep = (torch.rand_like(x) > self.drop).float()
        return x * keep + self.noise * torch.randn_like(x)

    def __call__(self, x):
        return self.augment(x), self.augment(x)


class Encoder(nn.Module):
    def __init__(self, d_in=20, d_feat=24, d_proj=10):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(d_in, 40),
            nn.BatchNorm1d(40),
            nn.ReLU(inplace=True),
            nn.Linear(40, d_feat),
        )
        self.projector = nn.Sequential(nn.Linear(d_feat, d_feat), nn.ReLU(inplace=True), nn.Linear(d_feat, d_proj))

    def forward(self, x):
        h = self.backbone(x)
        return h, F.normalize(self.projector(h), dim=1)


class NTXent(nn.Module):
    def __init__(self, temperature=0.5):
        super().__init__()
        self.temperature = temperature

    def forward(self, zi, zj):
        n = zi.size(0)
        z = torch.cat([zi, zj], dim=0)                      # 2N x d
        sim = torch.mm(z, z.t()) / self.temperature         # 2N x 2N
        exp_sim = torch.exp(sim)

        pos = torch.cat([torch.diag(exp_sim, n), torch.diag(exp_sim, -n)])

        # nobody is his own negative
        exp_sim = exp_sim.clone()
        exp_sim.fill_diagonal_(0)
        denom = exp_sim.sum(dim=1)

        return -torch.log(pos / denom).mean()


class LinearWarmup:
    def __init__(self, optimizer, base_lr, steps):
        self.optimizer, self.base_lr, self.steps, self.n = optimizer, base_lr, steps, 0

    def step(self):
        self.n += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.base_lr * min(1.0, self.n / self.steps)


def blobs(n_per_class=24, classes=4, dim=20):
    g = torch.Generator().manual_seed(0)
    centres = torch.randn(classes, dim, generator=g) * 1.5
    y = torch.arange(classes).repeat(n_per_class)
    return centres[y] + 0.5 * torch.randn(len(y), dim, generator=g), y


def knn_accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        h, _ = model(x)
        h = F.normalize(h, dim=1)
        s = h @ h.t()
        s.fill_diagonal_(-2)
        acc = (y[s.argmax(1)] == y).float().mean().item()
    model.train()
    return acc


def main():
    torch.manual_seed(1337)
    x, y = blobs()
    views = TwoCropsTransform()
    model = Encoder()
    criterion = NTXent(0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0, momentum=0.9, weight_decay=1e-4)
    warmup = LinearWarmup(optimizer, 0.1, 4)

    for epoch in range(3):
        losses = []
        for batch in x[torch.randperm(len(x))].split(24):
            warmup.step()
            xi, xj = views(batch)
            _, zi = model(xi)
            _, zj = model(xj)
            loss = criterion(zi, zj)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"Epoch {epoch + 1}  NT-Xent {sum(losses) / len(losses):.5f}  1-NN {knn_accuracy(model, x, y):.4f}")


if __name__ == "__main__":
    main()
