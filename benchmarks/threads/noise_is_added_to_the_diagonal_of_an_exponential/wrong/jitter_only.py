# -*- coding: utf-8 -*-
# ガウス過程回帰 : 周辺尤度最大化によるハイパーパラメータ推定
# (notebook から書き出したもの)
import numpy as np
import torch

torch.manual_seed(0)
np.random.seed(0)

# In[1]: データ
N = 40
X_train = np.sort(np.random.uniform(-3, 3, (N, 1)), axis=0)
y_train = np.sin(1.5 * X_train[:, 0]) + 0.3 * X_train[:, 0] + 0.15 * np.random.randn(N)
X_test = np.linspace(-3, 3, 25)[:, None]
y_test = np.sin(1.5 * X_test[:, 0]) + 0.3 * X_test[:, 0]

to_t = lambda a: torch.tensor(a, dtype=torch.float64)
X_train, y_train, X_test, y_test = map(to_t, (X_train, y_train, X_test, y_test))


# In[2]: モデル
class GPR(torch.nn.Module):
	def __init__(self, X, y):
		super().__init__()
		self.X, self.y = X, y
		# log で持つ (正の値にするため)
		self.log_amp = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
		self.log_len = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
		self.log_noise = torch.nn.Parameter(torch.tensor(-1.0, dtype=torch.float64))

	def kernel(self, A, B):
		d2 = (A[:, None, :] - B[None, :, :]).pow(2).sum(-1)
		return torch.exp(self.log_amp - 0.5 * d2 / torch.exp(2 * self.log_len))

	def train_cov(self):
		K = self.kernel(self.X, self.X)
		# 対角にノイズ分散を足す
		K = K + 1e-2 * torch.eye(len(self.X), dtype=K.dtype)
		return K

	def nll(self):
		L = torch.linalg.cholesky(self.train_cov())
		alpha = torch.cholesky_solve(self.y[:, None], L)[:, 0]
		return 0.5 * self.y @ alpha + torch.log(torch.diagonal(L)).sum() + 0.5 * len(self.y) * np.log(2 * np.pi)

	@torch.no_grad()
	def predict(self, Xs):
		L = torch.linalg.cholesky(self.train_cov())
		Ks = self.kernel(self.X, Xs)
		return (Ks.T @ torch.cholesky_solve(self.y[:, None], L))[:, 0]


# In[3]: 学習
gp = GPR(X_train, y_train)
opt = torch.optim.Adam(gp.parameters(), lr=0.05)
for it in range(60):
	opt.zero_grad()
	loss = gp.nll()
	loss.backward()
	opt.step()
	if it % 10 == 0 or it == 59:
		print('%3d nll=%.6f amp=%.6f len=%.6f noise=%.6f' % (
			it, loss.item(), gp.log_amp.exp().item(), gp.log_len.exp().item(), gp.log_noise.exp().item()))

# In[4]: 評価
rmse = (gp.predict(X_test) - y_test).pow(2).mean().sqrt()
print('RMSE %.6f' % rmse.item())
