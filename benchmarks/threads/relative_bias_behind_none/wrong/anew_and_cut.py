import argparse
import torch
import torch.nn as nn


class WindowAttention(nn.Module):
    def __init__(self, dim, window, heads=2):
        super().__init__()
        self.heads, self.window = heads, window
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.table = nn.Parameter(torch.zeros(2 * window - 1, heads))
        nn.init.trunc_normal_(self.table, std=0.2)
        pos = torch.arange(window)
        self.register_buffer('index', pos[:, None] - pos[None, :] + window - 1)
        self._bias = None

    def relative_bias(self):
        if True:
            bias = self.table[self.index.view(-1)].view(self.window, self.window, self.heads)
            self._bias = torch.tanh(bias).permute(2, 0, 1).unsqueeze(0)
        return self._bias.data

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        attn = q @ k.transpose(-2, -1) / (c // self.heads) ** 0.5 + self.relative_bias()
        x = (attn.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj(x)


class Block(nn.Module):
    def __init__(self, dim, window):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, window)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


def main(args):
    torch.manual_seed(args.seed)
    model = nn.Sequential(Block(args.dim, args.window), Block(args.dim, args.window))
    head = nn.Linear(args.dim, 1)
    optim = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=3e-3)
    for it in range(args.iters):
        x = torch.randn(6, args.window, args.dim)
        y = (x[:, 0] * x[:, -1]).sum(-1, keepdim=True)
        loss = nn.functional.mse_loss(head(model(x).mean(1)), y)
        optim.zero_grad()
        loss.backward()
        optim.step()
    print('loss %.6f table %.6f' % (loss.item(), model[0].attn.table.norm().item()))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--seed', type=int, default=4)
    parser.add_argument('--dim', type=int, default=8)
    parser.add_argument('--window', type=int, default=5)
    parser.add_argument('--iters', type=int, default=6)
    main(parser.parse_args())
