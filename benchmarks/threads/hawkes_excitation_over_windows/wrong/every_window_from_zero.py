# Online MLE of a multivariate Hawkes process with exponential kernels.
# lambda_d(t) = mu_d + sum_k alpha_dk * R_k(t),   R_k decays with beta_k and jumps by one at every event of type k
import math
import torch
from torch import nn
from torch.nn.functional import softplus

torch.manual_seed(20)
N_TYPES, N_EVENTS, WINDOW = 3, 120, 20


def fake_stream(n):
	"""bursty arrivals; good enough to see whether the likelihood goes up"""
	gaps = torch.empty(n).exponential_(2.0)
	gaps[::7] *= 5
	kinds = torch.randint(0, N_TYPES, (n,))
	kinds[1::3] = kinds[::3][: len(kinds[1::3])]
	return gaps, kinds


class Hawkes(nn.Module):
	def __init__(self, n):
		super().__init__()
		self.n = n
		self.raw_mu = nn.Parameter(torch.full((n,), -0.5))
		self.raw_alpha = nn.Parameter(torch.randn(n, n) * 0.3 - 1.0)
		self.raw_beta = nn.Parameter(torch.zeros(n))
		self.reset()

	def reset(self):
		self.excitation = torch.zeros(self.n)

	def rates(self):
		return softplus(self.raw_mu), softplus(self.raw_alpha), softplus(self.raw_beta) + 0.05

	def forward(self, gaps, kinds):
		"""negative log likelihood of one window, given everything before it"""
		mu, alpha, beta = self.rates()
		R = torch.zeros(self.n)
		nll = torch.zeros(())
		for dt, k in zip(gaps, kinds):
			# compensator over the gap
			left = torch.exp(-beta * dt)
			nll = nll + (mu * dt).sum() + (alpha @ (R * (1 - left) / beta)).sum()
			R = R * left
			lam = mu[k] + alpha[k] @ R
			nll = nll - torch.log(lam)
			R = R + torch.nn.functional.one_hot(k, self.n).float()
		# the next window starts where this one stopped
		self.excitation = R
		return nll / len(kinds)


class Fitter:
	def __init__(self, model, lr=0.05, clip=5.0):
		self.model = model
		self.clip = clip
		self.opt = torch.optim.Adam(model.parameters(), lr=lr)

	def window(self, gaps, kinds):
		self.opt.zero_grad()
		nll = self.model(gaps, kinds)
		nll.backward()
		nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
		self.opt.step()
		return nll.item()

	def epoch(self, gaps, kinds):
		self.model.reset()	# a new pass over the stream starts with an empty history
		out = []
		for i in range(0, len(gaps), WINDOW):
			out.append(self.window(gaps[i:i + WINDOW], kinds[i:i + WINDOW]))
		return out


gaps, kinds = fake_stream(N_EVENTS)
model = Hawkes(N_TYPES)
fitter = Fitter(model)
for ep in range(2):
	losses = fitter.epoch(gaps, kinds)
	print("epoch", ep, "nll", " ".join("%.5f" % l for l in losses))
	print("  left over excitation %.5f" % float(model.excitation.sum()))
mu, alpha, beta = model.rates()
print("mu %.5f  branching %.5f  beta %.5f" % (mu.mean().item(), (alpha / beta).sum(0).mean().item(), beta.mean().item()))
