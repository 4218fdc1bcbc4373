import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

parser = argparse.ArgumentParser(description="small T5-like encoder, masked token prediction")
parser.add_argument("--vocab", type=int, default=19)
parser.add_argument("--d_model", type=int, default=16)
parser.add_argument("--heads", type=int, default=2)
parser.add_argument("--layers", type=int, default=3)
parser.add_argument("--seq_len", type=int, default=12)
parser.add_argument("--num_buckets", type=int, default=8)
parser.add_argument("--max_distance", type=int, default=16)
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--steps", type=int, default=6)
parser.add_argument("--lr", type=float, default=5e-3)
parser.add_argument("--no_checkpoint", action="store_true")
args = parser.parse_args()


class SharedState:
	"""what the layers of one forward share: the position bias is the same for all of them"""
	def __init__(self):
		self.position_bias = None


def relative_bucket(rel, num_buckets, max_distance):
	num_buckets //= 2
	out = (rel > 0).long() * num_buckets
	n = rel.abs()
	exact = num_buckets // 2
	large = exact + (torch.log(n.float().clamp(min=1) / exact) / math.log(max_distance / exact) * (num_buckets - exact)).long()
	return out + torch.where(n < exact, n, large.clamp(max=num_buckets - 1))


class RelativeBias(nn.Module):
	def __init__(self, heads, num_buckets, max_distance):
		super().__init__()
		self.num_buckets, self.max_distance = num_buckets, max_distance
		self.emb = nn.Embedding(num_buckets, heads)

	def forward(self, length):
		pos = torch.arange(length)
		bucket = relative_bucket(pos[None] - pos[:, None], self.num_buckets, self.max_distance)
		return self.emb(bucket).permute(2, 0, 1).unsqueeze(0)


class Block(nn.Module):
	def __init__(self, d, heads, rel_bias):
		super().__init__()
		self.heads = heads
		self.rel_bias = rel_bias  # one table for all the blocks
		self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
		self.qkv, self.o = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
		self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

	def forward(self, x, state):
		B, T, D = x.shape
		q, k, v = self.qkv(self.ln1(x)).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
		att = torch.softmax(q @ k.transpose(-1, -2) + self.rel_bias(T), -1)
		x = x + self.o((att @ v).transpose(1, 2).reshape(B, T, D))
		return x + self.ff(self.ln2(x))


class Encoder(nn.Module):
	def __init__(self, args):
		super().__init__()
		self.args = args
		self.tok = nn.Embedding(args.vocab, args.d_model)
		self.rel_bias = RelativeBias(args.heads, args.num_buckets, args.max_distance)
		self.blocks = nn.ModuleList([Block(args.d_model, args.heads, self.rel_bias) for _ in range(args.layers)])
		self.norm = nn.LayerNorm(args.d_model)

	def forward(self, ids):
		x = self.tok(ids)
		state = SharedState()
		for block in self.blocks:
			if self.training and not self.args.no_checkpoint:
				x = checkpoint(block, x, state, use_reentrant=False)
			else:
				x = block(x, state)
		return self.norm(x) @ self.tok.weight.t()


def batches(args):
	for _ in range(args.steps):
		start = torch.randint(1, args.vocab, (args.batch_size, 1))
		ids = (start + 3 * torch.arange(args.seq_len)) % (args.vocab - 1) + 1
		mask = torch.rand(ids.shape) < 0.25
		yield ids.masked_fill(mask, 0), ids, mask


def main():
	torch.manual_seed(8)
	model = Encoder(args)
	optim = torch.optim.Adam(model.parameters(), lr=args.lr)
	model.train()
	for step, (inp, tgt, mask) in enumerate(batches(args)):
		loss = F.cross_entropy(model(inp)[mask], tgt[mask])
		optim.zero_grad()
		loss.backward()
		optim.step()
		print("step %d loss %.6f bias %.6f" % (step, loss.item(), model.rel_bias.emb.weight.norm().item()))


if __name__ == "__main__":
	main()
