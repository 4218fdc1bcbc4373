"""A term that is made of a derivative is trained: penalties and residuals, and what only looks like them."""

from __future__ import annotations

from lawful import Program
from scripts import Change

TEXT = """\
net, other = Net(3, 1), Net(3, 1)
both = Optimizers(net, other)
for _ in range(5):
    x = torch.rand(8, 3, requires_grad=True)
    score = net(x)
    slope, = torch.autograd.grad(score.square().sum(), x)
    term = TERM
    loss = (score - 1).square().mean() + term
    both.zero_grad()
    loss.backward()
    both.step()
"""
CALL = "score.square().sum(), x"
KEEP: Change = (f"{CALL})", f"{CALL}, retain_graph=True)")
CREATE: Change = (f"{CALL})", f"{CALL}, create_graph=True)")


def penalized(name: str, term: str, *changes: Change, right: tuple[str, ...] = ("graph",)) -> Program:
    """A program with a term in its loss; by default the graph of the derivative is right."""
    first = Program(
        name,
        TEXT.replace("TERM", term),
        {
            "graph": (CREATE,),
            "keep": (KEEP,),
            "without the term": (KEEP, ("mean() + term", "mean()")),
            "marked": (KEEP, ("    loss =", "    term = term.detach().requires_grad_()\n    loss =")),
            "given a graph and cut": (CREATE, ("    term =", "    slope = slope.detach()\n    term =")),
            "another forward": ((CALL, "net(x).square().sum(), x"),),
        },
    )
    return first.mutated(name, *changes, right=right)


NORM = "(slope.norm(2, 1) - 1).square().mean()"
PROGRAMS = (
    penalized("a penalty on the slope of a critic", NORM),
    penalized("a residual", "(slope[:, 0] - x[:, 1].detach().sin()).square().mean()"),
    penalized("forces beside energies", "F.mse_loss(-slope, torch.ones(8, 3))"),
    penalized("a small weight", f"1e-2 * {NORM}"),
    penalized("from the second pass on", f"min(_, 1) * {NORM}"),
    penalized("it is the mean of two terms", f"torch.stack([{NORM}, (score - 2).abs().mean()]).mean()"),
    penalized(
        "it weighs a term",
        "slope.norm() * (score - 2).square().mean()",
        right=("keep", "another forward", "given a graph and cut"),
    ),
    penalized("a step along it, of another forward", "net(x.detach() + 0.1 * slope).square().mean()", right=()),
    penalized("a target", "F.mse_loss(other(x.detach()), slope.mean(1, True))", right=()),
    penalized("it is only shown", f"0 * {NORM}", right=("graph", "keep", "marked", "another forward")),
    penalized("it is cut by name", NORM.replace("slope", "slope.detach()"), right=()),
    penalized("a number", f"float({NORM})", right=()),
    penalized("it goes into a term with a graph", "(slope.mean(1, True) + score).square().mean()", right=()),
)
