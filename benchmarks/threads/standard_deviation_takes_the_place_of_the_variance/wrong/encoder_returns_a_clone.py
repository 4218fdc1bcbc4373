# -*- coding: utf-8 -*-
# 变分自编码器 (VAE) 小例子: 8x8 的条纹图片
import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)
np.random.seed(0)

BATCH = 32
EPOCHS = 6
Z_DIM = 4


def get_batches():
    """随机生成横条纹/竖条纹"""
    imgs = np.zeros((192, 8, 8), dtype=np.float32)
    for i in range(len(imgs)):
        k = np.random.randint(0, 8)
        if np.random.rand() < 0.5:
            imgs[i, k, :] = 1
        else:
            imgs[i, :, k] = 1
    data = torch.from_numpy(imgs.reshape(len(imgs), -1))
    return data.split(BATCH)


class Encoder(nn.Module):
    def __init__(self):
        super(Encoder, self).__init__()
        self.fc = nn.Linear(64, 48)
        self.fc_mu = nn.Linear(48, Z_DIM)
        self.fc_var = nn.Linear(48, Z_DIM)

    def forward(self, x):
        h = F.relu(self.fc(x))
        mu = self.fc_mu(h)
        var = torch.exp(self.fc_var(h)).clone()      # 方差
        return mu, var


class Decoder(nn.Module):
    def __init__(self):
        super(Decoder, self).__init__()
        self.fc1 = nn.Linear(Z_DIM, 48)
        self.fc2 = nn.Linear(48, 64)

    def forward(self, z):
        return torch.sigmoid(self.fc2(F.relu(self.fc1(z))))


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.encoder = Encoder()
        self.decoder = Decoder()

    def reparameterize(self, mu, var):
        std = var.sqrt_()                    # 标准差
        eps = torch.randn_like(mu)
        return mu + eps * std

    def forward(self, x):
        mu, var = self.encoder(x)
        z = self.reparameterize(mu, var)
        return self.decoder(z), mu, var


def loss_function(recon, x, mu, var):
    bce = F.binary_cross_entropy(recon, x, reduction='sum')
    # KL(q||p) = 0.5 * sum(mu^2 + var - 1 - log var)
    kld = 0.5 * torch.sum(mu.pow(2) + var - 1 - torch.log(var))
    return (bce + kld) / x.size(0), kld / x.size(0)


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
batches = get_batches()

for epoch in range(EPOCHS):
    total, total_kl = 0.0, 0.0
    for x in batches:
        recon, mu, var = model(x)
        loss, kl = loss_function(recon, x, mu, var)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        total_kl += kl.item()
    print('epoch %d  loss %.6f  kl %.6f' % (epoch, total / len(batches), total_kl / len(batches)))
