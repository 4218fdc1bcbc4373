import argparse
import torch
from beamline import Beam, Drift, Quadrupole, Corrector, Segment
from diagnostics import trace_reference_particle

# tune the magnets of a small transfer line so that the spot on the screen is small and centred.
# The optimiser works on the currents of the power supplies (A), k1 follows from the calibration.

CALIBRATION = torch.tensor([1.8, 2.1, 1.9])      # k1 per ampere
OFFSET = torch.tensor([0.02, -0.01, 0.0])


def make_line():
    return Segment([
        Drift(0.4), Quadrupole('Q1', 0.12), Drift(0.3), Corrector('HC1'), Drift(0.1),
        Quadrupole('Q2', 0.12), Drift(0.5), Quadrupole('Q3', 0.12), Drift(0.7),
    ])


class Tuner:
    def __init__(self, line, beam, lr):
        self.line, self.beam = line, beam
        self.currents = torch.tensor([0.8, -0.9, 0.6], requires_grad=True)
        self.kick = torch.zeros(1, requires_grad=True)
        self.opt = torch.optim.Adam([{'params': [self.currents]}, {'params': [self.kick], 'lr': 1e-2 * lr}], lr=lr)

    def apply(self):
        k1 = CALIBRATION * self.currents + OFFSET
        for i, q in enumerate(self.line.quadrupoles()):
            q.k1 = k1[i]
        self.line.find('HC1').angle = self.kick

    def step(self):
        self.apply()
        out = self.line.track(self.beam)
        sx, sy = out.sigma()
        mx, my = out.mean()
        loss = 1e3 * (sx ** 2 + sy ** 2) + 1e3 * (mx ** 2 + my ** 2)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--steps', type=int, default=8)
    ap.add_argument('--plot_every', type=int, default=3)
    ap.add_argument('--lr', type=float, default=0.05)
    a = ap.parse_args()
    torch.manual_seed(13)
    tuner = Tuner(make_line(), Beam.gaussian(200), a.lr)
    for i in range(a.steps):
        l = tuner.step()
        print('step', i, 'loss %.6f' % l)
        if i % a.plot_every == 0:
            s, x = trace_reference_particle(tuner.line, x0=1e-3)
            print('   trace, end at s=%.3f x=%.6f mm' % (s[-1], 1e3 * x[-1]))
    print('currents', ' '.join('%.5f' % c for c in tuner.currents.tolist()))
