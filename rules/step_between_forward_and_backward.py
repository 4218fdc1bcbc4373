"""An optimizer step between a forward and the backward that needs the old parameters.

## What it does
Moves the forward behind the step, computes it again there (with what comes from an earlier graph detached), or moves
the step, with what belongs to it, behind the backward. The same for a weight clipping or another update that a
statement of its own makes, and for all updates that a helper makes too early: they are called behind the later one.
Where that ends with the same step, one step is made for both.

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
from collections.abc import Iterator
from contextlib import suppress

from autofix.diagnosis import scenes
from autofix.diagnosis.scenes import Scene
from autofix.probe.wire import Frame, Stack, Write
from autofix.search import owning, postponing, repeating
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks, calls, names, update, writes
from autofix.syntax.edits import delete, move_after, move_before

WHY_MOVE = "The forward runs with the parameters that its backward will find."
WHY_AGAIN = "The part that the step made stale is computed again, with the parameters that backward will find."
WHY_CUT = "The part that the step made stale is computed again, from values that no longer lead into an earlier graph."
WHY_STEP = "The parameters change only after the backward that needs the old ones."
WHY_ONCE = "Both backwards find the parameters of their forward, and one step uses the gradients of both."
_USUAL = "a step usually stands behind all backwards that need its parameters as they are before it"
_COMPOUND = (ast.If, ast.With)


class StepBetweenForwardAndBackward(Rule):
    code, name = "AG102", "step-between-forward-and-backward"
    title = "Compute after the step what the later backward needs"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.ORDER
    usual = "stepped", _USUAL
    examples = Example.each("""\
G, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
g_opt, d_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (G, D))
! what is copied of the weights is copied after the step; a loop empties the gradients
pi, q, old = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
pi_opt, q_opt = torch.optim.SGD(pi.parameters(), lr=0.1), torch.optim.SGD(q.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    aim, pi_loss = old(x).detach() + 1, -q(pi(x)).mean()
-    for opt in (q_opt,):
-        opt.zero_grad()
-    (q(x) - aim).pow(2).mean().backward()
-    q_opt.step()
-    old.load_state_dict(q.state_dict())
    train[pi_opt]: pi_loss
+    for opt in (q_opt,):
+        opt.zero_grad()
+    (q(x) - aim).pow(2).mean().backward()
+    q_opt.step()
+    old.load_state_dict(q.state_dict())
! of a condition's branches what is needed, and only where the backward is reached
for i in range(6):
    real, fake = torch.randn(4, 3), torch.tanh(G(torch.randn(4, 2)))
    if i > 2:
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
+        if i > 2:
+            score = D(fake) - D(real).mean()
+        else:
+            score = D(fake)
        (-score.mean()).backward()
        g_opt.step()
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
! unsafe: two steps may be meant, where one is made for what both losses leave
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    opt.zero_grad()
    out = net(x)
    (out - x).pow(2).mean().backward(retain_graph=True)
-    opt.step()
    out.abs().mean().backward()
    opt.step()
! the graph is that of an earlier iteration, and wants a cut
cell, h = torch.nn.GRUCell(2, 4), torch.zeros(3, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(4):
    h = cell(torch.randn(3, 2), h)
    opt.zero_grad()
    h.pow(2).mean().backward(retain_graph=True)
    opt.step()
! the write is part of the forward
x = torch.sigmoid(G(torch.ones(1, 2)))
x += 1
x.sum().backward()
! a helper makes the update before the generator's, and does not clear
def update(optimizer, loss):
+    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for _ in range(4):
    for optimizer in (g_opt, d_opt):
        optimizer.zero_grad()
    fake = torch.tanh(G(torch.randn(4, 2)))
    loss = -D(fake).mean()
-    update(d_opt, D(fake.detach()).pow(2).mean())
    update(g_opt, loss)
+    update(d_opt, D(fake.detach()).pow(2).mean())
! the helper clears, and its call has a condition of its own
def update(optimizer, loss):
    train[optimizer]: loss


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
            title = "Make these updates after the later one"
            yield self.propose(edits, WHY_STEP, title=title, tier=Tier.AGAIN, later=2 + later)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """At each step; where a helper makes it, at the calls of the helper."""
        early = dict.fromkeys(frame for frame, _ in postponing.early(diagnosis))
        yield from ((frame, _USUAL) for frame in early) if early else super().hints(diagnosis)

    def _later(self, scene: Scene) -> Iterator[Proposal]:
        """The forward, and what hangs on it, behind the step; first, unless another loss hangs on it."""
        moved = scene.forward
        bound, read = names.bound_by(moved), names.read_by(moved)
        anchor = names.first_use(scene.after, bound)
        before = *scene.before, *(blocks.before(scene.after, anchor) if anchor else ())
        passed = names.bound_by(one for one in before if one not in moved)
        if any(map(update.trains, moved)) or names.meets(bound, names.reads(scene.step)) or passed & (read | bound):
            return
        others = any(update.trains(one) and names.meets(bound, names.reads(one)) for one in scene.after[:-1])
        tier = Tier.AGAIN if others else self.tier
        move, place = (move_before, anchor) if anchor else (move_after, scene.step)
        with suppress(Declined):
            edits = [one for run in blocks.runs(scene.before, moved) for one in move(scene.source, run, place)]
            yield self.propose(edits, WHY_MOVE, title="Compute it after the step", tier=tier, later=int(others))

    def _again(self, scene: Scene, *, attached: bool = False) -> Iterator[Proposal]:
        """Copies of the forward: of all that leads from it to the backward, of the last part, of more before it."""
        for way in repeating.ways(scene, attached=attached):
            title, why, later = "Compute it again after the step", WHY_AGAIN, way.later
            if way.attached:
                title += ", with the graph of what goes in"
            if way.cut:
                title, why = f"{title}, from detached values", WHY_CUT
            if way.only_adds():
                left_out = " and ".join(f"`{path}`" for path in sorted(way.cut))
                title = f"Sum up after the step what is left: nothing learns from {left_out} there any more"
                later += 3
            with suppress(Declined):
                yield self.propose(way.steps(scene), why, title=title, tier=Tier.AGAIN, later=later)

    def _step(
        self, scene: Scene, steps: set[ast.AST | None], sources: Sources, *, trained: bool
    ) -> Iterator[Proposal]:  # fmt: skip
        """The step, or the whole update that it ends, behind the backward or the update that this one belongs to.

        `trained`: that backward leaves gradient in what the step updates, which the step would then use.
        """
        step, whole = owning.whole_update(scene, steps)
        behind = owning.along(sources, scene.source, [one for one in scene.after[:-1] if one not in whole])
        pairs = {(tuple(step), scene.backward): "Step after the later backward"}
        if _is_made_again(scene):
            edits = [edit for one in step for edit in delete(scene.source, one)]
            yield self.propose(edits, WHY_ONCE, title="Make one step for both", tier=Tier.AGAIN, later=2)
            return
        pairs.setdefault((tuple(step), scene.end), "Step after the later update")
        pairs.setdefault((tuple(whole), scene.end), "Make this update after the later one")
        # One forward for both losses would be run a second time for the later one alone.
        given = names.bound_by(scene.forward)
        tier = self.tier if not trained and names.meets(given, names.read_by(whole)) else Tier.AGAIN
        with suppress(Declined):
            for (moved, anchor), title in pairs.items():
                edits = move_after(scene.source, moved, anchor)
                edits += [edit for one in behind for edit in move_after(scene.source, [one], anchor)]
                yield self.propose(edits, WHY_STEP, title=title, tier=tier, later=2)


def _is_made_again(scene: Scene) -> bool:
    """Whether the later update ends with the same step, and uses what the earlier backward left, too."""
    ending = scene.block[scene.block.index(scene.backward) : scene.block.index(scene.end) + 1]
    again = any(ast.dump(one) == ast.dump(scene.step) for one in ending)
    return again and not any("zero_grad" in calls.methods(one) for one in scene.after)


def _moves(scene: Scene, made: Stack, written: Stack, failed: Stack, write: Write) -> bool:
    """Whether a write that is no optimizer's is a statement of its own: a helper's call, or a `with no_grad`."""
    helper = scenes.parting(made, written, failed)[1] != write.stack[0]
    called = helper and (bool(calls.method(scene.step)) or isinstance(scene.step, _COMPOUND))
    puts_back = any(calls.method(one) == "load_state_dict" for one in (scene.step, *getattr(scene.step, "body", ())))
    return called or puts_back or writes.without_gradient(scene.step)
