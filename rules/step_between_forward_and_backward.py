"""An optimizer step between a forward and the backward that needs the old parameters.

## What it does
Moves the forward behind the step, computes it again there (with what comes from an earlier graph detached), or moves
the step, with what belongs to it, behind the backward. The same for a weight clipping or another update that a
statement of its own makes, and for all updates that a helper makes too early: they are called behind the later one.

## Why autograd fails
A layer saves its weight for backward. `optimizer.step()` writes into that weight, so a loss that was computed before
the step, and goes backward after it, finds other values than those it was computed with: D stepped before the loss of
G runs back through D, the critic stepped before the loss of the actor.

## Fix safety
Computing the forward again, or later, uses parameters that are one update newer: the same graph with fresh values.
Moving the step keeps the values, but then the other loss may add to gradients that the step uses, which the run tells.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress

from autofix.diagnosis import scenes
from autofix.diagnosis.scenes import Scene
from autofix.probe.wire import Frame, Stack, Write
from autofix.search import owning, postponing
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks, calls, names, update, vocabulary, writes
from autofix.syntax.edits import insert_after, insert_before, move_after, move_before

WHY_MOVE = "The forward runs with the parameters that its backward will find."
WHY_AGAIN = "The part that the step made stale is computed again, with the parameters that backward will find."
WHY_CUT = "The part that the step made stale is computed again, from values that no longer lead into an earlier graph."
WHY_STEP = "The parameters change only after the backward that needs the old ones."
POSTPONE = "Make these updates after the later one"
_USUAL = "a step usually stands behind all backwards that need its parameters as they are before it"
_COMPOUND = (ast.If, ast.With)
_MOST = 2
_DETACH = ".detach()"


class StepBetweenForwardAndBackward(Rule):
    code, name = "AG102", "step-between-forward-and-backward"
    title = "Compute after the step what the later backward needs"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.ORDER
    usual = "stepped", _USUAL
    examples = Example.each("""\
G, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
g_opt, d_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (G, D))
! the last part again
for _ in range(4):
    fake = torch.tanh(G(torch.randn(4, 2)))
    score = D(fake)
    d_opt.zero_grad()
    score.mean().backward(retain_graph=True)
    d_opt.step()
+    score = D(fake)
    g_loss = -score.mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
! of a condition's branches what is needed, and only where the backward is reached
paired = False
for i in range(6):
    real, fake = torch.randn(4, 3), torch.tanh(G(torch.randn(4, 2)))
    if paired:
        real_score = D(real) - D(fake).mean()
        score = D(fake) - D(real).mean()
    else:
        real_score = D(real)
        score = D(fake)
    d_opt.zero_grad()
    (score.mean() - real_score.mean()).backward(retain_graph=True)
    d_opt.step()
    if i % 2:
        g_opt.zero_grad()
+        if paired:
+            score = D(fake) - D(real).mean()
+        else:
+            score = D(fake)
        g_loss = -score.mean()
        g_loss.backward()
        g_opt.step()
! the condition asks for what is computed again
for i in range(6):
    fake = torch.tanh(G(torch.randn(4, 2)))
    score = D(fake)
    d_opt.zero_grad()
    score.mean().backward(retain_graph=True)
    d_opt.step()
+    score = D(fake)
    if score.numel() == 4:
        g_opt.zero_grad()
        g_loss = -score.mean()
        g_loss.backward()
        g_opt.step()
! the last part again, from a detached value
e_opt = torch.optim.SGD([*G.parameters(), D[0].bias], lr=0.1)
for _ in range(4):
    x = torch.randn(4, 2, requires_grad=True)
    z = torch.tanh(G(x))
    score = D(z)
    e_opt.zero_grad()
    score.mean().backward(retain_graph=True)
    e_opt.step()
    d_opt.zero_grad()
+    score = D(z.detach())
    (score - 1).pow(2).mean().backward()
    d_opt.step()
! unsafe: only the sum of the losses again, without what one of them sends
for _ in range(4):
    z = torch.tanh(G(G(torch.randn(4, 2))[:, :2]))
    wrong = (D(z) - 1).pow(2).mean()
    right = D(torch.randn(4, 3)).pow(2).mean()
    total = right + 0.5 * wrong
    g_opt.zero_grad()
    z.pow(2).mean().backward(retain_graph=True)
    g_opt.step()
    d_opt.zero_grad()
+    total = right + 0.5 * wrong.detach()
    total.backward()
    d_opt.step()
! what is copied of the weights is copied after the step; a loop empties the gradients
pi, q, old = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
pi_opt, q_opt = torch.optim.SGD(pi.parameters(), lr=0.1), torch.optim.SGD(q.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    aim, pi_loss = old(x).detach() + 1, -q(pi(x)).mean()
-    for opt in (q_opt,):
-        opt.zero_grad()
-    (q(x) - aim).pow(2).mean().backward()
-    q_opt.step()
-    old.load_state_dict(q.state_dict())
    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
+    for opt in (q_opt,):
+        opt.zero_grad()
+    (q(x) - aim).pow(2).mean().backward()
+    q_opt.step()
+    old.load_state_dict(q.state_dict())
! the losses come in a dict
def losses_of(x, both):
    fake = G(x)
    found = {"real": D(torch.randn(4, 3)).mean(), "fake": D(fake.detach()).mean()}
    return found | ({"score": -D(fake).mean()} if both else {})
for i in range(8):
    losses = losses_of(torch.randn(4, 2), i % 2)
-    d_opt.zero_grad()
-    losses["d"] = losses["fake"] - losses["real"]
-    losses["d"].backward()
-    d_opt.step()
    if i % 2:
        g_opt.zero_grad()
        losses["g"] = 0.5 * losses["score"]
        losses["g"].backward()
        g_opt.step()
+    d_opt.zero_grad()
+    losses["d"] = losses["fake"] - losses["real"]
+    losses["d"].backward()
+    d_opt.step()
! the forward of the last turn of a loop that steps, for another optimizer behind it
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
w_opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    state = torch.randn(5, 3).requires_grad_()
    x_opt = torch.optim.SGD([state], lr=0.1)
    for _ in range(3):
        energy = (net(state) - 1).pow(2).sum() + state.pow(2).sum()
        x_opt.zero_grad()
        energy.backward(retain_graph=True)
        x_opt.step()
    w_opt.zero_grad()
+    energy = (net(state) - 1).pow(2).sum() + state.pow(2).sum()
    energy.backward()
    w_opt.step()
! a loop makes the loss, and its backward behind it is the only one
weights = torch.ones(3, requires_grad=True)
for _ in range(3):
    loss = (weights * weights).sum()
    with torch.no_grad():
        weights.mul_(0.9)
loss.backward()
! the graph is that of an earlier iteration, and wants a cut
cell = torch.nn.GRUCell(2, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(3, 4)
for _ in range(4):
    h = cell(torch.randn(3, 2), h)
    opt.zero_grad()
    h.pow(2).mean().backward(retain_graph=True)
    opt.step()
! the write is part of the forward
x = torch.sigmoid(G(torch.ones(1, 2)))
x += 1
x.sum().backward()
! as it is written nothing reaches the generator
for _ in range(3):
    fake = G(torch.ones(5, 2))
    scores = D(fake.detach())
    d_opt.zero_grad()
    scores.pow(2).mean().backward(retain_graph=True)
    d_opt.step()
    g_opt.zero_grad()
+    scores = D(fake)
    (scores - 1).pow(2).mean().backward()
    g_opt.step()
! a helper makes two updates before the generator's, one of them under a condition
C = torch.nn.Linear(3, 1)
c_opt = torch.optim.SGD(C.parameters(), lr=0.1)


def update(optimizer, loss):
+    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for i in range(4):
    for optimizer in (g_opt, d_opt, c_opt):
        optimizer.zero_grad()
    fake = torch.tanh(G(torch.randn(4, 2)))
    loss = -D(fake).mean() - C(fake).mean()
    if i >= 0:
        d_loss = D(fake.detach()).mean() - D(torch.randn(4, 3)).mean()
-        update(d_opt, d_loss)
-    update(c_opt, C(fake.detach()).pow(2).mean())
    update(g_opt, loss)
+    if i >= 0:
+        update(d_opt, d_loss)
+    update(c_opt, C(fake.detach()).pow(2).mean())
! the helper clears, and its call has a condition of its own
def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for i in range(4):
    fake = torch.tanh(G(torch.randn(4, 2)))
    loss = -D(fake).mean()
-    if i >= 0:
-        update(d_opt, D(fake.detach()).pow(2).mean())
    update(g_opt, loss)
+    if i >= 0:
+        update(d_opt, D(fake.detach()).pow(2).mean())
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each statement that wrote: the forward behind it, again behind it, or the write behind the backward."""
        seen: set[ast.stmt] = set()
        one_is_left_out = 0 < len(diagnosis.failure.concerned) < len(diagnosis.trace.counts)
        steps = {sources.node(site.stack[0]) for site in diagnosis.trace.step_sites if site.stack}
        for saved in diagnosis.trace.saved:
            for write in reversed(saved.writes):
                stacks = saved.made, write.stack, diagnosis.failure.stack
                scene = scenes.scene(sources, *stacks)
                if scene is None or scene.step in seen or not (write.optimizer >= 0 or _moves(scene, *stacks, write)):
                    continue
                seen.add(scene.step)
                if scene.done_before():
                    yield from self._again(scene)
                    continue
                if write.optimizer >= 0 or isinstance(scene.step, _COMPOUND):
                    yield from self._later(scene)
                if write.optimizer >= 0 or any("backward" in calls.method(one) for one in scene.before):
                    yield from self._again(scene, attached=one_is_left_out)
                yield from self._step(scene, steps, sources, trained=write.optimizer in diagnosis.failure.concerned)
        for later, edits in enumerate(postponing.updates(diagnosis, sources)):
            yield self.propose(edits, WHY_STEP, title=POSTPONE, tier=Tier.AGAIN, later=2 + later)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """At each step; where a helper makes it, at the calls of the helper."""
        early = dict.fromkeys(frame for frame, _ in postponing.early(diagnosis))
        yield from ((frame, _USUAL) for frame in early) if early else super().hints(diagnosis)

    def _later(self, scene: Scene) -> Iterator[Proposal]:
        """The forward, and what hangs on it, behind the step; first, unless another loss hangs on it."""
        moved = names.forward(scene.made, scene.before[1:])
        bound, read = names.bound_by(moved), names.read_by(moved)
        anchor = scene.first_use(bound)
        passed = [
            one for one in (*scene.before, *(blocks.before(scene.after, anchor) if anchor else ())) if one not in moved
        ]
        if any(map(update.trains, moved)) or names.meets(bound, names.reads(scene.step)):
            return
        if any(names.binds(one) & (read | bound) for one in passed):
            return
        others = any(update.trains(one) and names.meets(bound, names.reads(one)) for one in scene.after[:-1])
        tier = Tier.AGAIN if others else self.tier
        move, place = (move_before, anchor) if anchor else (move_after, scene.step)
        with suppress(Declined):
            edits = [one for run in blocks.runs(scene.before, moved) for one in move(scene.source, run, place)]
            yield self.propose(edits, WHY_MOVE, title="Compute it after the step", tier=tier, later=int(others))

    def _again(self, scene: Scene, *, attached: bool = False) -> Iterator[Proposal]:
        """Copies of the forward: of all that leads from it to the backward, of the last part, of more before it.

        Where they have a detach, also without it: first, where an optimizer is left out (`attached`).
        """
        leading = (*scene.upstream, *scene.before, *scene.after[:-1])
        whole = names.backward(names.reads(scene.backward), [one for one in leading if not update.has_no_gradient(one)])
        earlier = [one for one in whole if one not in scene.after]
        late = [one for one in names.forward(scene.made, scene.before[1:]) if one in earlier or one is scene.made]
        kept = names.leading([*late, *(one for one in whole if one in scene.after)], scene.backward)
        late = [one for one in late if one in kept and not update.trains(one)]
        upstream = [one for one in earlier if one in scene.upstream and update.calls(one) and not update.trains(one)]
        if any(_DETACH in scene.source.segment(one) for one in late):
            yield from self._copy(scene, late, set(), -1 if attached else 0, without=_DETACH)
        for cut in range(1, len(late[: _MOST + 2])):
            yield from self._copy(scene, late[cut:], names.bound_by(late[:cut]), 1)
        yield from self._copy(scene, late, set(), 0)
        yield from self._copy(scene, late, names.bound_by(upstream), 3)
        for more in range(1, min(len(upstream), _MOST) + 1):
            yield from self._copy(scene, [*upstream[-more:], *late], set(), 3 + more)

    def _copy(
        self, scene: Scene, statements: Sequence[ast.stmt], detached: set[str], later: int, *, without: str = ""
    ) -> Iterator[Proposal]:
        cut = names.read_by(statements) & detached
        if not statements or (detached and not cut):
            return
        with suppress(Declined):
            copied = [line for one in statements for line in _copied(scene, one, statements, cut)]
            lines = [line.replace(without, "") for line in copied] if without else copied
            anchor = _inside(scene, scene.first_use(names.bound_by(statements)), names.bound_by(statements))
            insert = insert_before if anchor else insert_after
            edits = insert(scene.source, anchor or scene.step, lines)
            title = "Compute it again after the step" + (", from detached values" if cut else "")
            title += ", with the graph of what goes in" if without else ""
            if cut and all(isinstance(one, ast.Assign) and _is_sum(one.value) for one in statements):
                title = f"Sum up after the step what is left: nothing learns from {_listed(cut)} there any more"
                later += _MOST + 1
            yield self.propose(edits, WHY_CUT if cut else WHY_AGAIN, title=title, tier=Tier.AGAIN, later=later)

    def _step(
        self, scene: Scene, steps: set[ast.AST | None], sources: Sources, *, trained: bool
    ) -> Iterator[Proposal]:  # fmt: skip
        """The step, or the whole update that it ends, behind the backward or the update that this one belongs to.

        `trained`: that backward leaves gradient in what the step updates, which the step would then use.
        """
        first = last = scene.block.index(scene.step)
        small = last + 1 - len(blocks.with_clipping(scene.block, scene.step))
        while first and all(map(vocabulary.leads_to_step, calls.methods(scene.block[first - 1]))):
            first -= 1
        first = owning.cleared(scene.block, first, scene.step, scene.end, scene.made)
        for following in scene.block[last + 1 : last + 2]:
            # A scheduler's step belongs to the optimizer's; another optimizer's does not.
            last += calls.method(following) in ("step", "update") and calls.statement_call(following) not in steps
        step, whole = scene.block[small : last + 1], scene.block[first : last + 1]
        behind = owning.along(sources, scene.source, [one for one in scene.after[:-1] if one not in whole])
        pairs = {(tuple(step), scene.backward): "Step after the later backward"}
        pairs.setdefault((tuple(step), scene.end), "Step after the later update")
        pairs.setdefault((tuple(whole), scene.end), "Make this update after the later one")
        # One forward for both losses would be run a second time for the later one alone.
        given = names.bound_by(names.forward(scene.made, scene.before[1:]))
        tier = self.tier if not trained and names.meets(given, names.read_by(whole)) else Tier.AGAIN
        with suppress(Declined):
            for (moved, anchor), title in pairs.items():
                edits = move_after(scene.source, moved, anchor)
                edits += [edit for one in behind for edit in move_after(scene.source, [one], anchor)]
                yield self.propose(edits, WHY_STEP, title=title, tier=tier, later=2)


def _is_sum(node: ast.expr) -> bool:
    """Whether an expression only adds what has a name: nothing is computed anew in it but the total."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _is_sum(left) and _is_sum(right)
        case ast.BinOp(left=ast.Constant(), op=ast.Mult(), right=one):
            return _is_sum(one)
        case ast.BinOp(left=one, op=ast.Mult() | ast.Div(), right=ast.Constant()):
            return _is_sum(one)
    return isinstance(node, (ast.Name, ast.Attribute))


def _listed(paths: set[str]) -> str:
    return " and ".join(f"`{path}`" for path in sorted(paths))


def _copied(scene: Scene, one: ast.stmt, copies: Sequence[ast.stmt], cut: set[str]) -> list[str]:
    """The lines of a statement, to be written again; of a condition's branches only what is needed behind the step."""
    lines = names.copied(scene.source, one, cut)
    if not isinstance(one, ast.If) or len(lines) != (one.end_lineno or 0) - one.lineno + 1:
        return lines
    needed = names.read_by([*copies[copies.index(one) + 1 :], *scene.after])
    vain: set[int] = set()
    for branch in filter(None, (one.body, one.orelse)):
        kept = names.backward(needed, branch)
        idle = [other for other in branch if isinstance(other, ast.Assign) and other not in kept]
        alone = all(other.lineno > before.lineno for before, other in itertools.pairwise((one, *branch)))
        if kept and alone:
            vain.update(line for other in idle for line in range(other.lineno, (other.end_lineno or 0) + 1))
    return [line for number, line in enumerate(lines, one.lineno) if number not in vain]


def _inside(scene: Scene, use: ast.stmt | None, bound: set[str]) -> ast.stmt | None:
    """The first use within the conditions under which the backward is reached: without it nothing is computed again."""
    while isinstance(use, ast.If) and _holds(use.body, scene.call):
        inner = names.first_use(use.body, bound)
        if inner is None or names.meets(bound, names.reads(use.test) | names.read_by(use.orelse)):
            break
        use = inner
    return use


def _holds(block: Sequence[ast.stmt], node: ast.AST) -> bool:
    return any(node is inner for one in block for inner in ast.walk(one))


def _moves(scene: Scene, made: Stack, written: Stack, failed: Stack, write: Write) -> bool:
    """Whether a write that is no optimizer's is a statement of its own: a helper's call, or a `with no_grad`."""
    helper = scenes.parting(made, written, failed)[1] != write.stack[0]
    method = calls.method(scene.step)
    called = helper and (bool(method) or isinstance(scene.step, _COMPOUND))
    return called or method == "load_state_dict" or writes.without_gradient(scene.step)
