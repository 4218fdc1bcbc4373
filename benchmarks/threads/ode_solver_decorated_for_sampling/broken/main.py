"""Neural ODE for a damped oscillator (lotka.py has the other system)"""
import argparse
import torch

import solver
from dynamics import Hybrid, true_field
from plotting import phase_portrait


def get_batch(traj, ts, batch, horizon):
    s = torch.randint(0, traj.shape[0] - horizon, (batch,))
    y0 = traj[s]
    y = torch.stack([traj[s + k] for k in range(horizon)])
    return y0, ts[:horizon], y


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--method', choices=['euler', 'midpoint', 'rk4'], default='rk4')
    ap.add_argument('--niters', type=int, default=8)
    ap.add_argument('--batch_size', type=int, default=12)
    ap.add_argument('--horizon', type=int, default=6)
    ap.add_argument('--test_freq', type=int, default=4)
    ap.add_argument('--viz', action='store_true')
    args = ap.parse_args()
    torch.manual_seed(0)

    ts = torch.linspace(0., 6., 61)
    truth = solver.odeint(true_field, torch.tensor([[1.5, 0.]]), ts, method='rk4')[:, 0]
    truth = truth + 0.01 * torch.randn_like(truth)

    func = Hybrid(hidden=16)
    optimizer = torch.optim.RMSprop(func.parameters(), lr=3e-3)
    for itr in range(1, args.niters + 1):
        optimizer.zero_grad()
        y0, t, y = get_batch(truth, ts, args.batch_size, args.horizon)
        pred = solver.odeint(func, y0, t, method=args.method)
        loss = torch.mean(torch.abs(pred - y))
        loss.backward()
        optimizer.step()
        if itr % args.test_freq == 0:
            full = solver.odeint(func, truth[:1], ts, method=args.method)
            print('Iter {:04d} | Loss {:.6f} | Total {:.6f}'.format(itr, loss.item(), (full[:, 0] - truth).abs().mean().item()))
    print('omega2 {:.6f} damping {:.6f}'.format(func.omega2.item(), func.damping.item()))
    if args.viz:
        phase_portrait(func, ts)


if __name__ == '__main__':
    main()
