import math, sys
import torch
from torch import nn
import torch.nn.functional as F

# relation classifier over detected regions, sparse attention (weak links are cut *after* the softmax,
# what they had is lost on purpose: "attention to nobody")


def sinus(n, d):
	pos = torch.arange(n).unsqueeze(1)
	freq = torch.exp(torch.arange(0, d, 2) * (-math.log(1000.) / d))
	pe = torch.zeros(n, d)
	pe[:, 0::2] = torch.sin(pos * freq)
	pe[:, 1::2] = torch.cos(pos * freq)
	return pe


class CutAttention(nn.Module):
	def __init__(self, dim, heads=2, threshold=0.12):
		super().__init__()
		self.heads, self.threshold = heads, threshold
		self.qkv = nn.Linear(dim, 3 * dim)
		self.proj = nn.Linear(dim, dim)
		self.kept = None

	def forward(self, x, pad):
		B, N, D = x.shape
		q, k, v = self.qkv(x).view(B, N, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
		scores = q @ k.transpose(-1, -2) / math.sqrt(D // self.heads)
		scores = scores.masked_fill(pad[:, None, None, :], -1e9)
		attn = F.softmax(scores, dim=-1)
		attn = attn.detach()
		attn[attn < self.threshold] = 0.
		self.kept = (attn > 0).float().mean().item()
		out = (attn @ v).transpose(1, 2).reshape(B, N, D)
		return self.proj(out)


class Block(nn.Module):
	def __init__(self, dim):
		super().__init__()
		self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
		self.attn = CutAttention(dim)
		self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

	def forward(self, x, pad):
		x = x + self.attn(self.n1(x), pad)
		return x + self.ff(self.n2(x))


class RegionNet(nn.Module):
	def __init__(self, feat=10, dim=16, classes=4, depth=2, max_regions=12):
		super().__init__()
		self.inp = nn.Linear(feat, dim)
		self.register_buffer('pe', sinus(max_regions, dim))
		self.blocks = nn.ModuleList([Block(dim) for _ in range(depth)])
		self.cls = nn.Linear(dim, classes)

	def forward(self, feats, pad):
		x = self.inp(feats) + self.pe[:feats.size(1)]
		for b in self.blocks:
			x = b(x, pad)
		keep = (~pad).float().unsqueeze(-1)
		return self.cls((x * keep).sum(1) / keep.sum(1))


def fake_regions(bs, n=9, feat=10):
	x = torch.randn(bs, n, feat)
	lens = torch.randint(4, n + 1, (bs,))
	pad = torch.arange(n)[None] >= lens[:, None]
	y = (x[:, 0, :4] + x[:, 1, :4]).argmax(1)
	return x, pad, y


def main(steps=6):
	torch.manual_seed(17)
	net = RegionNet()
	opt = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=0.01)
	for s in range(steps):
		x, pad, y = fake_regions(16)
		loss = F.cross_entropy(net(x, pad), y)
		opt.zero_grad()
		loss.backward()
		opt.step()
		print('step', s, 'loss %.6f' % loss.item(), 'kept', ' '.join('%.4f' % b.attn.kept for b in net.blocks))


if __name__ == '__main__':
	main(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
