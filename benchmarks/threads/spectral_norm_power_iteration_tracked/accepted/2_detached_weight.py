import torch, torch.nn as nn, torch.nn.functional as F
from torch import optim

def l2n(v, eps=1e-12): return v/(v.norm()+eps)

class SNLinear(nn.Module):
	"""linear layer, weight divided by its largest singular value (Miyato et al.), one power iteration per forward"""
	def __init__(self, i, o):
		super().__init__()
		self.weight=nn.Parameter(torch.randn(o, i)*0.3)
		self.bias=nn.Parameter(torch.zeros(o))
		self.register_buffer('u', l2n(torch.randn(o)))
	def power_iteration(self, W):
		v=l2n(W.t().mv(self.u))
		u=l2n(W.mv(v))
		self.u=u
		return u, v
	def forward(self, x):
		u, v=self.power_iteration(self.weight.detach())
		sigma=u.dot(self.weight.mv(v))
		return F.linear(x, self.weight/sigma, self.bias)

class D(nn.Module):
	def __init__(self):
		super().__init__()
		self.l1=SNLinear(2, 24); self.l2=SNLinear(24, 24); self.l3=SNLinear(24, 1)
	def forward(self, x):
		x=F.leaky_relu(self.l1(x), .1); x=F.leaky_relu(self.l2(x), .1)
		return self.l3(x)

class G(nn.Module):
	def __init__(self, nz=4):
		super().__init__()
		self.nz=nz
		self.net=nn.Sequential(nn.Linear(nz, 24), nn.ReLU(), nn.Linear(24, 2))
	def sample(self, n): return self.net(torch.randn(n, self.nz))

def real(n):
	a=torch.rand(n)*6.2832
	return torch.stack([a.cos(), a.sin()], 1)*2+0.05*torch.randn(n, 2)

class Trainer:
	def __init__(self, cfg):
		self.cfg=cfg
		self.G, self.D=G(), D()
		self.oG=optim.Adam(self.G.parameters(), cfg['lr_g'], betas=(0., .9))
		self.oD=optim.Adam(self.D.parameters(), cfg['lr_d'], betas=(0., .9))
	def d_step(self):
		self.oD.zero_grad()
		with torch.no_grad(): fake=self.G.sample(self.cfg['bs'])
		out=self.D(torch.cat([real(self.cfg['bs']), fake]))
		r, f=out.chunk(2)
		loss=F.relu(1-r).mean()+F.relu(1+f).mean()
		loss.backward(); self.oD.step()
		return loss.item()
	def g_step(self):
		self.oG.zero_grad()
		loss=-self.D(self.G.sample(self.cfg['bs'])).mean()
		loss.backward(); self.oG.step()
		return loss.item()
	def fit(self):
		for it in range(self.cfg['iters']):
			for _ in range(self.cfg['n_dis']): d=self.d_step()
			g=self.g_step()
			if it%3==2: print('%d D %.5f G %.5f'%(it+1, d, g))

if __name__=='__main__':
	torch.manual_seed(3)
	Trainer(dict(lr_g=2e-3, lr_d=4e-3, bs=32, iters=6, n_dis=2)).fit()
