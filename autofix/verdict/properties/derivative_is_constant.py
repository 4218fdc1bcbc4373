"""A derivative enters a loss as a constant

## What it finds

A derivative was computed without a graph, and a later loss depends on it. This is seen in one of four ways:

- `autograd.grad` without `create_graph` freed the graph, or found it freed, and a small change of its result changes a
  later loss;
- a small change of what `autograd.grad` gave without `create_graph` changes a later loss, but no gradient: a penalty
  that trains nothing;
- a `backward` left a gradient in `.grad` or in a hook, and twice that gradient changes a loss before the next step;
- the edit gives one derivative a graph, and a small change of another derivative, which has none, changes a loss.

## Why it matters

A physics residual and a gradient penalty train through the derivative. A first-order inner step does not. The code does
not say which of the two it is. If a loss trains through one derivative, it is unlikely to take another as a plain
number. Some derivatives are constants as everybody knows, and are not doubted:

- one that becomes one number, by which a whole term of the loss is multiplied, balances the terms;
- what the code itself cuts on the way to the loss (`detach`, `no_grad`, `item`) would train nothing with a graph: the
  local energies of variational Monte Carlo, for example. A term that is cut as a whole is doubted: it trains nothing;
- one that the code writes, pass after pass, into a parameter that no optimizer owns is an update by hand, as the step
  of a natural gradient is. So is the vector of a product with the Hessian, where the product goes there;
- a derivative by data that moves this data is one of an attack, or of a sample drawn by Langevin's equation: the loss
  learns at the point that was reached. It may come to the loss only through a layer that was differentiated itself, as
  what the network is fed. A point that is compared with a target is doubted, and so is an edit that takes fewer
  derivatives than the code: it may reach another point elsewhere.

What is drawn or filled anew in each pass, and not added to data, may be a latent or a context that is refined.
Some train through the way there (LOGAN, CAVIA) and some do not, and both look alike: such a derivative stays doubted.
So does one by features of a trained network.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.experiments.losses import differ
from autofix.probe import wire
from autofix.verdict.derivatives import derivative, gradient, plain
from autofix.verdict.property import Evidence, Example, Finding, Property

PENALTY = """\
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(6, 3, requires_grad=True)
    score = net(x).square()
    optimizer.zero_grad()
    score.sum().backward()
    loss = score.mean() + (x.grad.norm(2, 1) - 1).square().mean()
    loss.backward()
    optimizer.step()
"""
SLOPE = "slope = torch.autograd.grad(score.sum(), x)[0]"
BY_GRAD = PENALTY.replace("score.sum().backward()", SLOPE).replace("x.grad", "slope")
ATTACK = PENALTY.replace("(x.grad.norm(2, 1) - 1).square()", "net(x.detach() + 0.1 * x.grad.sign())")
DATA = """\
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in torch.randn(4, 6, 3):
    x = batch.clone().requires_grad_()
    score = net(x).square()
    optimizer.zero_grad()
    score.sum().backward()
    moved = batch + x.grad / (x.grad.norm() + 0.1)
    loss = score.mean() + (LOSS).square().mean()
    loss.backward()
    optimizer.step()
"""
LATENT = DATA.replace("batch.clone()", "torch.randn(6, 3)").replace("batch +", "x.detach() +")
ENERGY = """\
psi = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(psi.parameters(), lr=0.1)
for x in torch.randn(4, 6, 3):
    x.requires_grad_()
    amplitude = psi(x).flatten()
    slope = torch.autograd.grad(amplitude.sum(), x, create_graph=True)[0]
    bend = sum(torch.autograd.grad(slope[:, i].sum(), x)[0][:, i] for i in range(3))
    energy = x.square().sum(1) - bend - slope.square().sum(1)
    loss = (LOSS).mean()
    train: loss
"""
BESIDE = BY_GRAD.replace("    score =", "    torch.autograd.grad(x.square().sum(), x)\n    score =")
FIGURE = BY_GRAD.replace(" + (slope.norm(2, 1) - 1).square().mean()", "; print(float(slope.mean()))")
TASKS = """\
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
weights = list(net.parameters())
optimizer = torch.optim.SGD(weights, lr=0.1)
for _ in range(4):
    first, second = net(torch.randn(6, 3)).square().unbind(1)
    one = torch.autograd.grad(first.mean(), weights)
    other = torch.autograd.grad(second.mean(), weights)
    for p, a, b in zip(weights, one, other):
        p.grad = a + b.clamp(-1, 1)
    optimizer.step()
"""
ELSEWHERE = """\
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(6, 3, requires_grad=True)
    slope = torch.autograd.grad(net(x).sum(), x)[0]
    score = torch.sigmoid(net(x))
    score *= 2
    loss = (LOSS).mean()
    train: loss
"""
NATURAL = """\
net, critic = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
weights = list(net.parameters())
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
for _ in range(4):
    out = net(torch.randn(6, 3))
    gain = torch.autograd.grad(out.sin().mean(), weights, retain_graph=True)
    slope = torch.autograd.grad((out - out.detach()).square().sum(), weights)
    curved = torch.autograd.grad(sum((s * g).sum() for s, g in zip(slope, gain)), weights)
    with torch.no_grad():
        for p, c in zip(weights, curved):
            p += 0.01 * c
    train: critic(net(torch.ones(6, 3)).detach()).square().mean()
"""
SEARCHED = """\
net, critic = nn.Linear(3, 2), nn.Linear(2, 1)
weights = list(net.parameters())
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
for _ in range(4):
    out = net(torch.randn(6, 3))
    slope = torch.autograd.grad(out.sin().mean(), weights, create_graph=True)
    slope = torch.cat([g.flatten() for g in slope])
    step = slope.detach() + 1
    for _ in range(2):
        PRODUCT
        step = step - 0.1 * torch.cat([c.flatten() for c in curved])
    nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(weights) - 0.01 * step, weights)
    train: critic(net(torch.ones(6, 3)).detach()).square().mean()
"""
DOTTED = SEARCHED.replace("PRODUCT", "curved = torch.autograd.grad(slope @ step, weights)")
SQUARED = DOTTED.replace("slope @ step", "(slope * step).square().sum()")
BY_HAND = """\
net, critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)), nn.Linear(2, 1)
weights = list(net.parameters())
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(6, 3, requires_grad=True)
    score = net(x).square().sum(1)
    slope = torch.autograd.grad(score.sum(), x)[0]
    curved = torch.autograd.grad(score.mean() + (slope.norm(2, 1) - 1).square().mean(), weights)
    with torch.no_grad():
        for p, c in zip(weights, curved):
            p -= 0.1 * c + slope.mean()
    train: critic(net(torch.ones(6, 3)).detach()).square().mean()
"""
BALANCED = """\
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
weights = list(net.parameters())
optimizer = torch.optim.SGD(weights, lr=0.01)
for _ in range(4):
    first, second = net(torch.randn(6, 3)).square().mean(0).unbind()
    slopes = [torch.autograd.grad(term, weights) for term in (first, second)]
    top, other = (torch.cat([g.flatten() for g in one]).abs().mean() for one in slopes)
    loss = first + top / (other + 1e-8) * second
    train: loss
"""
REWEIGHTED = """\
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    each = net(torch.randn(8, 3)).square().flatten()
    slope = torch.autograd.grad(each.sum(), net.weight)[0].detach()
    train: (slope.norm(dim=0).repeat(3)[:8] * each).sum()
"""
GUIDED = """\
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    train: net(torch.randn(6, 3)).square().mean()
    with torch.no_grad():
        point = torch.ones(3)
        for _ in range(3):
            point = point.detach().requires_grad_()
            score = net(point).sum()
            point = point - 0.1 * torch.autograd.grad(score, point)[0]
"""
WEIGHT = ("net.weight)[0]", "net.weight, retain_graph=True)[0]")
PRODUCT = ("weights)\n        step", "weights, retain_graph=True)\n        step")
FIRST_ORDER = ("grad(term, weights)", "grad(term, weights, retain_graph=True)")
EACH = ("i].sum(), x)", "i].sum(), x, retain_graph=True)")
OUT = ("score *= 2", "score = score * 2")
KEPT = "score.sum().backward(retain_graph=True)"
GIVEN = "score.sum(), x, create_graph=True)"


class DerivativeIsConstant(Property):
    anyway = True
    sentence = (
        "{subject} enters a later loss as a constant; with create_graph=True the loss would also train through it"
    )
    raises = (
        Example(PENALTY, "score.sum().backward()", KEPT),
        Example(BY_GRAD, "score.sum(), x)", "score.sum(), x, retain_graph=True)"),
        Example(BY_GRAD, "score.sum(), x)[0]", "score.sum(), x, create_graph=True)[0].detach()"),
        Example(ELSEWHERE.replace("LOSS", "score + (slope - 1).square()"), *OUT),
        Example(BALANCED.replace("* second", "* second + (other - 1).square()"), *FIRST_ORDER),
        Example(REWEIGHTED.replace(".detach()", ""), *WEIGHT),
        Example(ENERGY.replace("LOSS", "energy.square()"), *EACH),
        Example(DATA.replace("LOSS", "moved - net(batch)"), "score.sum().backward()", KEPT),
        Example(LATENT.replace("LOSS", "net(moved)"), "score.sum().backward()", KEPT),
        Example(SQUARED, *PRODUCT),
        Example(BY_HAND, "score.sum(), x)", "score.sum(), x, retain_graph=True)"),
        Example(REWEIGHTED.replace("repeat(3)[:8] * each)", "sum().square() + each)"), *WEIGHT),
    )
    silent = (
        Example(BESIDE, "score.sum(), x)", GIVEN),
        Example(ELSEWHERE.replace("LOSS", "score + (net(x.detach() + 0.1 * slope.sign()) - 1).square()"), *OUT),
        Example(ATTACK, "score.sum().backward()", KEPT),
        Example(DATA.replace("LOSS", "net(moved)"), "score.sum().backward()", KEPT),
        Example(ENERGY.replace("LOSS", "(energy - energy.mean()).detach() * amplitude"), *EACH),
        Example(NATURAL, "sum(), weights)", "sum(), weights, create_graph=True)"),
        Example(DOTTED, *PRODUCT),
        Example(BALANCED, *FIRST_ORDER),
        Example(REWEIGHTED, *WEIGHT),
        Example(FIGURE, "score.sum(), x)", "score.sum(), x, retain_graph=True)"),
        Example(BY_GRAD, "score.sum(), x)", GIVEN),
        Example(GUIDED, "            score =", "            with torch.enable_grad():\n                score ="),
        Example(TASKS, "first.mean(), weights)", "first.mean(), weights, retain_graph=True)"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        reading = evidence.assessment.reading
        if reading is not None and reading.through and set(evidence.letter.derivatives) <= set(reading.through):
            return None  # the edit trains as if each had a graph
        if place := _in_doubt(evidence):
            return self.found(place, subject="this derivative")
        return self.found(subject="another derivative") if _half_given(evidence) else None


def _in_doubt(evidence: Evidence) -> wire.Stack:
    edited = evidence.edited
    without = edited.derivatives or edited.seen("wasted")  # cut, its own graph is for nothing
    if without and (place := derivative(evidence)):
        return place
    if edited.with_graph > evidence.letter.with_graph and not evidence.assessment.effect.keeps_gradients:
        return ()  # the edit takes a derivative with its graph, and trains through it
    return gradient(evidence)


def _half_given(evidence: Evidence) -> bool:
    """Whether the edit gives one derivative a graph, and a loss depends on another that has none."""
    edited = evidence.edited
    if not (edited.derivatives and evidence.assessment.effect.keeps_gradients):
        return False
    # A reference gives a graph where that is what failed: there the code as it stands gives none.
    performed = sum(site.action == "create" for site in evidence.case.pool.sites)
    given = edited.with_graph > evidence.letter.with_graph - performed
    if not given or not differ(evidence.edited_nudged, edited):
        return False
    if plain(evidence, evidence.letter.derivatives):
        return False  # and the edit trains the same
    # What only becomes a step by hand (a natural gradient) enters no loss: with steps undone, none depends on it.
    frozen, nudged = evidence.edited_frozen, evidence.edited_nudged_frozen
    return bool(comparable(frozen) or comparable(nudged)) or differ(nudged, frozen)
