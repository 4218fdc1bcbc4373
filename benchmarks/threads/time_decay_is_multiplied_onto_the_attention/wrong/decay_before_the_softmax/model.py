import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class TimeAwareAttention(nn.Module):
	"""multi-head self attention, the weights fade with the time between two clicks"""

	def __init__(self, hidden, heads, dropout):
		super().__init__()
		assert hidden % heads == 0
		self.heads, self.d = heads, hidden // heads
		self.q = nn.Linear(hidden, hidden)
		self.k = nn.Linear(hidden, hidden)
		self.v = nn.Linear(hidden, hidden)
		self.log_tau = nn.Parameter(torch.zeros(heads))
		self.dropout = nn.Dropout(dropout)

	def split(self, x):
		b, n, _ = x.shape
		return x.view(b, n, self.heads, self.d).transpose(1, 2)

	def forward(self, x, times, pad):
		b, n, _ = x.shape
		q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
		scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d)

		# causal mask + padding mask
		causal = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
		scores.masked_fill_(causal, -1e9)
		scores.masked_fill_(pad[:, None, None, :], -1e9)

		# time decay: exp(-dt / tau), one tau per head
		dt = (times[:, None, :, None] - times[:, None, None, :]).clamp(min=0)
		decay = torch.exp(-dt / self.log_tau.exp().view(1, -1, 1, 1))
		attn = F.softmax(scores * decay, dim=-1)

		out = torch.matmul(self.dropout(attn), v)
		return out.transpose(1, 2).reshape(b, n, -1)


class SASRecTime(nn.Module):
	def __init__(self, n_items, max_len, hidden=32, heads=2, layers=2, dropout=0.1):
		super().__init__()
		self.item_emb = nn.Embedding(n_items + 1, hidden, padding_idx=0)
		self.pos_emb = nn.Embedding(max_len, hidden)
		self.drop = nn.Dropout(dropout)
		self.attn = nn.ModuleList([TimeAwareAttention(hidden, heads, dropout) for _ in range(layers)])
		self.norm1 = nn.ModuleList([nn.LayerNorm(hidden) for _ in range(layers)])
		self.norm2 = nn.ModuleList([nn.LayerNorm(hidden) for _ in range(layers)])
		self.ffn = nn.ModuleList([nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, hidden)) for _ in range(layers)])
		self.out_norm = nn.LayerNorm(hidden)

	def forward(self, seq, times):
		pad = seq == 0
		x = self.item_emb(seq) * math.sqrt(self.item_emb.embedding_dim)
		x = self.drop(x + self.pos_emb(torch.arange(seq.size(1))))
		for attn, n1, n2, ffn in zip(self.attn, self.norm1, self.norm2, self.ffn):
			x = x + attn(n1(x), times, pad)
			x = x + ffn(n2(x))
		x = self.out_norm(x)
		return torch.matmul(x, self.item_emb.weight.t())
