"""DDPM on 8x8 blobs, with an auxiliary loss on the predicted clean image after dynamic thresholding (Imagen)."""
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def blobs(n, g):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 8), torch.linspace(-1, 1, 8), indexing="ij")
    c = torch.rand(n, 2, 1, 1, generator=g) * 1.2 - 0.6
    w = 0.1 + 0.2 * torch.rand(n, 1, 1, generator=g)
    img = torch.exp(-((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2) / w)
    return (2 * img - 1)[:, None]


class Schedule:
    def __init__(self, T):
        self.T = T
        beta = torch.linspace(1e-3, 0.2, T)
        self.abar = torch.cumprod(1 - beta, 0)

    def coef(self, t):
        a = self.abar[t].view(-1, 1, 1, 1)
        return a.sqrt(), (1 - a).sqrt()


class Denoiser(nn.Module):
    def __init__(self, ch, T):
        super().__init__()
        self.temb = nn.Embedding(T, ch)
        self.inp = nn.Conv2d(1, ch, 3, padding=1)
        self.mid = nn.Conv2d(ch, ch, 3, padding=1)
        self.out = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, x, t):
        h = F.silu(self.inp(x) + self.temb(t)[:, :, None, None])
        h = h + F.silu(self.mid(h))
        return self.out(h)


def dynamic_threshold(x0, q=0.95):
    """Saturated pixels are pushed inwards: clip at the q-quantile s of every image, then divide by s (s >= 1)."""
    flat = np.abs(x0.numpy()).reshape(len(x0), -1)
    s = np.percentile(flat, 100 * q, axis=1)
    s = torch.from_numpy(np.maximum(s, 1.0)).float().view(-1, 1, 1, 1)
    return torch.maximum(torch.minimum(x0, s), -s) / s


@torch.no_grad()
def sample(net, sch, n, gen):
    x = torch.randn(n, 1, 8, 8, generator=gen)
    for t in reversed(range(0, sch.T, 4)):
        tt = torch.full((n,), t)
        a, s = sch.coef(tt)
        eps = net(x, tt)
        x0 = dynamic_threshold((x - s * eps) / a)
        if t >= 4:
            a, s = sch.coef(tt - 4)
        else:
            a, s = torch.ones(1), torch.zeros(1)
        x = a * x0 + s * eps                 # DDIM
    return x


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=20)
    ap.add_argument("--bs", type=int, default=16)
    ap.add_argument("--ch", type=int, default=12)
    ap.add_argument("--T", type=int, default=24)
    ap.add_argument("--w_x0", type=float, default=0.5)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()

    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    sch = Schedule(args.T)
    net = Denoiser(args.ch, args.T)
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-4)
    warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: min(1.0, (i + 1) / 5))
    ema = {k: v.clone() for k, v in net.state_dict().items()}

    for step in range(args.steps):
        x = blobs(args.bs, gen)
        t = torch.randint(0, args.T, (args.bs,), generator=gen)
        noise = torch.randn(x.shape, generator=gen)
        a, s = sch.coef(t)
        noisy = a * x + s * noise
        eps = net(noisy, t)
        loss_eps = F.mse_loss(eps, noise)
        x0 = (noisy - s * eps.detach()) / a
        loss_x0 = F.l1_loss(dynamic_threshold(x0), x)
        loss = loss_eps + args.w_x0 * loss_x0
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        warm.step()
        with torch.no_grad():
            for k, v in net.state_dict().items():
                ema[k].lerp_(v, 0.1)
        if step % 5 == 0:
            print("step %d eps %.6f x0 %.6f" % (step, loss_eps.item(), loss_x0.item()))

    net.load_state_dict(ema)
    imgs = sample(net, sch, 8, gen)
    print("samples: mean %.5f std %.5f" % (imgs.mean().item(), imgs.std().item()))


if __name__ == "__main__":
    main()
