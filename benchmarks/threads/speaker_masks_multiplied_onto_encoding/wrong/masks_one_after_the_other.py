import argparse
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F

# small time domain separator (encoder - masks - decoder), two speakers, permutation invariant SI-SNR
EPS = 1e-8


class Encoder(nn.Module):

    def __init__(self, L, N):
        super().__init__()
        self.conv = nn.Conv1d(1, N, kernel_size=L, stride=L // 2, bias=False)

    def forward(self, mixture):
        return F.relu(self.conv(mixture.unsqueeze(1)))      # B, N, K


class MaskNet(nn.Module):

    def __init__(self, N, C, hidden=20):
        super().__init__()
        self.C = C
        self.norm = nn.GroupNorm(1, N)
        self.net = nn.Sequential(nn.Conv1d(N, hidden, 3, padding=1), nn.PReLU(), nn.Conv1d(hidden, hidden, 3, padding=2, dilation=2), nn.PReLU(),
                                 nn.Conv1d(hidden, N * C, 1))

    def forward(self, w):
        B, N, K = w.shape
        return torch.sigmoid(self.net(self.norm(w)).view(B, self.C, N, K))


class TasNet(nn.Module):
    def __init__(self, L=8, N=16, C=2):
        super().__init__()
        self.L, self.C = L, C
        self.encoder = Encoder(L, N)
        self.masker = MaskNet(N, C)
        self.decoder = nn.ConvTranspose1d(N, 1, L, stride=L // 2, bias=False)

    def separate(self, mixture_w, masks):
        # each speaker = encoded mixture * mask of the speaker
        est = mixture_w
        sources = []
        for k in range(self.C):
            est = est * masks[:, k]
            sources.append(self.decoder(est).squeeze(1))
        return torch.stack(sources, dim=1)

    def forward(self, mixture):
        mixture_w = self.encoder(mixture)
        masks = self.masker(mixture_w)
        return self.separate(mixture_w, masks)


def si_snr(est, ref):
    est = est - est.mean(-1, keepdim=True)
    ref = ref - ref.mean(-1, keepdim=True)
    s = (est * ref).sum(-1, keepdim=True) * ref / (ref.pow(2).sum(-1, keepdim=True) + EPS)
    e = est - s
    return 10 * torch.log10(s.pow(2).sum(-1) / (e.pow(2).sum(-1) + EPS) + EPS)


def pit_loss(est, refs):
    C = refs.size(1)
    snrs = torch.stack([torch.stack([si_snr(est[:, i], refs[:, p]) for i, p in enumerate(perm)]).mean(0)
                        for perm in itertools.permutations(range(C))])
    return -snrs.max(0).values.mean()


class FakeSpeech:
    # two 'speakers' of different pitch; only so that the script runs without WSJ0-2mix

    def __init__(self, n):
        self.t = torch.arange(n).float()

    def batch(self, bs):
        def spk(lo, hi):
            f = torch.rand(bs, 1) * (hi - lo) + lo
            return torch.rand(bs, 1) * torch.sin(f * self.t + 6 * torch.rand(bs, 1)) + 0.02 * torch.randn(bs, len(self.t))
        refs = torch.stack([spk(0.1, 0.3), spk(0.9, 1.3)], dim=1)
        return refs.sum(1), refs


def run(cfg):
    torch.manual_seed(cfg.seed)
    data, model = FakeSpeech(cfg.samples), TasNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        mix, refs = data.batch(cfg.bs)
        loss = pit_loss(model(mix), refs)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.)
        optimizer.step()
        print('step', step, 'pit si-snr loss %.5f' % loss.item())
    model.eval()
    mix, refs = data.batch(cfg.bs)
    with torch.no_grad():
        print('held out %.5f' % pit_loss(model(mix), refs).item())


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--samples', type=int, default=120)
    p.add_argument('--bs', type=int, default=4)
    p.add_argument('--steps', type=int, default=6)
    p.add_argument('--lr', type=float, default=5e-3)
    p.add_argument('--seed', type=int, default=2)
    run(p.parse_args())
