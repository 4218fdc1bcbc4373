# 一步扩散超分（玩具版）：生成器 + 正则化 LoRA，VSD 损失
import torch
import torch.nn as nn
import torch.nn.functional as F
from types import SimpleNamespace

cfg = SimpleNamespace(dim=8, hidden=16, bsz=6, steps=6, lr=3e-3, lr_reg=3e-3, lambda_vsd=0.5, lambda_lpips=2.0, seed=0)


class LoRALinear(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(0.1 * torch.randn(rank, base.in_features))
        self.B = nn.Parameter(0.1 * torch.randn(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.A.t() @ self.B.t()


class Unet(nn.Module):
    """噪声预测网络；lora=False 时是冻结的预训练模型"""

    def __init__(self, base, lora):
        super().__init__()
        l1, l2 = base
        if lora:
            self.l1, self.l2 = LoRALinear(l1), LoRALinear(l2)
        else:
            self.l1, self.l2 = l1, l2

    def forward(self, z, t):
        return self.l2(torch.tanh(self.l1(torch.cat([z, t], 1))))


class Generator(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.encoder = nn.Linear(dim, hidden)
        self.unet = nn.Linear(hidden, dim)
        self.decoder = nn.Linear(dim, dim)

    def forward(self, lq):
        latents = self.unet(torch.tanh(self.encoder(lq)))
        return latents, self.decoder(latents)


def add_noise(latents, noise, alphas):
    return alphas.sqrt() * latents + (1 - alphas).sqrt() * noise


def main():
    torch.manual_seed(cfg.seed)
    base = [nn.Linear(cfg.dim + 1, cfg.hidden), nn.Linear(cfg.hidden, cfg.dim)]
    for m in base:
        m.requires_grad_(False)
    frozen, reg = Unet(base, lora=False), Unet(base, lora=True)
    gen = Generator(cfg.dim, cfg.hidden)
    perceptual = nn.Linear(cfg.dim, 5).requires_grad_(False)

    opt_gen = torch.optim.AdamW(gen.parameters(), lr=cfg.lr)
    opt_reg = torch.optim.AdamW([p for p in reg.parameters() if p.requires_grad], lr=cfg.lr_reg)
    hq_all = torch.tanh(torch.randn(cfg.bsz * cfg.steps, cfg.dim))

    for step in range(cfg.steps):
        hq = hq_all[step * cfg.bsz:(step + 1) * cfg.bsz]
        lq = hq + 0.3 * torch.randn_like(hq)
        latents, image = gen(lq)

        # 数据项
        loss_mse = F.mse_loss(image, hq)
        loss_lpips = F.mse_loss(perceptual(image), perceptual(hq))
        # VSD：两个分数之差，是常数
        t = torch.rand(cfg.bsz, 1)
        alphas = 1 - 0.9 * t
        noise = torch.randn_like(latents)
        noisy = add_noise(latents, noise, alphas)
        noise_pred_reg = reg(noisy, t)
        with torch.no_grad():
            grad = (1 - alphas) * (noise_pred_reg - frozen(noisy, t))
        loss_vsd = (latents * grad).sum(1).mean()
        loss_gen = loss_mse + cfg.lambda_lpips * loss_lpips + cfg.lambda_vsd * loss_vsd

        opt_gen.zero_grad()
        loss_gen.backward(retain_graph=True)
        opt_gen.step()

        # loss_diff 只更新 reg
        loss_diff = F.mse_loss(noise_pred_reg, noise)
        opt_reg.zero_grad()
        loss_diff.backward()
        opt_reg.step()
        print(f"step {step}: data {loss_mse.item() + loss_lpips.item():.6f} vsd {loss_vsd.item():.6f} diff {loss_diff.item():.6f}")


if __name__ == "__main__":
    main()
