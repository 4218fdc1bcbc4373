"""A loss that goes backward through weights that were stepped, although the step after it moves others.

## What it does
Lets the backward reach only the parameters that the next step moves: `loss.backward(inputs=list(head.parameters()))`.

Where several steps move what the loss trains, the backward reaches all of it but what was stepped since the forward.

## Why autograd fails
Several losses come of one forward, and each is stepped before the next goes backward. The next one finds the weights of
the first changed, also where the gradient that it leaves there is thrown away before any step uses it.

## Fix safety
Safe where the run shows that no optimizer used what is left out, and that the way to the remaining parameters does not
lead through a weight that was stepped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.search import owning
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.calls import path_of

EACH = "Let the backward reach all that is stepped after it"
WHY_EACH = "The backward leaves out the weights that were stepped since the forward; later steps move the rest."
WHY = "The backward leaves out the weights that were stepped since the forward; the step after it moves others."


class LossReachesSteppedWeights(Rule):
    code, name = "AG108", "loss-reaches-stepped-weights"
    title = "Let the backward reach only what is stepped next"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.AGAIN
    examples = Example.each("""\
! the head is stepped next
E = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
H = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
e_opt, h_opt = torch.optim.Adam(E.parameters()), None
h_opt = torch.optim.Adam(params=H.parameters(), lr=0.01)
for n in range(4):
    x = torch.randn(5, 3)
    z = E(x)
    size, fit = z.pow(2).mean(), (H(z) - 1).pow(2).mean()
    e_opt.zero_grad()
    size.backward(retain_graph=True)
    e_opt.step()
    e_opt.zero_grad()
    if n != 1:
        h_opt.zero_grad()
-        fit.backward()
+        fit.backward(inputs=list(H.parameters()))
        h_opt.step()
! one helper trains each of the losses
def train(loss, opt):
    opt.zero_grad()
-    loss.backward(retain_graph=True)
+    loss.backward(retain_graph=True, inputs=[p for group in opt.param_groups for p in group["params"]])
    torch.nn.utils.clip_grad_norm_(opt.param_groups[0]["params"], 1.0)
    opt.step()


body, policy, value = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
middle = torch.nn.Sequential(body, torch.nn.Tanh(), torch.nn.Linear(4, 4), torch.nn.Tanh())
m_opt, p_opt, v_opt = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (middle, policy, value))
for _ in range(4):
    h = middle(torch.randn(5, 3))
    size, choice, error = h.pow(2).mean(), policy(h).logsumexp(1).mean(), (value(h) - 1).pow(2).mean()
    train(size, m_opt)
    train(choice, p_opt)
    train(error, v_opt)
! the step stands behind the block of the backward
class Trainer:
    def __init__(self):
        self.e = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4))
        self.d = torch.nn.Linear(4, 3)
        self.e_opt = torch.optim.SGD(self.e.parameters(), lr=0.1)
        self.d_opt = torch.optim.SGD(self.d.parameters(), lr=0.1)

    def train(self, x):
        z = self.e(x)
        error, peak = (self.d(z.tanh()) - x).pow(2).mean(1), self.d(z).amax(1)
        self.e_opt.zero_grad()
        z.abs().mean().backward(retain_graph=True)
        self.e_opt.step()
        self.d_opt.zero_grad()
        with torch.autograd.set_multithreading_enabled(False):
            weights = torch.ones(5), torch.ones(5)
-            torch.autograd.backward([error, peak], weights)
+            torch.autograd.backward([error, peak], weights, inputs=list(self.d.parameters()))
        self.d_opt.step()


trainer = Trainer()
for _ in range(3):
    trainer.train(torch.randn(5, 3))
! two optimizers use what the second loss sends
G = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4))
D, E = torch.nn.Linear(4, 1), torch.nn.Linear(3, 1)
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
e_opt = torch.optim.SGD(E.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    z = G(x)
    size, fit = z.pow(2).mean(), (D(z) - E(x)).pow(2).mean()
    g_opt.zero_grad()
    size.backward(retain_graph=True)
    g_opt.step()
    d_opt.zero_grad()
    e_opt.zero_grad()
-    fit.backward()
+    fit.backward(inputs=[*D.parameters(), *E.parameters()])
    d_opt.step()
    e_opt.step()
! a method of its own goes backward, and another one calls it and steps
class Gan:
    def __init__(self):
        self.G = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 3))
        self.D = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Tanh())
        self.g_opt = torch.optim.SGD(self.G.parameters(), lr=0.1)
        self.d_opt = torch.optim.SGD(self.D.parameters(), lr=0.1)

    def forward(self, x):
        self.x, self.score = x, self.D(self.G(x).tanh())

    def backward_g(self):
        self.score.sub(1).pow(2).mean().backward(retain_graph=True)

    def backward_d(self):
        loss = self.score.pow(2).mean() + (self.D(torch.randn(5, 3)) - 1).pow(2).mean()
-        loss.backward()
+        loss.backward(inputs=list(self.D.parameters()))

    def optimize_g(self):
        self.g_opt.zero_grad()
        self.backward_g()
        self.g_opt.step()

    def optimize_d(self):
        self.d_opt.zero_grad()
        self.backward_d()
        self.d_opt.step()


model = Gan()
for _ in range(4):
    model.forward(torch.randn(5, 2))
    model.optimize_g()
    model.optimize_d()
! unsafe: the first optimizer steps once more, and is meant to use what the second loss sends
E = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
H = torch.nn.Linear(2, 1)
e_opt, h_opt = torch.optim.SGD(E.parameters(), lr=0.1), torch.optim.SGD(H.parameters(), lr=0.1)
for _ in range(4):
    z = E(torch.randn(5, 3))
    e_opt.zero_grad()
    h_opt.zero_grad()
    z.pow(2).mean().backward(retain_graph=True)
    e_opt.step()
-    (H(z) - 1).pow(2).mean().backward()
+    (H(z) - 1).pow(2).mean().backward(inputs=[p for group in h_opt.param_groups for p in group["params"]])
    h_opt.step()
    e_opt.step()
! all that the loss trains was stepped
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.ones(4, 2))
for target in (0.0, 1.0):
    opt.zero_grad()
    (out - target).pow(2).mean().backward(retain_graph=True)
    opt.step()
! no step follows: what is left in the leaves is looked at
E, H = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)), torch.nn.Linear(2, 1)
opt = torch.optim.SGD(E.parameters(), lr=0.1)
z = E(torch.randn(5, 3))
z.pow(2).mean().backward(retain_graph=True)
opt.step()
H(z).mean().backward()
print(H.weight.grad)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For the failing backward, where an optimizer is stepped after it and not all that it reaches was stepped."""
        writes = [write for one in (*diagnosis.trace.saved, *diagnosis.trace.also) for write in one.writes]
        stepped = {write.optimizer for write in writes if write.optimizer >= 0}
        if not stepped or set(diagnosis.failure.concerned) <= stepped:
            return
        frames = [(source, node) for _, source, node in sources.located(diagnosis.failure.stack)]
        for place, (source, node) in enumerate(frames):
            if calls.name_of(node) == "backward":
                later, earlier = _stepped(frames[place:])
                owners = [one for one in later if path_of(one) not in earlier]
                left = set(diagnosis.failure.concerned) - stepped
                if len(left) > 1 and len(owners) > 1:
                    yield self.propose(owning.reaching_only(source, node, owners), WHY_EACH, title=EACH)
                if later and (edits := owning.reaching_only(source, node, later[:1])):
                    # What is left out is used by no step of this pass: all values stay, so it comes before copies.
                    unused = len(left) == 1 and len(owners) == len(later)
                    yield self.propose(edits, WHY, later=-1 if unused else 3)
                return


def _stepped(frames: Sequence[tuple[Source, ast.expr]]) -> tuple[list[ast.expr], set[str]]:
    """The optimizers that are stepped after the first of these places, and before it: where its function steps none,
    in the method of the same object that calls it.
    """
    callers = [path_of(node.func) if isinstance(node, ast.Call) else "" for _, node in frames[1:]]
    for (source, node), called in zip(frames, [*callers, ""], strict=True):
        statement = source.statement(node)
        later, earlier = owning.stepped_later(source, statement), owning.stepped_earlier(source, statement)
        if node is not frames[0][1]:
            later = [one for one in later if path_of(one).startswith("self.")]
        if later or called.rpartition(".")[0] != "self":  # what another object calls its own is not at hand
            return later, earlier
    return [], set()
