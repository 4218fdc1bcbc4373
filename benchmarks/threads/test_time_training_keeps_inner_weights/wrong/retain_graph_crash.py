# Test-time training (TTT) layer: the hidden state is a linear model that is trained on the sequence itself
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class TTTLinear(nn.Module):
    """Inner model f(k) = k W. Every new sequence starts from W0, which the outer loop learns.

    While decoding, the inner weights after the last mini-batch of tokens are kept, so that a
    sequence can be fed piece by piece; reset() forgets them.
    """

    def __init__(self, dim, mini_batch=4, inner_lr=0.5):
        super().__init__()
        self.theta_k = nn.Linear(dim, dim, bias=False)
        self.theta_v = nn.Linear(dim, dim, bias=False)
        self.theta_q = nn.Linear(dim, dim, bias=False)
        self.W0 = nn.Parameter(0.02 * torch.randn(dim, dim))
        self.log_eta = nn.Parameter(torch.tensor(inner_lr).log())
        self.mini_batch = mini_batch
        self.cache = None

    def reset(self):
        self.cache = None

    def forward(self, x):
        b, t, d = x.shape
        if self.cache is None:
            self.cache = self.W0.expand(b, d, d)
        W = self.cache
        out = []
        for chunk in x.split(self.mini_batch, dim=1):
            k, v, q = self.theta_k(chunk), self.theta_v(chunk), self.theta_q(chunk)
            error = k @ W - v
            W = W - self.log_eta.exp() / chunk.size(1) * k.transpose(1, 2) @ error
            out.append(q @ W)
        self.cache = W
        return torch.cat(out, dim=1)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mixer = TTTLinear(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.mixer(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class LM(nn.Module):
    def __init__(self, vocab=16, dim=12, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([Block(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, vocab)

    def reset(self):
        for block in self.blocks:
            block.mixer.reset()

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def get_batch(size, length, vocab=16):
    start = torch.randint(0, vocab, (size, 1))
    stride = torch.randint(1, 4, (size, 1))
    return (start + stride * torch.arange(length + 1)) % vocab


def train_one_epoch(model, optimizer, args):
    model.train()
    for it in range(args.iters):
        tokens = get_batch(args.batch, args.length)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        if it % 4 == 0:
            print("iter", it, "loss", round(loss.item(), 5))


@torch.no_grad()
def evaluate(model, args):
    """Reads a sequence in three pieces, as a decoder would."""
    model.eval()
    tokens = get_batch(args.batch, args.length)
    model.reset()
    pieces = [model(piece) for piece in tokens[:, :-1].split(args.length // 3, dim=1)]
    model.reset()
    loss = F.cross_entropy(torch.cat(pieces, dim=1).flatten(0, 1), tokens[:, 1:].flatten())
    print("eval", round(loss.item(), 5))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=12)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(11)
    model = LM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(args.epochs):
        train_one_epoch(model, optimizer, args)
        evaluate(model, args)
