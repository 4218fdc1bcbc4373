"""Pharmacokinetics: one compartment with absorption, fitted to three patients by hand-made gradient steps."""
from dataclasses import asdict

import torch

from kinetics import Rates, simulate
from fit import penalty, momentum_step

torch.manual_seed(0)

times = torch.linspace(0.0, 12.0, 49)
doses = torch.tensor([100.0, 150.0, 80.0])
observed = simulate(times, doses, ka=torch.tensor(1.1), ke=torch.tensor(0.25), volume=torch.tensor(32.0), lag=torch.tensor(0.4))
observed = observed * (1 + 0.03 * torch.randn(observed.shape))

rates = Rates.guess()
leaves = [rates.ka, rates.ke, rates.volume, rates.lag]
scales = [0.05, 0.003, 30.0, 0.02]
velocity = [torch.zeros(()) for _ in leaves]

for it in range(18):
    params = asdict(rates)
    predicted = simulate(times, doses, **params)
    fit = (torch.log1p(predicted) - torch.log1p(observed)).pow(2).mean()
    loss = fit + penalty(**params)
    grads = torch.autograd.grad(loss, leaves, materialize_grads=True)
    momentum_step(leaves, grads, velocity, scales)
    if it % 6 == 5:
        print(it, "fit %.6f" % fit.item(), rates)
