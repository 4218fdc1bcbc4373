"""System identification of a mass-spring-damper with a stateful GRU, fitted window by window with L-BFGS.

The record is one long experiment, so the state of the network is carried from one window to the next.
"""
import math

import torch
import torch.nn as nn


class StatefulGRU(nn.Module):
    def __init__(self, n_in=1, n_hidden=10, n_out=1):
        super().__init__()
        self.gru = nn.GRU(n_in, n_hidden)
        self.readout = nn.Linear(n_hidden, n_out)
        self.state = None

    def reset_state(self):
        self.state = None

    def forward(self, u):
        h, self.state = self.gru(u, self.state)
        return self.readout(h)


def simulate(T, dt=0.1, k=2.0, c=0.4):
    t = torch.arange(T) * dt
    force = torch.sin(0.7 * t) + 0.5 * torch.sin(2.3 * t + 1.0)
    x, v, xs = 0.0, 0.0, []
    for f in force.tolist():
        v += dt * (f - k * x - c * v)
        x += dt * v
        xs.append(x)
    return force.view(-1, 1, 1), torch.tensor(xs).view(-1, 1, 1)


class WindowFitter:
    def __init__(self, model, window=20, iters=4, history=8, lr=0.5):
        self.model = model
        self.window = window
        self.opt = torch.optim.LBFGS(model.parameters(), lr=lr, max_iter=iters, history_size=history)
        self.mse = nn.MSELoss()
        self.evals = 0

    def fit_window(self, u, y):
        def closure():
            self.opt.zero_grad()
            self.model.reset_state()
            loss = self.mse(self.model(u), y)
            loss.backward()
            self.evals += 1
            return loss

        loss = self.opt.step(closure)
        return loss.item()

    def fit(self, u, y, passes=2):
        for p in range(passes):
            self.model.reset_state()
            losses = []
            for s in range(0, len(u), self.window):
                losses.append(self.fit_window(u[s:s + self.window], y[s:s + self.window]))
            print("pass %d: first window %.6f, last window %.6f, rms %.6f" % (
                p, losses[0], losses[-1], math.sqrt(sum(losses) / len(losses))))


def free_run(model, u, y):
    model.reset_state()
    with torch.no_grad():
        return nn.functional.mse_loss(model(u), y).sqrt().item()


if __name__ == "__main__":
    torch.manual_seed(4)
    u, y = simulate(100)
    net = StatefulGRU()
    fitter = WindowFitter(net)
    fitter.fit(u, y)
    print("free run rmse %.6f after %d evaluations" % (free_run(net, u, y), fitter.evals))
