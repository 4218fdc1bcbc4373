"""A step uses gradient that another loss left behind

## What it finds

An optimizer steps with gradient that an earlier backward left in its parameters, in a part of the pass that ended
with the step of another optimizer: both `zero_grad()` first, `d_loss.backward()`, D steps, `g_loss.backward()`, G
steps. Then G also descends `d_loss`.

## Why it matters

The code as written does so too, but it is hardly meant. Zero the gradients before each backward, or keep the first
loss out of the other network. A step that comes later, with the gradient that it uses in the code, is no such case,
nor is a gradient that another one is put in the place of (`p.grad = -g`, with what `autograd.grad` gave).
"""

from __future__ import annotations

from autofix.verdict.property import Effect, Evidence, Example, Finding, Seen

BOTH_ZEROED_FIRST = """\
G, D = nn.Linear(2, 2), nn.Linear(2, 1)
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = G(torch.randn(8, 2))
    g_opt.zero_grad()
    d_opt.zero_grad()
    d_loss = D(fake).mean()
    d_loss.backward()
    d_opt.step()
    g_loss = -D(fake).mean()
    g_loss.backward()
    g_opt.step()
"""
ZEROED_BETWEEN = BOTH_ZEROED_FIRST.replace("    g_loss =", "    g_opt.zero_grad()\n    g_loss =")
KEPT = "d_loss.backward(retain_graph=True)"
BY_HAND = BOTH_ZEROED_FIRST.replace(
    "g_loss.backward()",
    "for p, g in zip(G.parameters(), torch.autograd.grad(g_loss, list(G.parameters()))):\n        p.grad = g",
)
SCALED = BY_HAND.replace("p.grad = g", "p.grad = -0.5 * g")
ADDED_ANEW = BY_HAND.replace("p.grad = g", "p.grad = p.grad + g")
ADDED = BY_HAND.replace("p.grad = g", "p.grad += g")
SUMMED_ANEW = ADDED.replace("    g_loss =", "    g_opt.zero_grad()\n    g_loss =").replace(
    "p.grad += g", "p.grad = torch.zeros_like(p)\n        p.grad += g + 0.1 * p.detach()"
)
ROUNDS = """\
G, D = nn.Linear(3, 2), nn.Linear(2, 1)
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(2):
    fake = G(torch.randn(8, 3))
    for _ in range(4):
        D(FAKE).square().mean().backward()
        d_opt.step()
        d_opt.zero_grad()
    train[g_opt]: D(fake).mean()
"""
DELAYED = """\
nets = [nn.Linear(2, 2) for _ in range(2)]
judges = [nn.Linear(4, 1) for _ in range(2)]
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
others = [torch.optim.SGD(judge.parameters(), lr=0.1) for judge in judges]
for _ in range(4):
    x = torch.randn(8, 2)
    both = torch.cat([net(x) for net in nets], 1)
    for judge, other, opt in zip(judges, others, opts):
        train[other]: judge(torch.randn(8, 4)).square().mean()
        train[opt]: judge(both).square().mean()
"""
OWN = "judge(both).square().mean().backward("
AT_ONCE = f"{OWN})\n        opt.step()\n"
LATER = f'{OWN}retain_graph=True, inputs=opt.param_groups[0]["params"])\n    for opt in opts:\n        opt.step()\n'
IN_PARTS = """\
G, D = nn.Linear(2, 2), nn.Linear(2, 1)
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = G(torch.randn(8, 2))
    d_loss, g_loss = D(fake.detach()).mean(), -D(fake).mean()
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    g_opt.zero_grad()
    g_loss.backward()
    (fake - 1).square().mean().backward()
    g_opt.step()
"""
STEPPED_LATER = (
    IN_PARTS[IN_PARTS.index("    d_opt.step") : IN_PARTS.index("    (fake - 1)")],
    "    g_opt.zero_grad()\n    g_loss.backward(retain_graph=True)\n    d_opt.step()\n",
)


class GradientLeftOver(Seen):
    fact = "cross-talk"
    anyway = True
    sentence = "the gradient that this backward leaves in {subject} is used by the step of another optimizer"
    raises = (
        Example(BOTH_ZEROED_FIRST, "d_loss.backward()", KEPT),
        Example(ADDED, "d_loss.backward()", KEPT),
        Example(ADDED_ANEW, "d_loss.backward()", KEPT),
        Example(ROUNDS.replace("FAKE", "fake"), "D(fake).square", "D(fake.detach()).square"),
    )
    silent = (
        Example(IN_PARTS, *STEPPED_LATER),
        Example(ZEROED_BETWEEN, "d_loss.backward()", KEPT),
        Example(BY_HAND, "d_loss.backward()", KEPT),
        Example(SCALED, "d_loss.backward()", KEPT),
        Example(SUMMED_ANEW, "d_loss.backward()", KEPT),
        Example(BOTH_ZEROED_FIRST, "d_loss = D(fake)", "d_loss = D(fake.detach())"),
        Example(DELAYED, AT_ONCE, LATER),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        """Where a step uses the gradient that it uses in the code, one that comes later finds no other there."""
        found = evidence.assessment
        if found.effect is Effect.IDENTICAL:
            return self.first(evidence.followed)
        facts = evidence.edited.seen(self.fact)
        if found.effect is Effect.CHANGED:
            # What departs first is what got another gradient; what follows from that is no fault of its own.
            begins = min((one.step for one in found.changes), default=0)
            apart = {one.parameter for one in found.changes if one.step == begins}
            known = evidence.followed.seen(self.fact)
            facts = [one for one in facts if "" in apart or one.subject in apart or one in known]
        return next((self.found(one.stack, subject=one.subject) for one in facts), None)
