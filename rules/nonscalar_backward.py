"""Backward from more than one value, without saying how much each counts.

## What it does
Reduces the loss where backward starts: `loss.mean().backward()`, `loss.sum().backward()`. A given gradient of another
shape gets the right one, as the `mone = torch.FloatTensor([-1])` of many Wasserstein GANs, or ones in its place.

## Why autograd fails
Backward computes how one number changes. From several it needs a weight for each, and nothing in the code says which.

## Fix safety
Mean and sum are both possible, and their gradients differ by the number of values. It is safe where the optimizers move
every parameter alike for both, as Adam does; elsewhere both are offered. A derivative by what each example has of its
own is that of the sum: the mean would divide it by the number of the others. Where the script multiplies the number of
the loss by how many values it has, as in `total += loss.item() * x.size(0)`, the loss is their mean. So it is where the
script takes the mean itself beside the backward, as in `losses.append(loss.mean().item())`. Weights that were
given in another form, as a column for a row, or as a list of one number for a loss, say themselves what each value
counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, append_call, ensure_import, remove_keyword, replace, set_keyword
from autofix.syntax.reaching import Reaching

WHY = {
    "mean": "Each value counts alike, and the size of the step does not depend on how many there are.",
    "sum": "Each value counts fully, as if backward had run from every one of them.",
}
WHY_FITTED = "The given weights still say what each value counts, now in the shape of the loss."
Place = tuple[Source, ast.expr]
_DEEPEST = 3
_WITHOUT_GRAPH = ("data", "detach", "cpu")
"""What takes a value out of its graph and leaves it as it is."""
_WEIGHTS = ("gradient", "grad_tensors", "grad_outputs")
"""What the parameters are called that take what each value counts."""


class NonscalarBackward(Rule):
    code, name = "AG403", "nonscalar-backward"
    title = "Reduce the loss to one number"
    causes = frozenset({Cause.NONSCALAR_BACKWARD})
    tier = Tier.MEANT
    usual = "failed", "a loss is usually brought to one number by mean() or sum() before it goes backward"
    examples = Example.each("""\
net = torch.nn.Linear(2, 3)
! Adam moves all parameters alike, whether the mean or the sum is trained
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    loss = net(torch.randn(5, 2)).pow(2).mean(1)
    opt.zero_grad()
-    loss.backward()
+    loss.mean().backward()
    opt.step()
! the script takes the mean itself beside the backward
net = torch.nn.Linear(2, 3)
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
seen = []
for _ in range(8):
    loss = net(torch.randn(5, 2)).pow(2).mean(1)
    opt.zero_grad()
-    loss.backward()
+    loss.mean().backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    seen.append(loss.mean().item())
! a function takes it backward, and what calls that takes its number
def step(losses, opt):
    opt.zero_grad()
    torch.autograd.backward(losses)
    opt.step()


net = torch.nn.Linear(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for _ in range(3):
    x = torch.randn(5, 2)
-    loss = net(x).pow(2).mean(1)
+    loss = net(x).pow(2).mean(1).mean()
    step([loss], opt)
    total += loss.item() * x.size(0)
! unsafe: the number that it takes of the loss may be their sum, too
net = torch.nn.Linear(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
-    loss = net(torch.randn(5, 2)).pow(2).mean(1)
+    loss = net(torch.randn(5, 2)).pow(2).mean(1).mean()
    train: loss
    print(f"{loss:.3f}")
! unsafe: the mean is possible, too
-torch.autograd.backward(net(torch.randn(5, 2)) ** 2)
+torch.autograd.backward((net(torch.randn(5, 2)) ** 2).sum())
! unsafe: each value may count less
loss = net(torch.randn(5, 2)).pow(2)
-loss.backward(torch.tensor(1.0))
+loss.backward(torch.ones_like(loss))
! unsafe: a derivative by what all examples share
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
-    (w.grad,) = torch.autograd.grad((torch.randn(5, 3) @ w - 1).square(), [w])
+    (w.grad,) = torch.autograd.grad((torch.randn(5, 3) @ w - 1).square().mean(), [w])
    opt.step()
! a list of one number, as in code from before torch 0.4
opt = torch.optim.SGD(net.parameters(), lr=0.1)
mone = torch.FloatTensor([-1])
for _ in range(3):
    score = net(torch.randn(5, 2)).mean()
    opt.zero_grad()
-    score.backward(mone)
+    score.backward(mone.reshape_as(score))
    opt.step()
! the loss has no name
opt = torch.optim.SGD(net.parameters(), lr=0.1)
one = torch.FloatTensor([1])
for _ in range(3):
    opt.zero_grad()
-    net(torch.randn(5, 2)).tanh().mean().backward(-one)
+    net(torch.randn(5, 2)).tanh().mean().backward((-one).squeeze())
    opt.step()
! what is differentiated has no name
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(5, 2, requires_grad=True)
-    slope = torch.autograd.grad(net(x).tanh().sum(1), x, torch.ones(5, 1), create_graph=True)[0]
+    slope = torch.autograd.grad(net(x).tanh().sum(1).sum(), x, None, create_graph=True)[0]
    train: slope.pow(2).sum()
! the loss is bound into the function that is called
run = torch.ones(3, requires_grad=True).exp().backward
run()
! the losses are in a list that is made elsewhere
losses = [torch.ones(3, requires_grad=True).exp()]
torch.autograd.backward(losses)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The mean and the sum at the innermost call that is given the loss, or where that was made."""
        located = [one[1:] for one in sources.located(diagnosis.failure.stack[:_DEEPEST])]
        for depth, (source, node) in enumerate(located):
            if not isinstance(node, ast.Call):
                continue
            loss = calls.only(calls.started(node))
            derivative = isinstance(node.func, ast.Attribute) and node.func.attr == "grad"
            alone = [(source, loss)] if loss is not None and _is_loss(loss) else []
            places = alone if derivative else _places(source, loss, located[depth + 1 :])
            if not places:
                raise Declined("the loss is not an expression of this call, and nothing there says where it is made")
            given = _weights(node)
            if loss is not None and alone:
                yield from self._fitted(source, loss, given)
                yield from self._weighted(source, node, loss, given)
            if given is not None and [*node.args, *node.keywords] == [given]:
                return
            unweighted = _without(source, node, given) if given is not None else []
            for place, name in enumerate(("sum", "mean") if derivative or unweighted else ("mean", "sum")):
                title = f"Reduce the loss by its {name}"
                for way, (where, one) in enumerate(places):
                    edits = [*append_call(where, one, f".{name}()"), *unweighted]
                    yield self.propose(edits, WHY[name], title=title, later=2 * place + 4 * way)
            return

    def _fitted(self, source: Source, loss: ast.expr, given: ast.expr | None) -> Iterator[Proposal]:
        """What each value counts, in the shape of the loss; ones are written so more plainly."""
        if given is None or (isinstance(given, ast.Call) and calls.name_of(given) == "ones"):
            return
        named = isinstance(loss, (ast.Name, ast.Attribute))
        shaped = f".reshape_as({source.segment(loss)})" if named else ".squeeze()"
        title = "Give the weights the shape of the loss"
        yield self.propose(append_call(source, given, shaped), WHY_FITTED, title=title, tier=Tier.ANSWER)

    def _weighted(
        self, source: Source, node: ast.Call, loss: ast.expr, given: ast.expr | None
    ) -> Iterator[Proposal]:  # fmt: skip
        """Ones in the shape of the loss where a gradient of another shape was given."""
        if not isinstance(loss, (ast.Name, ast.Attribute)):
            return
        torch, imports = ensure_import(source, "torch")
        ones = f"{torch}.ones_like({source.segment(loss)})"
        method = isinstance(node.func, ast.Attribute) and node.func.value is loss
        title = "Count each value of the loss once"
        if given is not None:
            yield self.propose(
                [*imports, *replace(source, given, ones)], WHY["sum"], title=title, tier=Tier.ANSWER, later=1
            )
        elif method and not node.args:
            edits = set_keyword(source, node, "gradient", ones)
            yield self.propose([*imports, *edits], WHY["sum"], title=title, later=4)


def _places(source: Source, loss: ast.expr | None, callers: Sequence[tuple[Source, ast.AST]]) -> list[Place]:
    """Where a loss may be reduced, the best place first: where it goes backward, where it is made, in what calls that.

    It is reduced where it is made if the script also takes its number; it may be if it is read for anything else.
    """
    if loss is None:
        return []
    here = [(source, loss)] if _is_loss(loss) else []
    function = source.function(loss)
    reads = Reaching(function or source.tree).reads
    found = reads.get(loss, frozenset())
    made = next(iter(found)) if len(found) == 1 else None
    others = [read for read, known in reads.items() if made in known and read is not loss]
    counted = any(_is_number(source, one) for one in others)
    match made:
        case ast.Assign(targets=targets, value=value) if [*map(calls.path_of, targets)] == [calls.path_of(loss)]:
            return [(source, value)] if counted else [*here, (source, value)] if others else here
        case ast.arg(arg=name) if function is not None and callers:
            (caller, call), *rest = callers
            given = calls.only(calls.handed(call, function, name))
            outer = _places(caller, given, rest)
            return [*here, *outer[1:]] if here and not counted and (caller, given) in outer else outer or here
    return here


def _is_number(source: Source, read: ast.expr) -> bool:
    """Whether a script takes the number of what it reads: by `item`, by `float`, or to print it."""
    around = source.parent(read)
    while isinstance(around, ast.Attribute | ast.Call) and calls.name_of(around) in _WITHOUT_GRAPH:
        read, around = around, source.parent(around)
    if isinstance(around, ast.Attribute):
        return around.attr == "item"
    return isinstance(around, ast.FormattedValue) or (isinstance(around, ast.Call) and calls.name_of(around) == "float")


def _weights(call: ast.Call) -> ast.expr | None:
    """What a call of backward or grad is given for what each value counts."""
    own = calls.differentiation(call)
    found = next((calls.argument(call, own, name) for name in _WEIGHTS if name in own), None)
    return None if isinstance(found, ast.Constant) and found.value is None else found


def _without(source: Source, call: ast.Call, weights: ast.expr) -> list[Step]:
    """What takes the weights out of a call."""
    if named := next((one.arg for one in call.keywords if one.value is weights), None):
        return remove_keyword(source, call, named)
    return replace(source, weights, "None")


def _is_loss(node: ast.expr | None) -> bool:
    """Whether an expression may be one loss: a plain name is, unless it says that it holds several."""
    named = isinstance(node, ast.Name) and not node.id.endswith(("losses", "list", "outputs"))
    return named or isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.BinOp))
