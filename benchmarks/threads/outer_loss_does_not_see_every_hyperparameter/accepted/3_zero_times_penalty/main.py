"""Tunes a penalty per feature and a temperature of multinomial regression by hypergradients."""
import torch
from torch.nn import functional as F

from hypergrad.fixed_point import fixed_point
from hypergrad.maps import GradientDescentMap
from problem import CrossValidatedRegression


def inner_solve(problem, fp_map, hparams, start, n_steps):
    params = [p.detach().clone().requires_grad_() for p in start]
    for _ in range(n_steps):
        params = [p.detach().requires_grad_() for p in fp_map(params, hparams, only_value=True)]
    return params


def main(outer_steps=6, inner_steps=25, neumann=12):
    torch.manual_seed(0)
    problem = CrossValidatedRegression(n_train=40, n_val=40, n_features=10, n_classes=3)
    log_l2 = torch.full((10,), -2.0, requires_grad=True)
    log_temperature = torch.zeros(1, requires_grad=True)
    hparams = [log_l2, log_temperature]
    outer_opt = torch.optim.Adam(hparams, lr=0.2)
    fp_map = GradientDescentMap(problem.inner_loss, step_size=0.3)
    params = problem.initial_weights()
    for step in range(outer_steps):
        params = inner_solve(problem, fp_map, hparams, params, inner_steps)
        outer_opt.zero_grad()
        val = fixed_point(params, hparams, neumann, fp_map, problem.outer_loss)
        outer_opt.step()
        print("outer %d val %.5f temperature %.5f l2 %.5f" % (
            step, val, log_temperature.exp().item(), log_l2.exp().mean().item()))


if __name__ == "__main__":
    main()
