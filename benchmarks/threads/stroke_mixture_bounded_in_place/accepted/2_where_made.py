# -*- coding: utf-8 -*-
# 手写轨迹生成 (Graves 2013): LSTM + 二维高斯混合输出层
import argparse
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class HandwritingRNN(nn.Module):
    def __init__(self, hidden=24, n_mix=4):
        super().__init__()
        self.n_mix = n_mix
        self.rnn = nn.LSTM(3, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 6 * n_mix + 1)

    def forward(self, strokes, state=None):
        h, state = self.rnn(strokes, state)
        out = self.head(h)
        eos = torch.sigmoid(out[..., 0])
        pi, mu1, mu2, s1, s2, rho = out[..., 1:].chunk(6, dim=-1)
        sigma1, sigma2 = torch.exp(s1).clamp(min=0.05), torch.exp(s2).clamp(min=0.05)
        rho = torch.tanh(rho) * 0.98
        # 数值稳定: 方差不能太小, 相关系数不能等于 ±1
        return (F.log_softmax(pi, -1), mu1, mu2, sigma1, sigma2, rho, eos), state


def mdn_loss(params, target):
    """负对数似然"""
    log_pi, mu1, mu2, sigma1, sigma2, rho, eos = params
    e, x1, x2 = [t.unsqueeze(-1) for t in target.unbind(-1)]
    z1, z2 = (x1 - mu1) / sigma1, (x2 - mu2) / sigma2
    one_minus = 1 - rho ** 2
    Z = z1 ** 2 + z2 ** 2 - 2 * rho * z1 * z2
    log_n = -Z / (2 * one_minus) - torch.log(2 * math.pi * sigma1 * sigma2 * one_minus.sqrt())
    nll = -torch.logsumexp(log_pi + log_n, -1)
    bce = F.binary_cross_entropy(eos.clamp(1e-6, 1 - 1e-6), e.squeeze(-1))
    return nll.mean() + bce


def fake_strokes(n, length):
    phase = torch.rand(n, 1) * 6.28
    t = torch.arange(length + 1).float()
    dx = 0.3 * torch.cos(0.7 * t + phase) + 0.05 * torch.randn(n, length + 1)
    dy = 0.3 * torch.sin(0.7 * t + phase) + 0.05 * torch.randn(n, length + 1)
    pen = ((t % 6) == 5).float().expand(n, -1)
    return torch.stack([pen, dx, dy], -1)


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = HandwritingRNN()
        self.opt = torch.optim.RMSprop(self.model.parameters(), lr=args.lr, alpha=0.95, momentum=0.5)

    def run(self):
        for step in range(1, self.args.steps + 1):
            s = fake_strokes(self.args.batch, 14)
            params, _ = self.model(s[:, :-1])
            loss = mdn_loss(params, s[:, 1:])
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(self.model.parameters(), 10.)
            self.opt.step()
            if step % 3 == 0:
                print('step {:2d} | loss {:.5f} | sigma {:.5f} rho {:.5f}'.format(
                    step, loss.item(), params[3].mean().item(), params[5].abs().mean().item()))


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--steps', type=int, default=9)
    ap.add_argument('--batch', type=int, default=12)
    ap.add_argument('--lr', type=float, default=4e-3)
    torch.manual_seed(2013)
    Trainer(ap.parse_args()).run()
