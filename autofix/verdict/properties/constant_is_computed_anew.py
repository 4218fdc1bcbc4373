"""What a step only reads is computed anew

## What it finds

Two optimizers take turns. The second one's loss reads a value that the first one's network computed, and no gradient
goes back through that value. The first optimizer steps. The edit then computes the value again, with the newer
parameters. One example is an advantage: the critic gives it, the critic steps, and the actor's loss reads it. Another
is the other network's output in a loss that two networks share. This is not said

- where the second optimizer's gradient goes through the network that was stepped, as a generator's goes through the
  discriminator: then all outputs of that network have to be as new as its parameters;
- where both optimizers step by the same backward: then the first one learns through that value, it is no constant;
- where the edit moves the first step behind the second backward: then nothing is computed again;
- where one optimizer owns both networks;
- where the value was made once for all passes, of parameters alone: nobody trains them, and reads for ever what they
  were at first.

## Why it matters

The second step uses other numbers than those that the code computed. The failure does not ask for that: the old value,
cut from its graph, would do as well. The code does not say which of the two is meant, the value from before the step or
the one from after it.
"""

from __future__ import annotations

from autofix.experiments.compare import first_departing
from autofix.experiments.sketches import EXACT, LIVE
from autofix.probe import wire
from autofix.verdict.property import Evidence, Example, Finding, Property

ACTOR = """\
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
of_actor, of_critic = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (actor, critic))
for _ in range(5):
    state, reward = torch.randn(6, 4), torch.randn(6)
    value = critic(state).squeeze(1)
    train[of_critic]: (value - reward).square().mean()
    loss = LOSS
    train[of_actor]: loss
"""
ADVANTAGE = ACTOR.replace("LOSS", "-(actor(state).log_softmax(1)[:, 0] * (reward - value)).mean()")
THROUGH = ACTOR.replace("nn.Sequential(nn.Linear(4,", "nn.Sequential(nn.Linear(6,").replace(
    "value = critic(state)", "value = critic(torch.cat([state, actor(state).detach()], 1))"
)
THROUGH = THROUGH.replace("LOSS", "(value - critic(torch.cat([state, actor(state)], 1)).squeeze(1)).mean()")
SHARED = """\
left, right = (nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1)) for _ in range(2))
of_left, of_right = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (left, right))
x = torch.rand(5, 1)
for _ in range(5):
    u, v = left(x), right(x)
    loss_left = (u - 1).square().mean() + (u - v).square().mean()
    loss_right = (v + 1).square().mean() + (v - u).square().mean()
    of_left.zero_grad()
    loss_left.backward(retain_graph=True)
    of_left.step()
    train[of_right]: loss_right
"""
FACTORS = """\
coder, judge = (nn.Sequential(nn.Linear(n, 4), nn.Tanh(), nn.Linear(4, n - 1)) for n in (3, 2))
of_coder, of_judge = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (coder, judge))
for _ in range(5):
    score = judge(coder(torch.randn(6, 3)))
    of_coder.zero_grad()
    score.mean().backward(retain_graph=True)
FIRST    other = judge(coder(torch.randn(6, 3)).detach())
    of_judge.zero_grad()
    (score.exp() - other).square().mean().backward(ONLY)
LAST    of_judge.step()
"""
STEP = "    of_coder.step()\n"
STEPPED = FACTORS.replace("FIRST", STEP).replace("LAST", "").replace("ONLY", "")
MOVED = FACTORS.replace("FIRST", "").replace("LAST", STEP).replace("ONLY", "inputs=list(judge.parameters())")
GAN = """\
G, D = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
of_g, of_d = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (G, D))
for _ in range(5):
    D.requires_grad_(True)
    real, fake = torch.randn(6, 4), G(torch.randn(6, 3))
    for_real = D(real)
    train[of_d]: (D(fake.detach()) - for_real).tanh().mean()
    D.requires_grad_(False)
    train[of_g]: (for_real - D(fake)).square().mean()
"""
CAST = """\
camera, field = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
of_camera, of_field = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (camera, field))
grid = torch.eye(2)
rays = camera(grid).tanh()
for _ in range(5):
    loss = (field(rays) - 1).square().mean()
    of_field.zero_grad()
    of_camera.zero_grad()
    loss.backward()
    of_field.step()
    of_camera.step()
"""
MIXED = """\
scores, net = nn.Parameter(torch.zeros(3)), nn.Linear(3, 2)
of_scores, of_net = torch.optim.SGD([scores], lr=0.1), torch.optim.SGD(net.parameters(), lr=0.1)
weights = scores.softmax(0)
def mixed(x):
    return net(weights * x)
for _ in range(5):
    train[of_scores]: (mixed(torch.randn(6, 3)) - 1).square().mean()
    train[of_net]: (mixed(torch.randn(6, 3)) + 1).square().mean()
"""
READ = "    return net(weights"
OF_DATA = MIXED.replace("scores.softmax(0)\n", "scores * data\n").replace(
    "weights =", "data = torch.randn(6, 3)\nweights ="
)
MADE, LOOP = "rays = camera(grid).tanh()\n", "for _ in range(5):\n"
NEIGHBOUR = (
    "    of_right.zero_grad()\n    u = left(x)\n    loss_right = (v + 1).square().mean() + (v - u).square().mean()\n"
)
VALUE = "    value = critic(torch.cat([state, actor(state).detach()], 1)).squeeze(1)\n    loss = (value"


class ConstantIsComputedAnew(Property):
    last = True
    sentence = (
        "the edit computes a value again, with newer parameters, that this loss only reads. The code may mean the "
        "value from before that step, detached"
    )
    raises = (
        Example(ADVANTAGE, "    loss = ", "    value = critic(state).squeeze(1)\n    loss = "),
        Example(SHARED, "    of_right.zero_grad()\n", NEIGHBOUR),
        Example(OF_DATA, READ, f"    weights = scores * data\n{READ}"),
    )
    silent = (
        Example(STEPPED, STEPPED, MOVED),
        Example(CAST, MADE + LOOP, LOOP + "    " + MADE),
        Example(MIXED, READ, f"    weights = scores.softmax(0)\n{READ}"),
        Example(GAN, "    of_g.zero_grad()\n", "    of_g.zero_grad()\n    for_real = D(real)\n"),
        Example(ADVANTAGE, "(reward - value)", "(reward - value.detach())"),
        Example(THROUGH, "    loss = (value", VALUE),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        letter, edited = evidence.letter, evidence.edited
        if not evidence.assessment.refreshes or len(letter.counts) < 2:  # noqa: PLR2004  nothing is a constant to one optimizer alone
            return None
        sourced = evidence.sourced
        if sourced.reused and not sourced.again and not sourced.fed:
            return None
        departing = (first_departing(letter, edited, tolerance) for tolerance in (LIVE, EXACT))
        first = {(one[0].optimizer, one[2]) for one in departing if one is not None}
        steps = {f"{index} {number}" for index, number in first if _follows_a_step(edited, index, number)}
        facts = (one for one in sourced.seen("constant-was-stepped") if one.subject in steps)
        return next((self.found(one.stack) for one in facts), None)


def _follows_a_step(run: wire.Trace, optimizer: int, number: int) -> bool:
    """Whether another optimizer stepped before the backward that a step uses, since the step before it of its own.

    Where that step was moved behind the backward, nothing was computed anew: what it is given is as old as in the code.
    """
    mine = [at for at, step in enumerate(run.steps) if step.optimizer == optimizer]
    since = run.steps[mine[number - 1] + 1 if number else 0 : mine[number]]
    return any(step.calls < run.steps[mine[number]].calls for step in since)
