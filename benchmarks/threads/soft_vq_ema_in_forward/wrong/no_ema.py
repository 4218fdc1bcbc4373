import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


# soft VQ-VAE: assignment through gumbel-softmax, codebook by EMA (no codebook loss)
class SoftVQEMA(nn.Module):
    def __init__(self, num_codes, dim, decay=0.9, eps=1e-5, temperature=0.7, ema=False):
        super(SoftVQEMA, self).__init__()
        self.num_codes = num_codes
        self.decay = decay
        self.eps = eps
        self.temperature = temperature
        self.ema = ema
        embed = torch.randn(num_codes, dim)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.ones(num_codes))
        self.register_buffer("embed_avg", embed.clone())

    def forward(self, z):
        d = torch.cdist(z, self.embed) ** 2
        soft = F.gumbel_softmax(-d, tau=self.temperature, hard=False)
        quantized = soft @ self.embed
        commit = F.mse_loss(z, quantized.detach())

        if self.training and self.ema:
            with torch.no_grad():
                n = soft.sum(0)
                self.cluster_size.mul_(self.decay).add_(n, alpha=1 - self.decay)
                self.embed_avg.mul_(self.decay).add_(soft.t() @ z, alpha=1 - self.decay)
                total = self.cluster_size.sum()
                # laplace smoothing
                size = (self.cluster_size + self.eps) / (total + self.num_codes * self.eps) * total
                self.embed.copy_(self.embed_avg / size.unsqueeze(1))

        avg = soft.mean(0)
        perplexity = torch.exp(-(avg * (avg + 1e-10).log()).sum())
        return quantized, commit, perplexity


class Model(nn.Module):
    def __init__(self, x_dim=8, hidden=32, dim=4, num_codes=12):
        super(Model, self).__init__()
        self.encoder = nn.Sequential(nn.Linear(x_dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))
        self.vq = SoftVQEMA(num_codes, dim)
        self.decoder = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, x_dim))

    def forward(self, x):
        q, commit, perplexity = self.vq(self.encoder(x))
        return self.decoder(q), commit, perplexity


def get_batches(n, bs, x_dim=8):
    base = torch.randn(6, x_dim)
    x = base[torch.randint(0, 6, (n,))] + 0.1 * torch.randn(n, x_dim)
    return x.split(bs)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--commitment_cost", type=float, default=0.25)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--lr", type=float, default=5e-3)
    opt = p.parse_args()

    torch.manual_seed(1234)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr, amsgrad=False)
    batches = get_batches(160, 32)
    model.train()
    for ep in range(opt.epochs):
        res = []
        for x in batches:
            optimizer.zero_grad()
            x_rec, commit, perplexity = model(x)
            rec = F.mse_loss(x_rec, x)
            loss = rec + opt.commitment_cost * commit
            loss.backward()
            optimizer.step()
            res.append((rec.item(), perplexity.item()))
        r, pp = map(sum, zip(*res))
        print("epoch", ep, "rec {:.5f} perplexity {:.5f}".format(r / len(res), pp / len(res)))
    print("codebook norm {:.5f}".format(model.vq.embed.norm().item()))
