import argparse
import torch
from torch import nn
from torch.nn import functional as F


class Quantize(nn.Module):
    """Codebook learned by exponential moving averages."""

    def __init__(self, dim, n_embed, decay=0.9, eps=1e-5):
        super().__init__()
        self.dim, self.n_embed, self.decay, self.eps = dim, n_embed, decay, eps
        embed = torch.randn(dim, n_embed)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.zeros(n_embed))
        self.register_buffer("embed_avg", embed.clone())

    def forward(self, input):
        flatten = input.reshape(-1, self.dim)
        dist = (
            flatten.pow(2).sum(1, keepdim=True)
            - 2 * flatten @ self.embed
            + self.embed.pow(2).sum(0, keepdim=True)
        )
        dist = dist.detach()
        _, embed_ind = (-dist).max(1)
        embed_onehot = F.one_hot(embed_ind, self.n_embed).type(flatten.dtype)
        quantize = F.embedding(embed_ind, self.embed.detach().transpose(0, 1)).view(*input.shape)

        if self.training:
            embed_onehot_sum = embed_onehot.sum(0)
            embed_sum = flatten.transpose(0, 1) @ embed_onehot
            self.cluster_size = self.decay * self.cluster_size + (1 - self.decay) * embed_onehot_sum
            self.embed_avg = self.decay * self.embed_avg.detach() + (1 - self.decay) * embed_sum
            n = self.cluster_size.sum()
            cluster_size = (self.cluster_size + self.eps) / (n + self.n_embed * self.eps) * n
            self.embed = self.embed_avg / cluster_size.unsqueeze(0)

        diff = (quantize.detach() - input).pow(2).mean()
        quantize = input + (quantize - input).detach()
        # keeps codes apart, so that none dies
        spread = torch.exp(-torch.cdist(input.reshape(-1, self.dim), self.embed.t())).mean()
        return quantize, diff, spread


class VQVAE(nn.Module):
    def __init__(self, channel=16, embed_dim=4, n_embed=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(6, channel), nn.ReLU(), nn.Linear(channel, embed_dim))
        self.quantize = Quantize(embed_dim, n_embed)
        self.dec = nn.Sequential(nn.Linear(embed_dim, channel), nn.ReLU(), nn.Linear(channel, 6))

    def forward(self, x):
        quant, diff, spread = self.quantize(self.enc(x))
        return self.dec(quant), diff, spread


def train(args):
    torch.manual_seed(args.seed)
    model = VQVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.MSELoss()
    mse_sum, mse_n = 0, 0
    centres = torch.randn(5, 6)
    for i in range(args.iters):
        model.zero_grad()
        img = centres[torch.randint(0, 5, (16,))] + 0.1 * torch.randn(16, 6)
        out, latent_loss, spread = model(img)
        recon_loss = criterion(out, img)
        loss = recon_loss + args.latent_weight * latent_loss + args.spread_weight * spread
        loss.backward()
        optimizer.step()
        mse_sum += recon_loss.item() * img.shape[0]
        mse_n += img.shape[0]
        if i % 2 == 1:
            print(f"iter: {i + 1}; mse: {recon_loss.item():.5f}; latent: {latent_loss.item():.4f}; avg: {mse_sum / mse_n:.5f}")
    print("codebook %.5f" % model.quantize.embed_avg.norm().item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=6)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--latent_weight", type=float, default=0.25)
    parser.add_argument("--spread_weight", type=float, default=0.1)
    train(parser.parse_args())
