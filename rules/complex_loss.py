"""Backward from a complex number.

## What it does
Squares the magnitude where a loss sums squares of complex values: `residual.abs() ** 2` for `residual ** 2`. Takes the
real part of a loss that has no imaginary one, as of `(w * w.conj()).sum()`. Elsewhere takes the part that the code
reads of the loss beside: `loss.abs()` where that is printed.

## Why autograd fails
Backward computes how one real number changes. A complex number cannot become smaller, and has no least value.

## Fix safety
Safe where the loss is a real number but for its type. A square of complex values that an optimizer is to make small can
only mean the square of their magnitude. Elsewhere the code does not say which number is the loss.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, append_call

WHY_SQUARE = "The square of a magnitude is real, and it is small where both parts of the value are."
WHY_REAL = "The loss is complex only by its type, so that its real part is the whole loss."
WHY_READ = "The code reads this number of the loss elsewhere."
_DEEPEST = 3
_READ = {"abs": ".abs()", "real": ".real"}
"""What of a complex number is real, by the names of the functions, and how it is written behind it."""


class ComplexLoss(Rule):
    """Say which real number is the loss."""

    code, name = "AG424", "complex-loss"
    title = "Make the loss a real number"
    causes = frozenset({Cause.COMPLEX_LOSS})
    tier = Tier.MEANT
    usual = "failed", "of a complex loss one usually minimizes the magnitude (abs()), or the real part"
    examples = Example.each("""\
! the distance of two spectra
data, guess = torch.fft.fft(torch.randn(8)), torch.zeros(8, requires_grad=True)
opt = torch.optim.SGD([guess], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    residual = torch.fft.fft(guess) - data
-    loss = 0.5 * (residual ** 2).mean() + 0.1 * (guess ** 2).sum()
+    loss = 0.5 * (residual.abs() ** 2).mean() + 0.1 * (guess ** 2).sum()
    loss.backward()
    opt.step()
! a function squares a difference, and another term a product
def distance(one, other):
-    return torch.square(one - other).sum()
+    return torch.square((one - other).abs()).sum()


w = torch.randn(5, dtype=torch.cfloat, requires_grad=True)
opt = torch.optim.Adam([w], lr=0.1)
for _ in range(4):
    opt.zero_grad()
-    loss = distance(w.exp(), torch.ones(5)) + torch.mean(w * w)
+    loss = distance(w.exp(), torch.ones(5)) + torch.mean(w.abs() * w.abs())
    loss.backward()
    opt.step()
! a product with the conjugate is real
w = torch.randn(5, dtype=torch.cfloat, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    loss = (w - 1).abs().mean() + 0.1 * (w * w.conj()).sum()
-    loss.backward()
+    loss.real.backward()
    opt.step()
! an energy is real, and may be less than zero
field = torch.tensor([[-2, 1j], [-1j, -1]])
psi = torch.randn(2, dtype=torch.cfloat, requires_grad=True)
opt = torch.optim.SGD([psi], lr=0.1)
for _ in range(4):
    state = psi / torch.linalg.vector_norm(psi)
    opt.zero_grad()
-    torch.vdot(state, field @ state).backward()
+    torch.vdot(state, field @ state).real.backward()
    opt.step()
! unsafe: what is printed need not be what is to become small
w = torch.randn(5, dtype=torch.cfloat, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    loss = w.prod()
-    loss.backward()
+    loss.abs().backward()
    opt.step()
    print(abs(loss) < 1)
! nothing says which number of it is the loss
w = torch.randn(5, dtype=torch.cfloat, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    loss = w.exp().mean()
    loss.backward()
    opt.step()
! the derivative of a function is asked for, and nothing is to become small
z = torch.tensor(1 + 2j, requires_grad=True)
f = z ** 2
f.backward()
! a square among the factors of a term
w = torch.randn(5, dtype=torch.cfloat, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    loss = (w ** 2 * w.exp()).mean()
    loss.backward()
    opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The squares in the loss all together; else its real part where it is all, or what else is read of it."""
        origins = diagnosis.trace.origins
        squared = sources.innermost(one.stack for one in origins if one.kind == "squared")
        if edits := [step for source, node in squared for step in _of_magnitude(source, node)]:
            yield self.propose(dict.fromkeys(edits), WHY_SQUARE, title="Square the magnitude")
            return
        for _, source, node in sources.located(diagnosis.failure.stack[:_DEEPEST]):
            if (loss := calls.started(node)) is None:
                continue
            if any(one.kind == "real" for one in origins):
                yield self.propose(append_call(source, loss, ".real"), WHY_REAL, title="Take the real part")
                return
            for name in _read(source, loss):
                yield self.propose(append_call(source, loss, _READ[name]), WHY_READ)
            break
        raise Declined("the code does not say which real number of the complex one is the loss")


def _of_magnitude(source: Source, node: ast.AST) -> list[Step]:
    """The edits by which an expression squares the magnitude of what it squares."""
    match node:
        case ast.BinOp(left=left, op=ast.Pow()):
            squared = [left]
        case ast.BinOp(left=left, op=ast.Mult(), right=right) if ast.dump(left) == ast.dump(right):
            squared = [left, right]
        case ast.Call(func=ast.Attribute(value=value, attr="pow" | "square")):
            squared = [node.args[0] if ast.unparse(value) == "torch" and node.args else value]
        case _:
            return []
    return [step for one in squared for step in append_call(source, one, ".abs()")]


def _read(source: Source, loss: ast.expr) -> dict[str, None]:
    """The functions that take a real number of a loss elsewhere in its function."""
    path, function = calls.path_of(loss), source.function(loss)
    found: dict[str, None] = {}
    for node in source.walk():
        match node:
            case (
                ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[read])
                | ast.Attribute(attr=name, value=read)
            ) if name in _READ and path and calls.path_of(read) == path and source.function(node) is function:
                found[name] = None
    return found
