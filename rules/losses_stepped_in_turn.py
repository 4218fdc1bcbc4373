"""Losses computed together, of which each goes backward and is stepped before the next.

## What it does
Lets every loss go backward before the first optimizer steps, each only for the parameters that its own optimizer owns:
`loss.backward(inputs=...)`. In a loop over losses and optimizers, the steps get a loop of their own behind it.

## Why autograd fails
The losses were computed from the same parameters. The first step changes some of them, so that the next loss, when it
goes backward, finds other values than those it was computed with: the loss of an actor runs back through critics that
have just been stepped.

## Fix safety
Safe where the run shows the gradients that the code describes: those of each loss at the parameters that all of them
were computed with. Without `inputs`, a later loss would leave its gradient in parameters that are about to be stepped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from autofix.diagnosis import scenes
from autofix.diagnosis.scenes import Turn
from autofix.probe.wire import Stack
from autofix.search import owning
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, delete, insert_after, move_after

WHY = "Each loss goes backward before its parameters are stepped, and reaches only those of its optimizer."
_AGAIN = ("items", "values", "keys", "zip", "enumerate", "range", "parameters")
"""Calls that give the same again when they are asked a second time."""


class LossesSteppedInTurn(Rule):
    code, name = "AG103", "losses-stepped-in-turn"
    title = "Step after all backwards"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.PASS
    examples = Example.each("""\
! a loop over optimizers
actor = torch.nn.Linear(2, 1)
critic = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optims = {"critic": torch.optim.Adam(critic.parameters()), "actor": torch.optim.Adam(actor.parameters())}
for _ in range(4):
    s, a, r = torch.randn(5, 2), torch.randn(5, 1), torch.randn(5, 1)
    losses = {
        "critic": (critic(torch.cat([s, a], 1)) - r).pow(2).mean(),
        "actor": -critic(torch.cat([s, actor(s)], 1)).mean(),
    }
    for name, opt in optims.items():
        opt.zero_grad()
-        losses[name].backward()
+        losses[name].backward(inputs=[p for group in opt.param_groups for p in group["params"]])
+    for name, opt in optims.items():
        opt.step()
! the critic's step stays: its loss is still held, and goes nowhere any more
body, head, critic = (torch.nn.Linear(4, 4) for _ in range(3))
opts = [torch.optim.SGD(one.parameters(), lr=0.1) for one in (body, head, critic)]
opt_body, opt_head, opt_critic = opts
for x in torch.randn(4, 5, 4):
    out = head(body(x).tanh()).tanh()
    critic_loss = critic(out).square().mean()
    opt_critic.zero_grad()
    critic_loss.backward(retain_graph=True)
    opt_critic.step()
    head_loss = (critic(out) - 1).square().mean()
    opt_head.zero_grad()
    head_loss.backward(retain_graph=True)
-    opt_head.step()
    body_loss = critic(out).exp().mean()
    opt_body.zero_grad()
-    body_loss.backward()
+    body_loss.backward(inputs=[p for group in opt_body.param_groups for p in group["params"]])
+    opt_head.step()
    opt_body.step()
! steps in a loop, and the later backward under a condition
class Trainer:
    def __init__(self, G, D, E):
        self.G, self.D, self.E = G, D, E
        self.g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
        self.d_opt, self.e_opt = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (D, E))

    def train(self, real):
        fake = self.G(torch.randn(4, 2))
        g_loss = -(self.D(fake) + self.E(fake)).mean()
        d_loss, e_loss = (one(fake.detach()).mean() - one(real).mean() for one in (self.D, self.E))
        for opt in (self.g_opt, self.d_opt, self.e_opt):
            opt.zero_grad()
        (d_loss + e_loss).backward()
-        for opt in (self.d_opt, self.e_opt):
-            opt.step()
        if self.D is not self.E:
-            g_loss.backward()
+            g_loss.backward(inputs=[p for group in self.g_opt.param_groups for p in group["params"]])
            self.g_opt.step()
+        for opt in (self.d_opt, self.e_opt):
+            opt.step()


critics = [torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)) for _ in range(2)]
trainer = Trainer(torch.nn.Linear(2, 3), *critics)
for _ in range(3):
    trainer.train(torch.randn(4, 3))
! a loop over losses, with a clipping
pi, q = torch.nn.Linear(2, 1), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
pi_opt, q_opt = torch.optim.SGD(pi.parameters(), lr=0.1), torch.optim.SGD(q.parameters(), lr=0.1)
for _ in range(4):
    s, a = torch.randn(5, 2), torch.randn(5, 1)
    q_loss = q(torch.cat([s, a], 1)).pow(2).mean()
    pi_loss = -q(torch.cat([s, pi(s)], 1)).mean()
    for loss, opt in ((q_loss, q_opt), (pi_loss, pi_opt)):
        opt.zero_grad()
-        loss.backward()
+        loss.backward(inputs=[p for group in opt.param_groups for p in group["params"]])
+    for loss, opt in ((q_loss, q_opt), (pi_loss, pi_opt)):
        torch.nn.utils.clip_grad_norm_(opt.param_groups[0]["params"], 1.0)
        opt.step()
! the averages are of the weights that the steps leave
nets, slow = ([torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)) for _ in range(2)] for _ in range(2))
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]


@torch.no_grad()
def follow(mean, net):
    for p, q in zip(mean.parameters(), net.parameters()):
        p.lerp_(q, 0.1)


for _ in range(4):
    x = torch.randn(5, 3)
    aim, out = sum(net(x) for net in slow).detach() + 1, sum(net(x) for net in nets)
    for n, opt in enumerate(opts):
        loss = (n + 1) * (out - aim).pow(2).mean()
        opt.zero_grad()
-        loss.backward(retain_graph=True)
+        loss.backward(retain_graph=True, inputs=[p for group in opt.param_groups for p in group["params"]])
+        print(loss.item())
+    for n, opt in enumerate(opts):
        opt.step()
        follow(slow[n], nets[n])
-        print(loss.item())
! one optimizer takes all the steps: each is meant to see the parameters that the last one left
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.ones(4, 2))
for target in (0.0, 1.0):
    opt.zero_grad()
    (out - target).pow(2).mean().backward(retain_graph=True)
    opt.step()
! the backward is a helper's, which other losses use too
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.ones(4, 2))
train = lambda loss: (opt.zero_grad(), loss.backward(retain_graph=True), opt.step())
train(out.mean())
train(out.pow(2).mean())
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The steps before the failing backward, behind it: of one loop, or all of one block together."""
        turns = list(self._turns(diagnosis, sources))
        beside = [turn for turn, _ in turns if turn.loop is None]
        ways = [partial(self._sequence, some, sources) for some in (beside, _from_first_met(beside))]
        ways += [partial(self._loop, turn, made, sources) for turn, made in turns]
        for way in ways:
            with suppress(Declined):
                if edits := way():
                    yield self.propose(edits, WHY)

    def _turns(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[tuple[Turn, Stack]]:
        """Each step that wrote what the failing backward needs, once; and what made that."""
        seen: set[ast.stmt] = set()
        trace = diagnosis.trace
        if len({site.optimizer for site in trace.step_sites}) <= 1 and len(trace.counts) <= 1:
            return
        for saved in (*trace.saved, *trace.also):
            for write in saved.writes:
                turn = scenes.turn(sources, write.stack, diagnosis.failure.stack) if write.optimizer >= 0 else None
                if turn is not None and turn.step not in seen:
                    seen.add(turn.step)
                    yield turn, saved.made

    def _loop(self, turn: Turn, made: Stack, sources: Sources) -> list[Step]:
        """The steps of a loop in a second loop over the same, with what goes on from the weights that they leave."""
        loop, block, source = turn.loop, turn.block, turn.source
        optimizer = owning.stepped(turn.step)
        if loop is None or optimizer is None or not _same_again(loop.iter) or blocks.passed(source, loop, made):
            return []
        moved = [*blocks.with_clipping(block, turn.step)]
        own = names.bound_by(block)
        behind = owning.along(sources, source, blocks.after(block, turn.step))
        moved += [one for one in behind if not names.meets(own - names.binds(one), names.reads(one))]
        if not (keyword := owning.reaching_only(turn.source, turn.call, [optimizer])):
            return []
        header = f"for {source.segment(loop.target)} in {source.segment(loop.iter)}:"
        lines = [f"    {line}" for one in moved for line in names.copied(source, one)]
        gone = [edit for one in moved for edit in delete(source, one)]
        return [*keyword, *gone, *insert_after(source, loop, [header, *lines])]

    def _sequence(self, turns: list[Turn], sources: Sources) -> list[Step]:
        """Steps behind the backward that they stood before, which then reaches only its own optimizer's parameters."""
        if not turns:
            return []
        turn, block = turns[0], turns[0].block
        optimizer = owning.stepped_next(turn.source, turn.source.statement(turn.call))
        if optimizer is None or not (keyword := owning.reaching_only(turn.source, turn.call, [optimizer])):
            return []
        others = {one.step: _stepped(one.step) for one in turns if one.block is block}
        steps = [one for one, other in others.items() if other not in {"", ast.unparse(optimizer)}]
        if not steps:
            return []
        first = min(map(block.index, steps))
        steps += owning.along(sources, turn.source, block[first : block.index(turn.backward)])
        ordered = sorted(steps, key=block.index)
        moved = [edit for one in ordered for edit in move_after(turn.source, [one], turn.backward)]
        return [*moved, *keyword]


def _from_first_met(turns: list[Turn]) -> list[Turn]:
    """The steps without those before the one whose write is met first: what is held beside may go nowhere any more."""
    block = turns[0].block if turns else []
    here = [one for one in turns if one.block is block]
    kept = [one for one in here if block.index(one.step) >= block.index(here[0].step)]
    return kept if len(kept) < len(here) else []


def _stepped(statement: ast.stmt) -> str:
    """The optimizer that a statement, or the body of a loop, steps, as it is written; '' if it does anything else."""
    match statement:
        case ast.For(body=[only], orelse=[]):
            return _stepped(only)
        case ast.Expr(ast.Call(func=ast.Attribute(value=optimizer, attr="step"))):
            return ast.unparse(owning.stepped(statement) or optimizer)
    return ""


def _same_again(node: ast.expr) -> bool:
    """Whether an expression gives the same values when it is iterated over once more."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Constant():
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_same_again, parts))
        case ast.Call(func=function, args=given, keywords=[]):
            return calls.name_of(function) in _AGAIN and all(map(_same_again, given))
    return False
