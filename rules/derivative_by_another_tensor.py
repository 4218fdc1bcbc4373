"""A derivative by another tensor than the one that the result was computed from.

## What it does
Takes the derivative by what the forward was given. Of a new view of that, takes its part of the derivative by the
whole: `grad(u, p)[0][:, 0:1]`. Of a copy, takes what was copied. Hands on what a caller has for an input that is left
to its default (`params=params`).

## Why autograd fails
`torch.autograd.grad` goes back from the result to the inputs. A view or a copy that is made behind the forward is
another tensor, which took no part in it.

## Fix safety
A tensor that took no part has no derivative, so that only the one it stands for can be meant. The run compares what
optimizers then use.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, live, names
from autofix.syntax.edits import Step, append_call, insert_after, replace, set_keyword

WHY_WHOLE = "The result was computed from the whole; each new view of it is another tensor, which took no part."
WHY_COPY = "The result was computed from the tensor itself; a new copy of it took no part."
WHY_PASSED = "The derivative is by the caller's tensor, which the result was computed from, not by a default."
_FORMS = frozenset({"flatten", "permute", "reshape", "squeeze", "t", "transpose", "unsqueeze", "view"})
_CUTS = ("chunk", "split", "tensor_split", "unbind")


class DerivativeByAnotherTensor(Rule):
    code, name = "AG434", "derivative-by-another-tensor"
    title = "Take its part of the derivative by the whole"
    causes = frozenset({Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    examples = Example.each("""\
! a helper differentiates by parts of what the network was given
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def slope(y, x):
    found = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    return found


for _ in range(4):
    p = torch.rand(6, 2, requires_grad=True)
    u = net(p)
    x, t = p[:, 0:1], p[:, 1:2]
-    u_x, u_t = slope(u, x), slope(u, t)
-    u_xx = slope(u_x, x)
+    u_x, u_t = slope(u, p)[:, 0:1], slope(u, p)[:, 1:2]
+    u_xx = slope(u_x, p)[:, 0:1]
    train: (u_t + u * u_x - u_xx).pow(2).mean()
! by a part of what the forward was given, cut out anew
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    p = torch.rand(6, 2).requires_grad_()
    u = net(p)
-    u_x = torch.autograd.grad(u.sum(), p[:, 0:1], create_graph=True)[0]
+    u_x = torch.autograd.grad(u.sum(), p, create_graph=True)[0][:, 0:1]
    train: (u_x + u).pow(2).mean()
! by the rows of each group
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    p = torch.rand(6, 2).requires_grad_()
    u, loss = net(p), 0
    for i, j in ((0, 2), (2, 6)):
-        slope = torch.autograd.grad(u[i:j].sum(), p[i:j], create_graph=True)[0]
+        slope = torch.autograd.grad(u[i:j].sum(), p, create_graph=True)[0][i:j]
        loss = loss + (slope.norm() - 1).square() + u[i:j].mean()
    train: loss
! by the columns that it was cut into
net = torch.nn.Bilinear(2, 2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    p = torch.rand(6, 2).requires_grad_()
    u = net(p, p)
    x, t = torch.split(p, 1, dim=1)
-    u_t = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
+    u_t = torch.autograd.grad(u.sum(), p, create_graph=True)[0].split(1, dim=1)[1]
    train: (u_t + u).pow(2).mean()
! by a column made of it once more
net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Softplus(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    wait = torch.rand(6).requires_grad_()
    column = wait.unsqueeze(-1)
    total = net(wait.unsqueeze(-1)) - net(torch.zeros(6, 1))
-    (rate,) = torch.autograd.grad(total.sum(), column, create_graph=True)
+    (rate,) = torch.autograd.grad(total.sum(), wait, create_graph=True)
+    rate = rate.unsqueeze(-1)
    train: (total - rate).square().mean()
! by a copy that the call alone has
net = torch.nn.Linear(3, 4)
scale = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([*net.parameters(), scale], lr=0.1)
for _ in range(4):
    loss = (scale * net(torch.randn(5, 3))).tanh().square().mean()
-    (slope,) = torch.autograd.grad(loss, net.weight.clone(), create_graph=True)
+    (slope,) = torch.autograd.grad(loss, net.weight, create_graph=True)
    train: (loss + (slope.norm() - 1).square())
! unsafe: the code leaves the weights of the step before out, and only the loss says that it goes on from them
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def stepped(loss, net, params=None):
    params = list(net.parameters()) if params is None else params
    grads = torch.autograd.grad(loss, params)
    return [(p - 0.1 * g).detach().requires_grad_() for p, g in zip(params, grads)]


def adapted(net, x):
    params = list(net.parameters())
    for _ in range(2):
        loss = torch.nn.functional.linear(x, *params).pow(2).mean()
-        params = stepped(loss, net)
+        params = stepped(loss, net, params=params)
    return params


for _ in range(4):
    x = torch.randn(5, 3)
    fast = adapted(net, x)
    loss = (torch.nn.functional.linear(x, *fast) - 1).pow(2).mean()
    for p, g in zip(net.parameters(), torch.autograd.grad(loss, fast)):
        p.grad = g
    opt.step()
! the caller has a variable of that name, and gives another
def slopes(loss, by=None):
    by = [torch.ones(3, requires_grad=True)] if by is None else by
    return torch.autograd.grad(loss, by)


def along(x, other):
    by = [x]
    return slopes(by[0].exp().sum(), by=[*by, other])


a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
print(sum(one.sum() for one in along(a, b)).item())
! a helper gives something else than the derivative
p = torch.rand(6, 2, requires_grad=True)


def steepness(y, x):
    return torch.autograd.grad(y.sum(), x, create_graph=True)[0].norm()


steepness(p.square(), p[:, 0:1]).backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the failing call itself, and where the function that differentiates is called."""
        for (frame, inner, asks), (_, source, call) in itertools.pairwise(sources.located(diagnosis.asked[:2])):
            helper, given = sources.function(frame), calls.differentiated_by(asks)
            if helper is None or given is None or not isinstance(call, ast.Call):
                break
            yield from self._passed_on(source, call, helper, given)
            if isinstance(given, ast.Name) and not _is_frozen(diagnosis) and _gives_back(inner, asks, helper):
                yield from self._in_calls(source, call, helper, given.id)
        if not _is_frozen(diagnosis):
            yield from self._by_the_whole(diagnosis, sources)

    def _by_the_whole(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The derivative by what was copied, or by what the input is a view of, and the same view of that."""
        for _, source, call in sources.located(diagnosis.asked[:1]):
            match given := calls.differentiated_by(call):
                case ast.Call(func=ast.Attribute(value=copied, attr="clone")):
                    edits = replace(source, given, source.segment(copied))
                    yield self.propose(edits, WHY_COPY, title="Take the derivative by what was copied")
                    return
            view = given and _viewed(source, given)
            if given is None or not view:
                return
            match source.parent(call):
                case ast.Subscript(slice=ast.Constant(value=0)) as taken:
                    edits = append_call(source, taken, view[1])
                case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name)])]) as bound:
                    edits = insert_after(source, bound, [f"{name} = {name}{view[1]}"])
                case _:
                    return
            yield self.propose([*replace(source, given, view[0]), *edits], WHY_WHOLE)

    def _in_calls(self, source: Source, call: ast.Call, helper: calls.Function, name: str) -> Iterator[Proposal]:
        """The same of all that a function has a helper differentiate by, where the helper gives the derivative back."""
        edits: list[Step] = []
        for one in calls.within(source.function(call) or source.tree):
            same = calls.path_of(one.func) == calls.path_of(call.func)
            by = calls.argument(one, calls.parameters(helper), name) if same else None
            if by is not None and (view := _viewed(source, by)):
                edits += [*replace(source, by, view[0]), *append_call(source, one, view[1])]
        if edits:
            yield self.propose(edits, WHY_WHOLE, title="Take parts of the derivatives by the whole")

    def _passed_on(
        self, source: Source, call: ast.Call, helper: calls.Function, given: ast.expr
    ) -> Iterator[Proposal]:  # fmt: skip
        """What a function differentiates by, given by a caller that has a variable of that name and leaves it out."""
        caller, known = source.function(call), calls.parameters(helper)
        if caller is None or any(word.arg is None for word in call.keywords):
            return
        for name in names.locals_read(helper, given) & names.locals_of(caller) & calls.defaults(helper).keys():
            if calls.argument(call, known, name) is None:
                edits = set_keyword(source, call, name, name)
                yield self.propose(edits, WHY_PASSED, title=f"Hand on `{name}`")


def _is_frozen(diagnosis: Diagnosis) -> bool:
    """Whether an input requires no gradient, which is another fault."""
    return any(origin.kind == "made" for origin in diagnosis.trace.origins)


def _viewed(source: Source, given: ast.expr) -> tuple[str, str] | None:
    """What an input, or the one value of its variable, is a view of, and how it is written behind that."""
    path = calls.path_of(given)
    bound = list(names.assignments(source, path)) if path else []
    if len(bound) == 1 and source.function(bound[0]) is source.function(given):
        if (cut := _cut(source, bound[0], path)) is not None:
            return cut
        given = next(names.given_to(bound[0], path), given)
    match given:
        case ast.Subscript(value=whole, slice=ast.Tuple() | ast.Slice()) if calls.path_of(whole):
            pass
        case ast.Call(ast.Attribute(whole, name)) if calls.path_of(whole) and name in _FORMS:
            pass
        case _:
            return None
    return source.segment(whole), source.text[source.extent(whole)[1] : source.extent(given)[1]]


def _cut(source: Source, bound: ast.stmt, path: str) -> tuple[str, str] | None:
    """The same of one of the parts that a tensor was cut into: `x, t = p.split(1, dim=1)`."""
    match bound:
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Call(func=ast.Attribute(held, cut)) as call) if (
            cut in _CUTS
        ):
            given = [source.segment(one) for one in (*call.args, *call.keywords)]
            whole = given.pop(0) if calls.path_of(held) == "torch" else source.segment(held)
            return whole, f".{cut}({', '.join(given)})[{[*map(calls.path_of, parts)].index(path)}]"
    return None


def _gives_back(source: Source, call: ast.expr, helper: calls.Function) -> bool:
    """Whether a function gives back the one derivative that it takes, and nothing else."""
    taken = source.parent(call)
    if not (isinstance(taken, ast.Subscript) and isinstance(taken.slice, ast.Constant) and taken.slice.value == 0):
        return False
    given = live.returned(helper)
    match source.parent(taken):
        case ast.Return():
            return len(given) == 1
        case ast.Assign(targets=[ast.Name(id=name)]):
            return names.bound_once(helper, name) is taken and [calls.path_of(one) for one in given] == [name]
    return False
