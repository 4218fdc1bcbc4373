#!/usr/bin/env python3
"""System identification for the imitation experiments: physical parameters theta=(g, m, l) of the
pendulum plus a small residual net are fitted so that rollouts match the expert's. """
import argparse
import os

import torch
from torch import nn, optim


class PendulumDx(nn.Module):
    n_state, n_ctrl = 3, 1

    def __init__(self, params, simple=True):
        super().__init__()
        self.simple = simple
        self.max_torque, self.dt = 2.0, 0.05
        self.params = params

    def forward(self, x, u):
        u = u.clamp(-self.max_torque, self.max_torque)[:, 0]
        cos_th, sin_th, dth = torch.unbind(x, dim=1)
        th = torch.atan2(sin_th, cos_th)
        g, m, l = torch.unbind(self.params)
        newdth = dth + self.dt * (-3. * g / (2. * l) * (-sin_th) + 3. * u / (m * l ** 2))
        newth = th + newdth * self.dt
        return torch.stack((torch.cos(newth), torch.sin(newth), newdth), dim=1)


class IL_Exp(object):
    def __init__(self, mode='sysid', learn_dx=True, n_train=12, mpc_T=6, seed=0, save='work', no_cuda=True):
        self.mode, self.learn_dx, self.T = mode, learn_dx, mpc_T
        self.save = os.path.join(save, mode)
        torch.manual_seed(seed)
        self.true_params = torch.tensor((10., 1., 1.))
        self.expert = PendulumDx(self.true_params)
        th = torch.rand(n_train) * 6.28 - 3.14
        self.x0 = torch.stack((torch.cos(th), torch.sin(th), torch.rand(n_train) - 0.5), 1)
        self.u = 2 * torch.rand(mpc_T, n_train, 1) - 1
        with torch.no_grad():
            self.expert_xs = self.simulate(self.expert, None, self.x0, self.u)

        # start away from the truth
        self.env_params = torch.tensor((10., 1., 1.), requires_grad=True)
        self.env_params = (self.env_params * (1. + 0.3 * (torch.rand(3) - 0.5))).detach()
        self.dx = PendulumDx(self.env_params)
        self.extra_dx = nn.Sequential(nn.Linear(4, 16), nn.Sigmoid(), nn.Linear(16, 3))
        for p in self.extra_dx[-1].parameters():
            p.data.mul_(0.1)

    def simulate(self, dx, extra, x, us):
        xs = []
        for u in us:
            nx = dx(x, u)
            if extra is not None:
                nx = nx + 0.1 * extra(torch.cat((x, u), 1))
            x = nx
            xs.append(x)
        return torch.stack(xs)

    def run(self, n_epoch, lr_theta):
        groups = [{'params': nn.Parameter(self.env_params.clone()), 'lr': lr_theta, 'alpha': 0.5}]
        if self.learn_dx:
            groups.append({'params': self.extra_dx.parameters()})
        opt = optim.RMSprop(groups, lr=1e-3)
        for i in range(n_epoch):
            xs = self.simulate(self.dx, self.extra_dx if self.learn_dx else None, self.x0, self.u)
            im_loss = (xs - self.expert_xs).pow(2).mean()
            opt.zero_grad()
            im_loss.backward()
            nn.utils.clip_grad_norm_(self.extra_dx.parameters(), 1.0)
            opt.step()
            err = (self.dx.params.detach() - self.true_params).pow(2).mean()
            print('{:02d} im_loss {:.6f} model_loss {:.6f}'.format(i, im_loss.item(), err.item()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--mode', type=str, default='sysid', choices=['sysid'])
    parser.add_argument('--no_cuda', action='store_true')
    parser.add_argument('--learn_dx', type=int, default=1)
    parser.add_argument('--n_epoch', type=int, default=6)
    parser.add_argument('--lr_theta', type=float, default=1e-2)
    parser.add_argument('--seed', type=int, default=2)
    args = parser.parse_args()
    exp = IL_Exp(args.mode, bool(args.learn_dx), seed=args.seed, no_cuda=args.no_cuda)
    exp.run(args.n_epoch, args.lr_theta)


if __name__ == '__main__':
    main()
