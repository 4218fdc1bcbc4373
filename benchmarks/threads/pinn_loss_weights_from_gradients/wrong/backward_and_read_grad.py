"""
Burgers equation with a PINN, the weights of the loss terms set from gradient statistics
(Wang, Teng, Perdikaris: Understanding and mitigating gradient pathologies in PINNs), alpha = 1.
"""
import argparse
import math

import torch
from torch import nn


class BurgersPINN:
    def __init__(self, layers, nu=0.01 / math.pi, lr=2e-3, n_f=64, n_b=16):
        dims = list(zip(layers[:-1], layers[1:]))
        mods = []
        for k, (i, o) in enumerate(dims):
            mods.append(nn.Linear(i, o))
            nn.init.xavier_normal_(mods[-1].weight)
            if k < len(dims) - 1:
                mods.append(nn.Tanh())
        self.net = nn.Sequential(*mods)
        self.nu = nu
        self.params = [p for p in self.net.parameters()]
        self.opt = torch.optim.Adam(self.params, lr=lr)
        # collocation, initial, boundary
        self.x_f = torch.rand(n_f, 1) * 2 - 1
        self.t_f = torch.rand(n_f, 1)
        self.x_i = torch.rand(n_b, 1) * 2 - 1
        self.t_b = torch.rand(n_b, 1)
        self.lam = {"ic": torch.tensor(1.0), "bc": torch.tensor(1.0)}
        self.history = []

    def u(self, x, t):
        return self.net(torch.cat([x, t], dim=1))

    def loss_terms(self):
        x = self.x_f.clone().requires_grad_(True)
        t = self.t_f.clone().requires_grad_(True)
        u = self.u(x, t)
        one = torch.ones_like(u)
        u_x, u_t = torch.autograd.grad(u, (x, t), grad_outputs=one, create_graph=True)
        u_xx = torch.autograd.grad(u_x, x, grad_outputs=one, create_graph=True)[0]
        res = u_t + u * u_x - self.nu * u_xx
        u_i = self.u(self.x_i, torch.zeros_like(self.x_i))
        left, right = self.u(-torch.ones_like(self.t_b), self.t_b), self.u(torch.ones_like(self.t_b), self.t_b)
        return {
            "res": (res ** 2).mean(),
            "ic": ((u_i + torch.sin(math.pi * self.x_i)) ** 2).mean(),
            "bc": (left ** 2).mean() + (right ** 2).mean(),
        }

    def grads_of(self, loss):
        loss.backward(retain_graph=True)
        return [p.grad.clone() for p in self.params]

    def balance(self, terms):
        """lam_i = max |grad residual| / mean |grad term i|"""
        g_res = self.grads_of(terms["res"])
        top = max(g.abs().max() for g in g_res)
        for name in self.lam:
            g = self.grads_of(terms[name])
            mean = torch.cat([v.reshape(-1) for v in g]).abs().mean()
            self.lam[name] = top / (mean + 1e-8)

    def train(self, n_iter, log_every=2):
        for it in range(n_iter):
            terms = self.loss_terms()
            self.balance(terms)
            loss = terms["res"] + self.lam["ic"] * terms["ic"] + self.lam["bc"] * terms["bc"]
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.params, 5.0)
            self.opt.step()
            self.history.append(loss.item())
            if it % log_every == 0:
                print("It %d  loss %.5f  res %.5f  lam_ic %.4f  lam_bc %.4f" % (it, loss.item(), terms["res"].item(), self.lam["ic"].item(), self.lam["bc"].item()))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=10)
    ap.add_argument("--width", type=int, default=16)
    ns = ap.parse_args()
    torch.manual_seed(1234)
    pinn = BurgersPINN([2, ns.width, ns.width, 1])
    pinn.train(ns.iters)
    print("final %.6f" % pinn.history[-1])
