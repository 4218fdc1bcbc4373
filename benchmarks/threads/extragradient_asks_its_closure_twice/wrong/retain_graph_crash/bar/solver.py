import torch
from torch import nn


class LagrangianFormulation(nn.Module):
    """Holds the multipliers and builds the Lagrangian (with a quadratic term)."""

    def __init__(self, n_eq, rho=1.0):
        super().__init__()
        self.lam = nn.Parameter(torch.zeros(n_eq))
        self.rho = rho

    def composite_objective(self, closure, *args):
        state = closure(*args)
        lagrangian = state.loss + (self.lam * state.eq_defect).sum() + 0.5 * self.rho * state.eq_defect.pow(2).sum()
        return lagrangian, state


class ExtragradientSolver:
    """x' = x - a g(x, l), l' = l + b h(x);  then the step itself with the gradients at (x', l')."""

    def __init__(self, formulation, primal, dual):
        self.formulation, self.primal, self.dual = formulation, primal, dual

    def owned(self):
        for opt in (self.primal, self.dual):
            for group in opt.param_groups:
                yield from group["params"]

    def populate(self, closure, *args):
        self.primal.zero_grad()
        self.dual.zero_grad()
        lagrangian, state = self.formulation.composite_objective(closure, *args)
        lagrangian.backward(retain_graph=True)
        self.formulation.lam.grad.neg_()  # ascent
        return state

    def update(self):
        self.primal.step()
        self.dual.step()

    def step(self, closure, *args):
        state = self.populate(closure, *args)
        before = [p.detach().clone() for p in self.owned()]
        self.update()  # to the extrapolated point
        self.populate(closure, *args)
        with torch.no_grad():
            for p, old in zip(self.owned(), before):
                p.copy_(old)
        self.update()
        return state
