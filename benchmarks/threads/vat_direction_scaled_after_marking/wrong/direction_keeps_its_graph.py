import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


# ----- gradient reversal -------------------------------------------------
class _GRL(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


class VADA(nn.Module):
    def __init__(self, d=12, c=3):
        super().__init__()
        self.feat = nn.Sequential(nn.Linear(d, 32), nn.LeakyReLU(0.1), nn.Linear(32, 16), nn.LeakyReLU(0.1))
        self.cls = nn.Linear(16, c)
        self.dom = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.cls(self.feat(x))

    def domain(self, x, lam):
        return self.dom(_GRL.apply(self.feat(x), lam)).squeeze(1)


def l2_normalize(d):
    n = d.pow(2).sum(dim=1, keepdim=True).sqrt()
    return d / (n + 1e-8)


def kl(p_logits, q_logits):
    return F.kl_div(F.log_softmax(q_logits, 1), F.softmax(p_logits, 1), reduction='batchmean')


class VATLoss:
    """ 仮想敵対的学習. xi: finite difference, eps: 摂動の大きさ, ip: power iterations """

    def __init__(self, xi=0.5, eps=1.0, ip=1):
        self.xi, self.eps, self.ip = xi, eps, ip

    def __call__(self, model, x):
        with torch.no_grad():
            pred = model(x)
        d = torch.randn(x.shape)
        for _ in range(self.ip):
            d = d.requires_grad_()
            r = self.xi * l2_normalize(d)
            adv_distance = kl(pred, model(x + r))
            d = torch.autograd.grad(adv_distance, r, create_graph=True)[0]
        r_adv = self.eps * l2_normalize(d)
        return kl(pred, model(x + r_adv))


def entropy(logits):
    p = F.softmax(logits, 1)
    return -(p * F.log_softmax(logits, 1)).sum(1).mean()


def batches(n, bs, gen):
    centers = torch.randn(3, 12, generator=torch.Generator().manual_seed(1)) * 2
    rot = torch.linalg.qr(torch.randn(12, 12, generator=torch.Generator().manual_seed(2)))[0]
    for _ in range(n):
        ys, yt = torch.randint(0, 3, (bs,), generator=gen), torch.randint(0, 3, (bs,), generator=gen)
        xs = centers[ys] + 0.5 * torch.randn(bs, 12, generator=gen)
        xt = (centers[yt] + 0.5 * torch.randn(bs, 12, generator=gen)) @ (0.7 * torch.eye(12) + 0.3 * rot)
        yield xs, ys, xt, yt


def train(args):
    torch.manual_seed(args.seed)
    model = VADA()
    vat = VATLoss(args.xi, args.eps, args.ip)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for i, (xs, ys, xt, yt) in enumerate(batches(args.iters, args.bs, torch.Generator().manual_seed(args.seed))):
        lam = 2. / (1. + 2.718 ** (-10. * i / args.iters)) - 1
        # VAT first, it leaves gradients in the model
        v_src, v_tgt = vat(model, xs), vat(model, xt)
        l_cls = F.cross_entropy(model(xs), ys)
        l_dom = F.binary_cross_entropy_with_logits(model.domain(torch.cat([xs, xt]), lam), torch.cat([torch.ones(args.bs), torch.zeros(args.bs)]))
        logits_t = model(xt)
        loss = l_cls + args.w_dom * l_dom + args.w_src * v_src + args.w_tgt * (v_tgt + entropy(logits_t))
        opt.zero_grad()
        loss.backward()
        opt.step()
        acc = (logits_t.argmax(1) == yt).float().mean().item()
        print('%d cls %.5f dom %.5f vat %.6f/%.6f acc_t %.3f' % (i, l_cls.item(), l_dom.item(), v_src.item(), v_tgt.item(), acc))


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    for name, default in [('lr', 3e-3), ('xi', .5), ('eps', 1.), ('w_dom', .1), ('w_src', 1.), ('w_tgt', .5)]:
        ap.add_argument('--' + name, type=float, default=default)
    for name, default in [('bs', 16), ('iters', 6), ('ip', 1), ('seed', 10)]:
        ap.add_argument('--' + name, type=int, default=default)
    train(ap.parse_args())
