import argparse
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

# VAE with planar flows (Rezende & Mohamed 2015) on binarised toy data

parser = argparse.ArgumentParser()
parser.add_argument('--num-flows', '-nf', type=int, default=3)
parser.add_argument('--z-size', '-zs', type=int, default=4)
parser.add_argument('--batch', type=int, default=32)
parser.add_argument('--epochs', type=int, default=2)
parser.add_argument('--warmup', type=int, default=4, help='beta warm up, in steps')
parser.add_argument('--flow', default='planar', choices=['planar', 'no_flow'])


class Planar(nn.Module):
    """z' = z + u h(w'z + b)"""

    def __init__(self, dim):
        super(Planar, self).__init__()
        self.w = nn.Parameter(torch.randn(dim, 1) * 0.3)
        self.u = nn.Parameter(torch.randn(1, dim) * 0.3)
        self.b = nn.Parameter(torch.zeros(1))

    def constrained_u(self):
        # w'u >= -1 makes it invertible
        wu = self.u @ self.w
        m = -1 + F.softplus(wu)
        return self.u + (m - wu) * self.w.t() / (self.w ** 2).sum()

    def forward(self, z):
        u = self.constrained_u()
        h = torch.tanh(z @ self.w + self.b)
        psi = (1 - h ** 2) @ self.w.t()
        log_det = torch.log(torch.abs(1 + psi @ u.t()) + 1e-8).squeeze(1)
        z.data += h @ u
        return z, log_det


class FlowVAE(nn.Module):
    def __init__(self, x_size, args):
        super(FlowVAE, self).__init__()
        self.enc = nn.Sequential(nn.Linear(x_size, 32), nn.ReLU())
        self.q_mu = nn.Linear(32, args.z_size)
        self.q_logvar = nn.Linear(32, args.z_size)
        self.dec = nn.Sequential(nn.Linear(args.z_size, 32), nn.ReLU(), nn.Linear(32, x_size))
        n = args.num_flows if args.flow == 'planar' else 0
        self.flows = nn.ModuleList([Planar(args.z_size) for _ in range(n)])

    def encode(self, x):
        h = self.enc(x)
        return self.q_mu(h), self.q_logvar(h).clamp(-6, 4)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z0 = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        z = z0
        sum_ldj = 0.
        for flow in self.flows:
            z, ldj = flow(z)
            sum_ldj = sum_ldj + ldj
        return self.dec(z), mu, logvar, z0, z, sum_ldj


def log_normal(x, mu, logvar):
    return (-0.5 * (math.log(2 * math.pi) + logvar + (x - mu) ** 2 / logvar.exp())).sum(1)


def loss_fn(logits, x, mu, logvar, z0, zk, ldj, beta=1.):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction='none').sum(1)
    log_q0 = log_normal(z0, mu, logvar)
    log_p = log_normal(zk, torch.zeros_like(zk), torch.zeros_like(zk))
    kl = log_q0 - ldj - log_p
    return (rec + beta * kl).mean(), rec.mean().item(), kl.mean().item()


def data(n, d, g):
    proto = (torch.rand(6, d, generator=g) > 0.5).float()
    x = proto[torch.randint(0, 6, (n,), generator=g)]
    flip = (torch.rand(n, d, generator=g) < 0.05).float()
    return (x - flip).abs()


def run(args):
    torch.manual_seed(42)
    g = torch.Generator().manual_seed(5)
    x_all = data(args.batch * 4, 24, g)
    model = FlowVAE(24, args)
    optimizer = torch.optim.Adamax(model.parameters(), lr=1e-2, eps=1e-7)
    step = 0
    for epoch in range(1, args.epochs + 1):
        for x in x_all.split(args.batch):
            step += 1
            beta = min(1., step / args.warmup)
            optimizer.zero_grad()
            loss, rec, kl = loss_fn(*((lambda o: (o[0], x) + o[1:])(model(x))), beta=beta)
            loss.backward()
            optimizer.step()
        print('Epoch: {:2d}\tloss: {:.5f}\trec: {:.5f}\tkl: {:.5f}'.format(epoch, loss.item(), rec, kl))


if __name__ == '__main__':
    run(parser.parse_args())
