"""The term that fails trains nothing that steps on it

## What it finds

The failing backward goes a second time through what another loss went through, and no gradient leads from there to what
the optimizers behind it own, although it is made of that, through a `detach()`. The edit leaves it so. An example is a
generator's loss that is made of the score of `fake.detach()`, which the discriminator's loss was made of. This is not
said where a gradient leads there as well, also from what the term is multiplied by or compared with, or where the
optimizers behind do not own what was cut off.

## Why it matters

Nobody adds a term to a loss for nothing. The steps are the same without it, also where other terms train the same
network; the score of `fake` itself was meant. That the edit keeps the gradients of the code as written says nothing
then.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property
from autofix.verdict.runs import lines

TYPO = """\
G, D = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 1))
of_g, of_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
real, ones, zeros = torch.randn(8, 6), torch.ones(8, 1), torch.zeros(8, 1)
for _ in range(4):
    fake = G(torch.randn(8, 4))
    score = D(fake.detach())
    of_d.zero_grad()
    (F.mse_loss(D(real), ones) + F.mse_loss(score, zeros)).backward()
    of_d.step()
    loss = F.l1_loss(fake, real) + 0.1 * F.mse_loss(score, ones)
    train[of_g]: loss
"""
STEP = "    of_d.step()\n"
WHOLE = TYPO.replace("score = D(fake.detach())", "score = D(fake)").replace(
    "zeros)).backward()", "zeros)).backward(CUT)"
)
GIVEN = WHOLE.replace("CUT", "inputs=list(D.parameters())")
PROBE = """\
net, probe = nn.Linear(4, 6), nn.Linear(6, 1)
both = torch.optim.SGD([*net.parameters(), *probe.parameters()], lr=0.1)
for _ in range(4):
    h = net(torch.randn(8, 4))
    seen = probe(h.detach()).square().mean()
    both.zero_grad()
    seen.backward()
    (h.square().mean() + seen).backward()
    both.step()
"""
WEIGHED = """\
net, judge = nn.Linear(4, 1), nn.Linear(1, 1)
of_net, of_judge = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (net, judge))
for _ in range(4):
    cost = net(torch.randn(8, 4)).square()
    weight = judge(cost.detach()).sigmoid()
    train[of_judge]: (weight - 0.3).square().mean()
    train[of_net]: (cost * weight).mean()
"""
KEPT = ("seen.backward()", "seen.backward(retain_graph=True)")


class TermTrainsNothing(Property):
    change = "uncut"
    sentence = (
        "this term is cut off from {owner} by the detach here: no gradient gets there, and the term trains nothing"
    )
    raises = (
        Example(TYPO, STEP, STEP + "    score = score.detach()\n"),
        Example(TYPO, STEP, STEP + "    score = D(fake.detach())\n"),
    )
    silent = (
        Example(GIVEN, STEP, STEP + "    score = D(fake)\n"),
        Example(PROBE, *KEPT),
        Example(WEIGHED, "cost * weight)", "cost * weight.detach())"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not (evidence.behind and evidence.reaches_others):
            return None
        found = (one for one in evidence.sourced.cut_off if one.again and one.optimizer in evidence.behind)
        here = next((one for one in found if lines(one.loss) == lines(evidence.failure.stack)), None)
        return self.found(here.place, owner=evidence.letter.owner(here.optimizer)) if here is not None else None
