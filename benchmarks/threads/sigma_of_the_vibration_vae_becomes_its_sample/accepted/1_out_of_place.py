# -*- coding: utf-8 -*-
# 轴承振动信号的异常检测: 只用正常样本训练 VAE, 用重构误差 + KL 打分
# (从 notebook 导出)

# In[1]:
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2023)
rng = np.random.default_rng(2023)

WIN = 48
LATENT = 5
EPOCHS = 6
BATCH = 32
FREE = 0.02          # 每一维的 free bits
WARMUP = 12          # KL 退火步数


# In[2]: 数据
def make_signal(n, fault=False):
    t = np.arange(WIN) / WIN
    f = rng.uniform(2.0, 3.0, size=(n, 1))
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1))
    x = np.sin(2 * np.pi * f * t + phase) + 0.3 * np.sin(4 * np.pi * f * t)
    if fault:                                   # 外圈故障: 周期性冲击
        start = rng.integers(0, 12, size=n)
        for i in range(n):
            x[i, start[i]::12] += rng.uniform(0.8, 1.5)
    return (x + 0.05 * rng.standard_normal(x.shape)).astype(np.float32)


train_x = torch.from_numpy(make_signal(320))
valid_x = torch.from_numpy(make_signal(96))
fault_x = torch.from_numpy(make_signal(96, fault=True))

# 标准化 (只用训练集统计量)
mean, std = train_x.mean(), train_x.std()
train_x, valid_x, fault_x = [(a - mean) / std for a in (train_x, valid_x, fault_x)]


# In[3]: 模型
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv1d(1, 8, 5, stride=2, padding=2), nn.ELU(),
            nn.Conv1d(8, 12, 5, stride=2, padding=2), nn.ELU(),
            nn.Flatten(),
        )
        self.fc_mu = nn.Linear(12 * WIN // 4, LATENT)
        self.fc_logvar = nn.Linear(12 * WIN // 4, LATENT)
        self.dec = nn.Sequential(
            nn.Linear(LATENT, 64), nn.ELU(),
            nn.Linear(64, WIN),
        )

    def encode(self, x):
        h = self.enc(x.unsqueeze(1))
        mu = self.fc_mu(h)
        sigma = torch.exp(0.5 * self.fc_logvar(h).clamp(-8, 4))
        return mu, sigma

    def sample(self, mu, sigma):
        eps = torch.randn_like(sigma)
        return mu + sigma * eps

    def forward(self, x):
        mu, sigma = self.encode(x)
        log_sigma = torch.log(sigma)
        if self.training:
            z = self.sample(mu, sigma)
        else:
            z = mu
        return self.dec(z), mu, sigma, log_sigma


def kl_per_dim(mu, sigma, log_sigma):
    return 0.5 * (mu ** 2 + sigma ** 2 - 1) - log_sigma


# In[4]: 训练
vae = VAE()
optimizer = torch.optim.AdamW(vae.parameters(), lr=3e-3, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)

step = 0
history = []
for epoch in range(EPOCHS):
    vae.train()
    perm = torch.randperm(len(train_x))
    run_rec = run_kl = 0.0
    for i in range(0, len(perm), BATCH):
        x = train_x[perm[i:i + BATCH]]
        x_hat, mu, sigma, log_sigma = vae(x)
        rec = F.mse_loss(x_hat, x, reduction='sum') / len(x)
        kl = kl_per_dim(mu, sigma, log_sigma).mean(0).clamp(min=FREE).sum()
        beta = min(1.0, (step + 1) / WARMUP)
        loss = rec + beta * kl

        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(vae.parameters(), 5.0)
        optimizer.step()
        step += 1
        run_rec += rec.item() * len(x) / len(train_x)
        run_kl += kl.item() * len(x) / len(train_x)
    scheduler.step()

    # 验证
    vae.eval()
    with torch.no_grad():
        x_hat, mu, sigma, log_sigma = vae(valid_x)
        v_rec = F.mse_loss(x_hat, valid_x, reduction='sum') / len(valid_x)
        v_kl = kl_per_dim(mu, sigma, log_sigma).mean(0).sum()
    history.append((v_rec + v_kl).item())
    print(f'epoch {epoch}: rec {run_rec:.5f} kl {run_kl:.5f} | valid rec {v_rec.item():.5f} kl {v_kl.item():.5f}')


# In[5]: 打分
def score(x):
    with torch.no_grad():
        x_hat, mu, sigma, log_sigma = vae(x)
        return ((x_hat - x) ** 2).sum(1) + kl_per_dim(mu, sigma, log_sigma).sum(1)


ok, bad = score(valid_x), score(fault_x)
threshold = np.percentile(ok.numpy(), 95)
print(f'best valid {min(history):.5f}')
print(f'threshold {threshold:.4f}  recall {(bad > threshold).float().mean().item():.4f}')
