# -*- coding: utf-8 -*-
"""
非負値行列因子分解 (NMF) で混合音を分離するスクリプト
振幅スペクトログラム V ≈ W H を β ダイバージェンスの勾配法で解く
"""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn


def synth(seconds=0.5, sr=4000, seed=0):
    """2つの楽器: 倍音の違う音が別々のリズムで鳴る"""
    rng = np.random.RandomState(seed)
    t = np.arange(int(seconds * sr)) / sr
    gate1 = (np.floor(t * 8) % 2 == 0).astype(float)
    gate2 = (np.floor(t * 12) % 3 == 0).astype(float)
    a = gate1 * sum(np.sin(2 * np.pi * 220 * k * t) / k for k in (1, 2, 3))
    b = gate2 * sum(np.sin(2 * np.pi * 330 * k * t) / k for k in (1, 3))
    return (a + b + 0.01 * rng.randn(len(t))).astype(np.float32), sr


def spectrogram(wav, n_fft=128, hop=64):
    x = torch.from_numpy(wav)
    s = torch.stft(x, n_fft, hop, window=torch.hann_window(n_fft), return_complex=True)
    return s.abs() + 1e-4


class NMF(nn.Module):
    def __init__(self, n_freq, n_frames, rank, scale):
        super().__init__()
        s = math.sqrt(scale / rank)
        self.W = nn.Parameter(s * (0.5 + torch.rand(n_freq, rank)))   # 基底
        self.H = nn.Parameter(s * (0.5 + torch.rand(rank, n_frames)))  # アクティベーション

    def forward(self):
        return self.W @ self.H + 1e-4


def kl_divergence(V, R):
    R = R.clamp(min=1e-4)
    return (V * (V.log() - R.log()) - V + R).mean()


class Separator:
    def __init__(self, V, args):
        self.V, self.args = V, args
        self.model = NMF(V.shape[0], V.shape[1], args.rank, V.mean().item())
        self.opt = torch.optim.Adam(self.model.parameters(), lr=args.lr)

    def project(self):
        """負の値を 0 に切り, 基底を正規化して H で補う (積 WH は変わらない)"""
        m = self.model
        W, H = m.W.clone(), m.H.clone()
        W[W < 0] = 0
        H[H < 0] = 0
        norm = W.amax(0) + 1e-8
        W /= norm
        H *= norm[:, None]

    def fit(self):
        for it in range(self.args.iters):
            R = self.model()
            kl = kl_divergence(self.V, R)
            sparse = self.model.H.abs().mean()
            loss = kl + self.args.sparse * sparse
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if it % self.args.every == 0:
                self.project()
            if it % 8 == 0:
                print("iter %d  KL %.6f  sparse %.6f" % (it, kl.item(), sparse.item()))

    def masks(self):
        """Wiener マスク"""
        with torch.no_grad():
            R = self.model()
            return [torch.outer(self.model.W[:, k], self.model.H[k]) / R for k in range(self.args.rank)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rank", type=int, default=4)
    ap.add_argument("--iters", type=int, default=33)
    ap.add_argument("--every", type=int, default=1, help="射影の間隔")
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--sparse", type=float, default=0.01)
    ap.add_argument("--seed", type=int, default=9)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    wav, sr = synth(seed=args.seed)
    sep = Separator(spectrogram(wav), args)
    sep.fit()
    for k, mask in enumerate(sep.masks()):
        print("component %d: share %.6f" % (k, mask.mean().item()))
    print("negative entries: %d" % int((sep.model.W < 0).sum() + (sep.model.H < 0).sum()))


if __name__ == "__main__":
    main()
