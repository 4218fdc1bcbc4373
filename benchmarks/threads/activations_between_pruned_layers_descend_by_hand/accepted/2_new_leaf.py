"""Prune the two linear layers of an MLP block jointly (global pruning, auxiliary activations z and s).

alternate:  1) solve the pruned weights for the current activations
            2) update the activations: s in closed form / by gradient, z in closed form
"""
import argparse
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class ReluMLP(nn.Module):
    def __init__(self, d_model=16, d_ff=32):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.fc2(F.silu(self.fc1(x)))


def magnitude_mask(weight, sparsity):
    k = int(weight.numel() * sparsity)
    thresh = weight.abs().flatten().kthvalue(k).values
    return (weight.abs() > thresh).float()


@torch.no_grad()
def solve_weights(inp, out, old, sparsity, damp=0.01):
    """least squares fit out ~ W inp, then prune the small weights"""
    H = inp @ inp.t()
    H += damp * torch.diag(H).mean() * torch.eye(H.size(0))
    W = torch.linalg.solve(H, inp @ out.t()).t()
    W = 0.5 * (W + old)
    return W * magnitude_mask(W, sparsity)


class SparseLLMBlock:
    def __init__(self, mlp, hidden, args):
        self.args = args
        self.mlp = mlp
        with torch.no_grad():
            self.x = hidden.t().contiguous()                              # d_model x tokens
            self.p = (mlp.fc1.weight @ self.x + mlp.fc1.bias[:, None])    # pre activation
            self.q = F.silu(self.p)
            self.out = mlp.fc2.weight @ self.q + mlp.fc2.bias[:, None]
        self.s = self.p.clone()
        self.z = self.q.clone()

    def update_s(self):
        """gradient steps on  alpha |z - act(s)|^2 + beta |W1 x - s|^2, chunk by chunk of tokens"""
        args = self.args
        W1x = (self.mlp.fc1.weight @ self.x + self.mlp.fc1.bias[:, None]).detach()
        tokens = self.x.size(1)
        total = 0.0
        for start in range(0, tokens, args.chunk):
            chunk = slice(start, min(start + args.chunk, tokens))
            s_batch = self.s[:, chunk].clone().detach().requires_grad_(True)
            for _ in range(args.s_steps):
                act = F.silu(s_batch)
                loss_s = args.alpha * ((self.z[:, chunk] - act) ** 2).sum() + args.beta * ((W1x[:, chunk] - s_batch) ** 2).sum()
                loss_s.backward()
                s_batch = (s_batch - args.s_lr * s_batch.grad).detach().requires_grad_(True)
            self.s[:, chunk] = s_batch.detach()
            total += loss_s.item()
        return total / tokens

    @torch.no_grad()
    def update_z(self):
        """closed form:  (gamma W2'W2 + alpha I) z = gamma W2'(out - b2) + alpha act(s)"""
        W2, b2 = self.mlp.fc2.weight, self.mlp.fc2.bias
        A = self.args.gamma * W2.t() @ W2 + self.args.alpha * torch.eye(W2.size(1))
        rhs = self.args.gamma * W2.t() @ (self.out - b2[:, None]) + self.args.alpha * F.silu(self.s)
        self.z = torch.linalg.solve(A, rhs)

    def prune(self):
        args = self.args
        for epoch in range(args.opt_epochs):
            tick = time.time()
            with torch.no_grad():
                b1, b2 = self.mlp.fc1.bias[:, None], self.mlp.fc2.bias[:, None]
                self.mlp.fc2.weight.copy_(solve_weights(self.z, self.out - b2, self.mlp.fc2.weight, args.sparsity))
                self.mlp.fc1.weight.copy_(solve_weights(self.x, self.s - b1, self.mlp.fc1.weight, args.sparsity))
            loss_s = self.update_s()
            self.update_z()
            err = (self.mlp(self.x.t()) - self.out.t()).pow(2).mean().item()
            # print("time %.2f" % (time.time() - tick))
            print(f"opt epoch {epoch}  s-loss {loss_s:.6f}  |s| {self.s.norm().item():.6f}  block error {err:.6f}")


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--sparsity", type=float, default=0.5)
    p.add_argument("--opt_epochs", type=int, default=4)
    p.add_argument("--s_steps", type=int, default=5)
    p.add_argument("--s_lr", type=float, default=0.02)
    p.add_argument("--alpha", type=float, default=5.0)
    p.add_argument("--beta", type=float, default=5.0)
    p.add_argument("--gamma", type=float, default=5.0)
    p.add_argument("--chunk", type=int, default=64)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


if __name__ == "__main__":
    args = get_args()
    torch.manual_seed(args.seed)
    mlp = ReluMLP()
    hidden = torch.randn(160, 16) @ torch.randn(16, 16) / math.sqrt(16)
    SparseLLMBlock(mlp, hidden, args).prune()
