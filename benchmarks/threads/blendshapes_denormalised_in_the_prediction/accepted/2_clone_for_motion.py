# 语音驱动的人脸 blendshape 扩散模型(小规模复现)
import math
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 7
N_COEF, N_AUDIO, WINDOW = 12, 8, 20
T_STEPS = 50


class BlendshapeStats:
    """每个系数的均值和标准差, 用于归一化"""

    def __init__(self, coeffs):
        self.mean = coeffs.mean(dim=(0, 1))
        self.std = coeffs.std(dim=(0, 1)) * 2.5 + 1e-4

    def normalise(self, coeffs):
        return ((coeffs - self.mean) / self.std).clamp(-1, 1)

    def denormalise(self, coeffs):
        coeffs *= self.std
        coeffs += self.mean
        return coeffs


def synthetic_clips(n):
    g = torch.Generator().manual_seed(2024)
    t = torch.linspace(0, 2 * math.pi, WINDOW)
    phase = torch.rand(n, 1, N_AUDIO, generator=g) * 6
    audio = torch.sin(t[None, :, None] * torch.arange(1, N_AUDIO + 1) * 0.5 + phase)
    mix = torch.randn(N_AUDIO, N_COEF, generator=g) * 0.3
    coeffs = torch.sigmoid(audio @ mix - 0.5)
    return audio, coeffs


def timestep_embedding(t, dim):
    freqs = torch.exp(-math.log(1000) * torch.arange(dim // 2) / (dim // 2))
    ang = t[:, None].float() * freqs
    return torch.cat([ang.sin(), ang.cos()], -1)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.norm = nn.GroupNorm(4, dim)
        self.time = nn.Linear(dim, dim)

    def forward(self, h, emb):
        return h + F.silu(self.norm(self.conv(h)) + self.time(emb)[..., None])


class Denoiser(nn.Module):
    """预测干净的(归一化)系数, 取值范围 [-1, 1]"""

    def __init__(self, dim=16):
        super().__init__()
        self.dim = dim
        self.inp = nn.Conv1d(N_COEF + N_AUDIO, dim, 1)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(2))
        self.out = nn.Conv1d(dim, N_COEF, 1)

    def forward(self, noisy, t, audio):
        emb = timestep_embedding(t, self.dim)
        h = self.inp(torch.cat([noisy, audio], -1).transpose(1, 2))
        for blk in self.blocks:
            h = blk(h, emb)
        return torch.tanh(self.out(h)).transpose(1, 2)


class Trainer:
    def __init__(self, w_vel=4.0):
        self.audio, self.coeffs = synthetic_clips(24)
        self.stats = BlendshapeStats(self.coeffs)
        self.model = Denoiser()
        self.ema = copy.deepcopy(self.model)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=2e-3)
        betas = torch.linspace(1e-3, 0.1, T_STEPS)
        self.abar = torch.cumprod(1 - betas, 0)
        self.w_vel = w_vel
        self.gen = torch.Generator().manual_seed(SEED)

    def q_sample(self, x0, t):
        a = self.abar[t].view(-1, 1, 1)
        return a.sqrt() * x0 + (1 - a).sqrt() * torch.randn(x0.shape, generator=self.gen)

    def losses(self, audio, raw):
        x0 = self.stats.normalise(raw)
        t = torch.randint(0, T_STEPS, (len(raw),), generator=self.gen)
        pred = self.model(self.q_sample(x0, t), t, audio)
        motion = self.stats.denormalise(pred.clone())
        # 速度损失: 在原始系数空间中比较相邻帧之差
        loss_vel = F.mse_loss(motion[:, 1:] - motion[:, :-1], raw[:, 1:] - raw[:, :-1])
        # 重建损失: 在归一化空间中
        loss_rec = F.l1_loss(pred, x0)
        return loss_rec, loss_vel

    @torch.no_grad()
    def update_ema(self, decay=0.9):
        for e, p in zip(self.ema.parameters(), self.model.parameters()):
            e.mul_(decay).add_(p, alpha=1 - decay)

    def train(self, epochs=2, bs=6):
        for ep in range(epochs):
            for i in range(0, len(self.audio), bs):
                rec, vel = self.losses(self.audio[i:i + bs], self.coeffs[i:i + bs])
                loss = rec + self.w_vel * vel
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.update_ema()
            print("epoch {}: rec={:.5f} vel={:.5f}".format(ep, rec.item(), vel.item()))


if __name__ == '__main__':
    torch.manual_seed(SEED)
    Trainer().train()
