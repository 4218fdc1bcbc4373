"""Copies of a module's parameters that are differentiated while the module itself is evaluated.

## What it does
Evaluates the module with the copies: `torch.func.functional_call(net, fast, (x,))` for `net(x)`. Where the copy is a
whole module, that one is called.

## Why autograd fails
A copy is a tensor of its own. What the module computes comes from its own parameters, so that the copies take no part
in the loss.

## Fix safety
Never shown to be safe: as the code stands, no gradient by the copies exists to compare with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import (
    Applicability,
    Cause,
    Declined,
    Diagnosis,
    Example,
    Proposal,
    Rule,
    Source,
    Sources,
    Tier,
)
from autofix.syntax import calls, names, vocabulary
from autofix.syntax.edits import ensure_import, functional_call, replace

WHY = "The module then computes with {copies}, so that its result depends on them, and through them on its parameters."
WHY_COPY = "The result then comes from the parameters of {copies}, by which it is differentiated."


class CopiesNotEvaluated(Rule):
    code, name = "AG307", "copies-not-evaluated"
    title = "Evaluate the module with its copies"
    causes = frozenset({Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    applicability = Applicability.UNSAFE
    examples = Example.each("""\
import copy
! unsafe: no run of the code as it stands has gradients to compare with
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(4, 2), torch.randn(4, 1)
    fast = {name: p.clone() for name, p in net.named_parameters()}
-    loss = (net(x) - y).pow(2).mean()
+    loss = (torch.func.functional_call(net, fast, (x,)) - y).pow(2).mean()
    grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
    fast = {name: p - 0.1 * g for (name, p), g in zip(fast.items(), grads)}
    opt.zero_grad()
-    (net(x) - y).pow(2).mean().backward()
+    (torch.func.functional_call(net, fast, (x,)) - y).pow(2).mean().backward()
    opt.step()
! unsafe: no run of the code as it stands has gradients to compare with
class Learner:
    def __init__(self, net):
        self.net = net

    def adapt(self, x):
        ws = [w.clone() for w in self.net.parameters()]
-        y = self.net(input=x)
+        y = torch.func.functional_call(self.net, dict(zip(dict(self.net.named_parameters()), ws)), (), {"input": x})
        grads = torch.autograd.grad(y.pow(2).mean(), ws, create_graph=True)
        return [w - 0.1 * g for w, g in zip(ws, grads)]


learner = Learner(torch.nn.Linear(2, 1))
opt = torch.optim.SGD(learner.net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(4, 2)
    w, b = learner.adapt(x)
    train: (x @ w.t() + b).pow(2).mean()
! unsafe: no run of the code as it stands has gradients to compare with
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(4, 2)
    task = copy.deepcopy(net)
-    loss = net(x).pow(2).mean()
+    loss = task(x).pow(2).mean()
    grads = torch.autograd.grad(loss, task.parameters())
    opt.zero_grad()
    for p, g in zip(net.parameters(), grads):
        p.grad = g
    opt.step()
! what is differentiated by is no copy of a module's parameters
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
torch.autograd.grad(a.sum(), [a, b])
! the module is evaluated where the copies have no name
net = torch.nn.Linear(2, 1)


def loss_of(x):
    return net(x).pow(2).mean()


def adapt(x):
    fast = dict((name, p.clone()) for name, p in net.named_parameters())
    return torch.autograd.grad(loss_of(x), list(fast.values()))


adapt(torch.ones(1, 2))
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For the inputs of the failing call: all calls, behind where the copies are made, of what they are made of."""
        for _, source, node in sources.located(diagnosis.asked[:1]):
            given = calls.argument(node, vocabulary.GRAD, "inputs")
            copies = _held(given) if given is not None else ""
            found = _copied(source, node, copies) if copies else None
            if found is None:
                raise Declined("the inputs of the derivative are not seen to be copies of a module's parameters")
            made, module, kind = found
            evaluated = calls.evaluations(source, module, made)
            if not evaluated:
                raise Declined(f"{module} is evaluated where the name {copies} is not known")
            if kind == "module":
                edits = [step for one in evaluated for step in replace(source, one.func, copies)]
                yield self.propose(edits, WHY_COPY.format(copies=copies), title="Evaluate the copy")
                return
            torch, imports = ensure_import(source, "torch")
            mapping = copies if kind == "dict" else f"dict(zip(dict({module}.named_parameters()), {copies}))"
            edits = [step for one in evaluated for step in functional_call(source, one, torch, mapping)]
            yield self.propose([*imports, *edits], WHY.format(copies=copies))


def _held(node: ast.expr) -> str:
    """The variable whose tensors an expression gives: `fast` of `list(fast.values())` and of `task.parameters()`."""
    match node:
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]) | ast.List(elts=[ast.Starred(value=inner)]):
            return _held(inner)
        case ast.Call(func=ast.Attribute(value=holder, attr="values" | "parameters"), args=[]):
            return calls.path_of(holder)
    return calls.path_of(node)


def _copied(source: Source, node: ast.AST, copies: str) -> tuple[ast.stmt, str, str] | None:
    """Where a variable is first given copies of a module's parameters, the module, and what it then is."""
    function = source.function(node)
    for made in sorted(names.assignments(source, copies), key=lambda one: one.lineno):
        if source.function(made) is not function or made.value is None:
            continue
        for part in ast.walk(made.value):
            match part:
                case ast.Call(func=ast.Attribute(value=module, attr="named_parameters"), args=[]):
                    return made, calls.path_of(module), "dict"
                case ast.Call(func=ast.Attribute(value=module, attr="parameters"), args=[]):
                    return made, calls.path_of(module), "list"
                case ast.Call(args=[module, *_]) if calls.name_of(part) == "deepcopy":
                    return made, calls.path_of(module), "module"
    return None
