"""A derivative by something that the result does not depend on, as autograd sees it.

## What it does
Lets the input require a gradient where it is made, bound or handed in (`x.requires_grad_()`), so that what is computed
from it knows it; where a loss is to be trained through the derivative, gives that a graph, too (`create_graph=True`).
Of an input that is a new view of what the forward was given, takes that part of the derivative by the whole:
`grad(u, p)[0][:, 0:1]`. Hands on what a caller has for an input that is left to its default (`params=params`).
For one of several inputs that a result does not use, asks for zeros with `allow_unused=True, materialize_grads=True`.
Where that was allowed already, and the None is then computed with, only among other inputs.

## Why autograd fails
`torch.autograd.grad` goes back from the result to the inputs. It does not find an input that required no gradient when
the result was computed, or that took no part in it.

## Fix safety
A derivative by an input that requires no gradient can only mean that it should. Zeros for an unused one are its
true gradient. The run compares what optimizers then use.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from autofix.probe.wire import Origin
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, live, names, vocabulary
from autofix.syntax.edits import Step, append_call, insert_after, insert_before, move_before, replace, set_keyword

WHY_INPUT = "The input requires a gradient before anything is computed from it, so that the result's graph reaches it."
WHY_EARLIER = "What goes into the forward is the leaf that the derivative is taken by, not what it was made of."
WHY_GRAPH = f"{WHY_INPUT} Its derivative has a graph, so that a loss is trained through it."
WHY_WHOLE = "The result was computed from the whole; each new view of it is another tensor, which took no part."
WHY_COPY = "The result was computed from the tensor itself; a new copy of it took no part."
WHY_PASSED = "The derivative is by the caller's tensor, which the result was computed from, not by a default."
WHY_UNUSED = "Where the result does not depend on an input, its derivative is zero."
_DEEPEST = 4
_FORMS = frozenset({"flatten", "permute", "reshape", "squeeze", "t", "transpose", "unsqueeze", "view"})
_CREATE = vocabulary.GRAD.index("create_graph")


class UnusedInput(Rule):
    code, name = "AG405", "unused-input"
    title = "Let the input require a gradient"
    causes = frozenset({Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    usual = (
        "failed",
        "a derivative is usually by the very tensor that the result was computed from, once that requires a gradient",
    )
    examples = Example.each("""\
from functools import partial
! where it is made
net = torch.nn.Linear(1, 1)
-x = torch.rand(4, 1)
+x = torch.rand(4, 1).requires_grad_()
(slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
slope.pow(2).sum().backward()
print(net.weight.grad.item())
! unsafe: the code takes the derivative by a tensor that the forward did not have
net = torch.nn.Linear(2, 1)
for p in net.parameters():
    p.requires_grad_(False)
x = torch.rand(4, 2)
for _ in range(3):
+    x = x.clone().detach().requires_grad_()
    energy = net(x).pow(2).sum() + net.bias.requires_grad_().sum()
-    x = x.clone().detach().requires_grad_()
    x = x - 0.1 * torch.autograd.grad(energy, x)[0]
print(x.sum().item())
! the loop binds its input anew, so that it needs the flag each time
! unsafe: no run of the code as it stands has gradients to compare with
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.rand(4, 3)
    near = x + 0.01 * torch.randn(4, 3)
    for _ in range(3):
+        near.requires_grad_()
        loss = (net(near) - net(x)).pow(2).sum()
        grad = torch.autograd.grad(loss, [near])[0]
        near = near.detach() + 0.1 * grad.sign()
    train: net(near.detach()).pow(2).mean()
! a penalty that trains nothing without a graph of its own
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
-    x = torch.rand(6, 3) - 0.5
+    x = (torch.rand(6, 3) - 0.5).requires_grad_()
    score = net(x)
-    (slope,) = torch.autograd.grad(score.sum(), x, retain_graph=True)
+    (slope,) = torch.autograd.grad(score.sum(), x, retain_graph=True, create_graph=True)
    loss = score.pow(2).mean() + (slope.norm(2, 1) - 1).pow(2).mean()
    train: loss
! where a function is given it
net = torch.nn.Linear(1, 1)


def residual(t):
+    t.requires_grad_()
    u = net(t)
    (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    return du + u


residual(torch.rand(4, 1)).pow(2).sum().backward()
print(net.weight.grad.item())
! the loop binds what the helper is given
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def penalty(inputs, scores):
    (slope,) = torch.autograd.grad(scores.sum(), inputs, create_graph=True)
    return slope.pow(2).sum(1).mean()


for real, weight in zip(torch.rand(4, 6, 3).unbind(), torch.rand(4, 6, 1).unbind()):
+    real.requires_grad_()
    scores = net(real)
    loss = (weight * scores).mean() + penalty(real, scores)
    train: loss
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
! a parameter that one loss does not use
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
-grads = torch.autograd.grad(a.pow(2).sum(), [a, b])
+grads = torch.autograd.grad(a.pow(2).sum(), [a, b], allow_unused=True, materialize_grads=True)
print(sum(g.sum() for g in grads).item())
! one of several that is marked behind the forward
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
-    x, t = torch.rand(5, 1), torch.rand(5, 1).requires_grad_()
+    x, t = torch.rand(5, 1).requires_grad_(), torch.rand(5, 1).requires_grad_()
    u = net(torch.cat([x, t], 1)).exp()
    x.requires_grad_()
    slopes = torch.autograd.grad(u.sum(), [x, t], create_graph=True)
    train: sum((slope - 1).square().mean() for slope in slopes)
! what is not used is allowed, and its None is computed with
net = torch.nn.ModuleDict({"body": torch.nn.Linear(3, 1), "head": torch.nn.Linear(3, 1)})
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def stepped(params, grads):
    return [p - 0.1 * g for p, g in zip(params, grads)]


for _ in range(4):
    x, params = torch.randn(8, 3), list(net.parameters())
    inner = net["body"](x).square().mean()
-    grads = torch.autograd.grad(inner, params, create_graph=True, allow_unused=True)
+    grads = torch.autograd.grad(inner, params, create_graph=True, allow_unused=True, materialize_grads=True)
    fast = stepped(params, grads)
    loss = sum((torch.nn.functional.linear(x, w, b) - 1).square().mean() for w, b in (fast[:2], fast[2:]))
    train: loss
! by a part of what the forward was given, cut out anew
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    p = torch.rand(6, 2).requires_grad_()
    u = net(p)
-    u_x = torch.autograd.grad(u.sum(), p[:, 0:1], create_graph=True)[0]
+    u_x = torch.autograd.grad(u.sum(), p, create_graph=True)[0][:, 0:1]
    train: (u_x + u).pow(2).mean()
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
-    return torch.autograd.grad(loss, by)
+    return torch.autograd.grad(loss, by, allow_unused=True, materialize_grads=True)


def along(x, other):
    by = [x]
    return slopes(by[0].exp().sum(), by=[*by, other])


a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
print(sum(one.sum() for one in along(a, b)).item())
! all that is given is None: zeros would train nothing
w, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
(slope,) = torch.autograd.grad(w.exp().sum(), [other], allow_unused=True)
w.data -= 0.1 * slope
! the options are in a mapping that is made elsewhere
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
options = {"create_graph": True}
grads = torch.autograd.grad(a.pow(2).sum(), [a, b], **options)
! the inputs are bound into the function that is called
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
derivative = partial(torch.autograd.grad, inputs=[a, b])
derivative(a.pow(2).sum())
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the input's maker and at the tops of the functions that it is handed to; else allow that it is unused."""
        made = [origin for origin in diagnosis.trace.origins if origin.kind == "made"]
        graph = [*self._graph(diagnosis, sources)]
        if made:
            yield from self._handed(diagnosis, sources, graph)
        for origin in made:
            for depth, (_, source, node) in enumerate(sources.located(origin.stack[:_DEEPEST])):
                if isinstance(node, calls.VALUES):
                    edits = append_call(source, node, ".requires_grad_()")
                    yield self.propose(edits, WHY_INPUT, later=2 + 3 * depth)
                    if graph and not depth:
                        yield self.propose([*edits, *graph], WHY_GRAPH, later=Tier.CREATE - self.tier)
            yield from self._earlier(origin, sources)
        yield from self._passed_on(diagnosis, sources)
        if not made:
            yield from self._by_the_whole(diagnosis, sources)
            yield from self._by_the_whole_in_helper(diagnosis, sources)
        if len({origin.stack[:1] for origin in made}) == 1:
            yield from self._each_time(diagnosis, sources)
        if not made or any(origin.kind == "none_among" for origin in diagnosis.trace.origins):
            yield from self._allowed(diagnosis, sources)

    def _graph(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Step]:
        """What gives the derivative a graph that was not asked for one."""
        for _, source, node in sources.located(diagnosis.asked[:1]):
            if not isinstance(node, ast.Call) or _input(node) is None or len(node.args) > _CREATE:
                continue
            if calls.argument(node, vocabulary.GRAD, "create_graph") is None:
                yield from set_keyword(source, node, "create_graph", "True")

    def _earlier(self, origin: Origin, sources: Sources) -> Iterator[Proposal]:
        """The statement that makes a leaf of a variable, before the forward that read the variable as it was."""
        for _, source, node in sources.located(origin.stack[:1]):
            statement = source.statement(node)
            before = list(blocks.before(blocks.block_of(source, statement), statement))
            readers = [one for one in before if names.meets(names.binds(statement), names.reads(one))]
            passed = before[before.index(readers[0]) :] if readers else []
            again = names.meets(names.binds(statement), names.reads(statement))
            if passed and again and not names.meets(names.bound_by(passed), names.reads(statement)):
                edits = move_before(source, [statement], passed[0])
                yield self.propose(edits, WHY_EARLIER, title="Mark the input before the forward")

    def _each_time(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the top of the loop that asks for the gradient: a name bound anew needs the flag each time."""
        for _, source, node in sources.located(diagnosis.asked[:1]):
            given, loop = _input(node), next(blocks.loops(source, node), None)
            if not isinstance(given, ast.Name) or loop is None:
                return
            if given.id in names.binds(loop) and not _binds_before(loop, node, given.id):
                edits = insert_before(source, loop.body[0], [f"{given.id}.requires_grad_()"])
                yield self.propose(edits, WHY_INPUT, later=1)

    def _handed(self, diagnosis: Diagnosis, sources: Sources, graph: list[Step]) -> Iterator[Proposal]:
        """`x.requires_grad_()` in each function that hands the input on, innermost first, up to that which makes it.

        At the top of a function that is given it; behind the statement that binds it, where a function does.
        """
        wanted = ""
        for depth, (_, source, node) in enumerate(sources.located(diagnosis.asked[:_DEEPEST])):
            if not isinstance(node, ast.Call):
                return
            helper = sources.function(diagnosis.asked[depth - 1])
            given = _input(node) if depth == 0 else _given(node, wanted, helper)
            if not isinstance(given, ast.Name):
                return
            wanted, function = given.id, source.function(node)
            line = [f"{wanted}.requires_grad_()"]
            if (bound := _bound(source, node, wanted, line)) is not None:
                yield self.propose(bound, WHY_INPUT, later=3 + depth)
                if graph:
                    yield self.propose([*bound, *graph], WHY_GRAPH, later=1 + depth + Tier.CREATE - self.tier)
            if function is None or wanted not in calls.parameters(function):
                return
            yield self.propose(insert_before(source, blocks.top(function), line), WHY_INPUT, later=depth)

    def _by_the_whole(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The derivative by what the input is a view of, and the same view of that."""
        for _, source, call in sources.located(diagnosis.asked[:1]):
            given = _input(call)
            if (
                isinstance(given, ast.Call)
                and calls.name_of(given) == "clone"
                and isinstance(given.func, ast.Attribute)
            ):
                edits = replace(source, given, source.segment(given.func.value))
                yield self.propose(edits, WHY_COPY, title="Take the derivative by what was copied")
                return
            view = given and _viewed(source, given)
            if given is None or not view:
                return
            whole, form = view
            match source.parent(call):
                case ast.Subscript(slice=ast.Constant(value=0)) as taken:
                    edits = append_call(source, taken, form)
                case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name)])]) as bound:
                    edits = insert_after(source, bound, [f"{name} = {name}{form}"])
                case _:
                    return
            title = "Take its part of the derivative by the whole"
            yield self.propose([*replace(source, given, whole), *edits], WHY_WHOLE, title=title)

    def _by_the_whole_in_helper(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The same of all that a function has a helper differentiate by, where the helper gives the derivative back."""
        for (frame, inner, asks), (_, source, call) in itertools.pairwise(sources.located(diagnosis.asked[:2])):
            helper, given = sources.function(frame), _input(asks)
            if helper is None or not isinstance(given, ast.Name) or not _gives_back(inner, asks, helper):
                return
            edits: list[Step] = []
            for one in calls.within(source.function(call) or source.tree):
                same = calls.path_of(one.func) == calls.path_of(getattr(call, "func", None))
                by = _given(one, given.id, helper) if same else None
                if by is not None and (view := _viewed(source, by)):
                    edits += [*replace(source, by, view[0]), *append_call(source, one, view[1])]
            if edits:
                yield self.propose(edits, WHY_WHOLE, title="Take parts of the derivatives by the whole")

    def _passed_on(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """What a function differentiates by, given by a caller that has a variable of that name and leaves it out."""
        for (frame, _, asks), (_, source, call) in itertools.pairwise(sources.located(diagnosis.asked[:2])):
            helper, given = sources.function(frame), _input(asks)
            caller = source.function(call)
            if helper is None or caller is None or given is None or not isinstance(call, ast.Call):
                return
            left = [one for one in calls.defaults(helper) if _given(call, one, helper) is None]
            for name in names.locals_read(helper, given) & names.locals_of(caller):
                if name in left and not any(word.arg is None for word in call.keywords):
                    edits = set_keyword(source, call, name, name)
                    yield self.propose(edits, WHY_PASSED, title=f"Hand on `{name}`")

    def _allowed(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        for _, source, node in sources.located(diagnosis.asked[:1]):
            if not isinstance(node, ast.Call) or _input(node) is None:
                raise Declined("the inputs are not an argument of this call")
            title = "Take zeros for what is not used"
            if _is_allowed(node):
                yield from self._zeros(diagnosis, source, node)
                return
            allow = set_keyword(source, node, "allow_unused", "True", position=vocabulary.GRAD.index("allow_unused"))
            if calls.keyword(node, "materialize_grads") is None:
                zeros = set_keyword(source, node, "materialize_grads", "True")
                yield self.propose([*allow, *zeros], WHY_UNUSED, title=title, later=1)
            yield self.propose(allow, WHY_UNUSED, title="Allow what is not used", later=4)

    def _zeros(self, diagnosis: Diagnosis, source: Source, call: ast.Call) -> Iterator[Proposal]:
        """Zeros in place of the None that the call may give; not where it gives nothing else."""
        if not any(origin.kind == "none_among" for origin in diagnosis.trace.origins):
            raise Declined("nothing that the derivative is by was used: zeros would train nothing")
        zeros = set_keyword(source, call, "materialize_grads", "True")
        yield self.propose(zeros, WHY_UNUSED, title="Take zeros for what is not used", later=1)


def _viewed(source: Source, given: ast.expr) -> tuple[str, str] | None:
    """What an input, or the one value of its variable, is a view of, and how it is written behind that."""
    path = calls.path_of(given)
    scope, bound = source.function(given), list(names.assignments(source, path)) if path else []
    if len(bound) == 1 and source.function(bound[0]) is scope:
        given = next(names.given_to(bound[0], path), given)
    match given:
        case ast.Subscript(value=whole, slice=ast.Tuple()) if calls.path_of(whole):
            pass
        case ast.Call(func=ast.Attribute(value=whole, attr=name)) if calls.path_of(whole) and name in _FORMS:
            pass
        case _:
            return None
    (start, end), last = source.extent(whole), source.extent(given)[1]
    return source.text[start:end], source.text[end:last]


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


def _is_allowed(call: ast.Call) -> bool:
    """Whether a call may give None for what is not used."""
    allowed = calls.argument(call, vocabulary.GRAD, "allow_unused")
    return isinstance(allowed, ast.Constant) and allowed.value is True


def _binds_before(loop: ast.For | ast.While, node: ast.expr, name: str) -> bool:
    """Whether a loop binds `name` in a statement of its body before the one with `node`, or by itself."""
    before = [one for one in loop.body if (one.end_lineno or one.lineno) < node.lineno]
    return any(name in names.binds(one) for one in (*before, *([loop.target] if isinstance(loop, ast.For) else [])))


def _bound(source: Source, node: ast.expr, name: str, lines: list[str]) -> list[Step] | None:
    """Lines behind the statement that last bound a variable before `node`, in its block or around it."""
    for one in blocks.holders(source, node):
        for statement in reversed(blocks.before(blocks.block_of(source, one), one)):
            if name in names.binds(statement):
                return insert_after(source, statement, lines)
        around = source.parent(one)
        if isinstance(around, (ast.For, ast.With)) and name in names.binds(around):
            return insert_before(source, around.body[0], lines)
    return None


def _input(call: ast.AST) -> ast.expr | None:
    """What a call of `grad` differentiates by."""
    found = calls.argument(call, vocabulary.GRAD, "inputs") if isinstance(call, ast.Call) else None
    if isinstance(found, (ast.List, ast.Tuple)) and len(found.elts) == 1:
        return found.elts[0]
    return found


def _given(call: ast.Call, name: str, function: calls.Function | None) -> ast.expr | None:
    """The argument that a call gives to a parameter of the function that it calls."""
    return calls.argument(call, calls.parameters(function), name) if function is not None else None
