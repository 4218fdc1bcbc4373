"""Several passes share what was made before them

## What it finds

Several passes use a value that was made once, before them, and the edit cuts it from its graph or computes it anew in
each pass. Examples are two heads that take turns on one trunk, and several epochs of PPO on what was collected once. A
state that each pass hands to the next, or keeps for a later one, is different and may be cut: the same lines make it
anew in each pass, from what they made before. So is a record that each round makes of parameters and of the record of
the round before, such as a dual variable: computed anew, it would go on with every pass. So is the state of
a recurrence in which a rollout began, on which several epochs train. So is a term of the loss that is left over where a
pass does not make its own, as most do: an image without objects has no loss for boxes. So is any value of which later
passes make their own again, in its place, where they also use all that it was made of: the centre of a class of which a
batch has none.

It finds it, too, where the code uses no gradient that such a value sends on, because that is cleared before the step of
its owner: a temperature that the constructor computes from its logarithm, which a loss of its own trains. The edit that
cuts the value trains as the code does, with a value that stays as it was made. What is made again and again, as the
rewards of each round, or what a memory takes in each pass and hands out later, may be meant so; not what a cache
takes where a pass first needs it.

## Why it matters

If the value is cut, it is a constant for all passes but the first. If it is computed anew, it is not. The code does not
say which is meant. Computing it anew is right where the loss is made of nothing else, or where some parameter would get
no gradient from a constant and either no data went into it, or it is made again and again: for each picture, in each
episode. Features that were computed once from data may be meant as they are, and so may an index that is made again of
the same data in each epoch.
"""

from __future__ import annotations

from dataclasses import replace

from autofix.verdict.law import worse
from autofix.verdict.property import Effect, Evidence, Example, Finding, Property

EPOCHS = """\
policy = nn.Linear(4, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
for _ in range(4):
    seen = torch.randn(10, 4)
    old = policy(seen).log_softmax(-1)[:, 0]
    for epoch in range(4):
        ratio = (policy(seen).log_softmax(-1)[:, 0] - old).exp()
        loss = -(ratio * seen[:, 0]).mean()
        train: loss
"""
BESIDE_A_CRITIC = (
    EPOCHS.replace(
        "optimizer =", "critic = nn.Linear(4, 1)\nvaluing = torch.optim.SGD(critic.parameters(), lr=0.05)\noptimizer ="
    )
    .replace("range(4):\n        ratio", "range(3):\n        ratio")
    .replace(
        "        train: loss\n", "        train: loss\n        train[valuing]: (critic(seen) - 1).square().mean()\n"
    )
)
HANDED_ON = """\
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
hidden = torch.zeros(5, 4)
for _ in range(6):
    hidden = cell(torch.randn(5, 3), hidden)
    loss = head(hidden).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
KEPT_FOR_LATER = (
    HANDED_ON.replace("for _ in range(6):", "held = [hidden, hidden]\nfor turn in (0, 0, 1, 1, 0, 1, 0):")
    .replace("torch.randn(5, 3), hidden)", "torch.randn(5, 3), held[turn])")
    .replace("optimizer.step()", "optimizer.step()\n    held[turn] = hidden")
)
REFINED = """\
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
given = torch.randn(5, 4)
coarse = net(given)
for _ in range(5):
    loss = (net(coarse) - given).square().mean()
    train: loss
"""
MIXING = """\
mix, head = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*mix.parameters(), *head.parameters()], lr=0.1)
data = torch.randn(12, 4)
given = torch.eye(4)
mixed = mix(given).softmax(1)
for step in range(6):
    loss = (head(mixed) - 1).square().mean()
    train: loss
"""
PROBED = MIXING.replace("torch.eye(4)", "data")
FITTED = """\
edge, inner = nn.Sequential(nn.Linear(1, 3), nn.Tanh(), nn.Linear(3, 1)), nn.Linear(1, 1)
x = torch.linspace(-1, 1, 6)[:, None]
fitting = torch.optim.SGD(edge.parameters(), lr=0.1)
for _ in range(3):
    train[fitting]: (edge(x) - x.abs()).square().mean()
x.requires_grad_()
optimizer = torch.optim.SGD([*inner.parameters()], lr=0.1)
known = edge(x)
for _ in range(5):
    (slope,) = torch.autograd.grad((known * inner(x)).sum(), x, create_graph=True)
    loss = (slope - 1).square().mean()
    train: loss
"""
LEARNING = FITTED.replace("[*inner.parameters()]", "[*inner.parameters(), *edge.parameters()]")
EVALUATED = "known = edge(x)\nfor _ in range(5):\n", "for _ in range(5):\n    known = edge(x)\n"
CAPTIONED = """\
encoder, decoder = nn.Sequential(nn.Linear(4, 5), nn.Tanh()), nn.Linear(5, 3)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
def seen(picture):
    return encoder(picture)
for picture in torch.randn(3, 6, 4):
    shown = seen(picture)
    for word in range(3):
        logits = decoder(shown)
        loss = F.cross_entropy(logits, torch.full((6,), word))
        train: loss
"""
INDEXED = CAPTIONED.replace(
    "for picture in torch.randn(3, 6, 4):", "picture = torch.randn(6, 4)\nfor epoch in range(3):"
)
DECODES = "        logits = decoder(shown"
SHOWN_ANEW = DECODES, f"        shown = seen(picture)\n{DECODES}"
ACTED = CAPTIONED.replace("torch.full((6,), word)", "torch.distributions.Categorical(logits=logits).sample()")
LABELLED = CAPTIONED.replace("    for word", "    best = shown[:, :3].argmax(1)\n    for word").replace(
    "torch.full((6,), word)", "best"
)
PAIRED = CAPTIONED.replace("decoder(shown)", "decoder(shown - encoder(picture + 1))")
BOOSTED = """\
x = torch.randn(12, 3)
y = x.square().sum(1, keepdim=True)
learners = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)) for _ in range(3)]
optimizer = torch.optim.SGD([{"params": one.parameters()} for one in learners], lr=0.05)
total = torch.zeros(12, 1)
for stage, learner in enumerate(learners):
    for epoch in range(5):
        loss = (total + learner(x) - y).square().mean()
        train: loss
    total = total + learner(x)
"""
ONE_EACH = BOOSTED.replace(
    "    for epoch", "    optimizer = torch.optim.SGD(learner.parameters(), lr=0.05)\n    for epoch"
)
ALL_ANEW = "(total +", "(sum(one(x) for one in learners[:stage]) +"
BOXED = """\
trunk, kind, box = nn.Linear(4, 5), nn.Linear(5, 3), nn.Linear(5, 2)
optimizer = torch.optim.SGD([p for one in (trunk, kind, box) for p in one.parameters()], lr=0.1)
losses = {}
for labels in ([1, 0], [2, 2], [0, 0], [1, 1], [0, 2], [0, 0], [0, 0], [2, 0]):
    labels, seen = torch.tensor(labels), trunk(torch.randn(2, 4)).tanh()
    losses["kind"], held = F.cross_entropy(kind(seen), labels), labels > 0
    if held.any():
        losses["box"] = box(seen[held]).square().mean()
    train: sum(losses.values())
"""
AT_TIMES = BOXED.replace("held.any()", "labels[0] == 2")
EMPTIED = "    if ", "    losses.pop('box', None)\n    if "
MIXED = "mixed = mix(given).softmax(1)\nfor step in range(6):\n"
MIXED_ANEW = "for step in range(6):\n    mixed = mix(given).softmax(1)\n"
DUAL = """\
net, server, dual = nn.Linear(4, 2), nn.Linear(4, 2), torch.zeros(2, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    net.load_state_dict(server.state_dict())
    for x in torch.randn(3, 6, 4):
        loss = (net(x) - 1).square().mean() - (dual * net.weight).sum()
        train: loss
    dual = dual - 0.1 * (net.weight - server.weight)
    server.weight.data.lerp_(net.weight.data, 0.5)
"""
TEMPERED = """\
net, log_scale = nn.Linear(4, 3), torch.zeros((), requires_grad=True)
optimizer, tempering = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD([log_scale], lr=0.1)
for data in torch.randn(3, 5, 6, 4):
    for x in data:
        train: (heat * net(x).square().mean())
        train[tempering]: (log_scale * (x.mean() - 1))
"""
HEAT, EACH_ROUND = (
    "heat = log_scale.exp()\n",
    TEMPERED.replace("    for x in", "    heat = log_scale.exp()\n    for x in"),
)
ONCE = TEMPERED.replace("for data", f"{HEAT}for data")
NOT_YET = ONCE.replace("        train[tempering]", "train[tempering]")
CONSTANT_HEAT = "heat * net", "heat.detach() * net"
POOLED = """\
make, judge = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer, making = torch.optim.SGD(judge.parameters(), lr=0.1), torch.optim.SGD(make.parameters(), lr=0.1)
pool = []


def pooled(new):
    pool.append(new)
    return pool[5 * len(pool) % 7 % len(pool)]


for z in torch.randn(12, 6, 3):
    fake = make(z).tanh()
    train[making]: (judge(fake) - 1).square().mean()
    train: judge(pooled(fake)).square().mean()
"""
AT_TIMES_ITS_OWN = POOLED.replace("(12,", "(24,").replace(
    "pool[5 * len(pool) % 7 % len(pool)]", "new if len(pool) % 2 else pool[len(pool) // 2]"
)
FILLED_ONCE = POOLED.replace("    pool.append(new)\n", "    if len(pool) < 2:\n        pool.append(new)\n")
LOOKED_UP = """\
words, head = nn.Embedding(30, 4), nn.Linear(4, 1)
optimizer, own = torch.optim.SGD(head.parameters(), lr=0.1), torch.optim.SGD(words.parameters(), lr=0.1)
seen = {}
for word in torch.randint(30, (60,)).tolist():
    if word not in seen:
        seen[word] = words(torch.tensor([word])).tanh()
    train: (head(seen[word]) - 1).square().mean()
    train[own]: words.weight.sum(1).square().mean()
"""
ABSENT = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
centres = [torch.randn(4) for _ in range(3)]
for kinds in ([0, 1, 2], [0, 1, 1], [0, 0, 1], [2, 1, 0], [0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]):
    out, kinds = net(torch.randn(3, 3)).tanh(), torch.tensor(kinds)
    for one in range(3):
        if (kinds == one).any():
            centres[one] = out[kinds == one].mean(0)
    loss = F.cross_entropy(out @ torch.stack(centres).t(), kinds)
    train: loss
"""
RECALLED = """\
words, head = nn.Embedding(30, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*words.parameters(), *head.parameters()], lr=0.1)
seen = {}
for some in ([0, 1], [2, 3], [0, 4], [5, 6], [7, 8], [9, 10], [11, 12], [13, 14]):
    for word in some:
        if word not in seen:
            seen[word] = words(torch.tensor(word)).tanh()
    loss = (head(torch.stack([seen[word] for word in some])) - 1).square().mean()
    train: loss
"""
AT_TIMES_OLD = """\
make, judge = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*make.parameters(), *judge.parameters()], lr=0.1)
for step in range(14):
    if step not in (2, 3):
        fake = make(torch.randn(6, 3)).tanh()
    loss = (judge(fake) - 1).square().mean()
    train: loss
"""
BEHIND_EACH = "    optimizer.step()\n"
OLD_CUT = "torch.stack([one if (kinds == at).any() else one.detach() for at, one in enumerate(centres)])"
CENTRES_CUT = f"{BEHIND_EACH}    centres = [one.detach() for one in centres]\n"
SEEN_CUT = f"{BEHIND_EACH}    seen = {{word: one.detach() for word, one in seen.items()}}\n"
UPDATED = "dual - 0.1 * (net.weight - server.weight)"
CONSTANT = UPDATED, f"({UPDATED}).detach()"
DRIFT = "0.1 * (net.weight - server.weight)"
FED = "0.5 * dual + net(torch.eye(4) + torch.randn(4, 4)).t()"
ADVANCED = """\
mix, head, state = nn.Linear(4, 4), nn.Linear(4, 1), torch.ones(4, 4)
optimizer = torch.optim.SGD([*mix.parameters(), *head.parameters()], lr=0.1)
for _ in range(5):
    state = torch.tanh(state + mix.weight)
    for _ in range(3):
        loss = (head(state) + mix.bias.sum() - 1).square().mean()
        train: loss
"""
ROLLOUT = """\
cell, head, hidden = nn.RNNCell(3, 4), nn.Linear(4, 1), torch.zeros(5, 4)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
for _ in range(4):
    first, seen = hidden, torch.randn(3, 5, 3)
    for x in seen:
        hidden = cell(x, hidden)
    for epoch in range(2):
        state, total = first, 0
        for x in seen:
            state = cell(x, state)
            total = total + head(state).square().mean()
        train: total
"""
BEGUN_CUT = "first, seen = hidden", "first, seen = hidden.detach()"
REFINED_EACH = (
    REFINED.replace(
        "coarse = net(given)\nfor _ in range(5):\n",
        """\
for given in torch.randn(4, 5, 4):
    coarse = net(given)
    for _ in range(3):
""",
    )
    .replace("    loss", "        loss")
    .replace("    train", "        train")
)
BEHIND = "        optimizer.step()\n", "        optimizer.step()\n        state = state.detach()\n"


class SharedAcrossPasses(Property):
    sentence = "several iterations use a value that was computed once before them; {subject}"
    raises = (
        Example(EPOCHS, "        optimizer.step()\n", "        optimizer.step()\n        old = old.detach()\n"),
        Example(
            BESIDE_A_CRITIC, "        optimizer.step()\n", "        optimizer.step()\n        old = old.detach()\n"
        ),
        Example(PROBED, MIXED, MIXED_ANEW),
        Example(LEARNING, *EVALUATED),
        Example(REFINED, "    optimizer.step()\n", "    optimizer.step()\n    coarse = coarse.detach()\n"),
        Example(LABELLED, *SHOWN_ANEW),
        Example(PAIRED, *SHOWN_ANEW),
        Example(BOOSTED, *ALL_ANEW),
        Example(INDEXED, *SHOWN_ANEW),
        Example(AT_TIMES, *EMPTIED),
        Example(DUAL.replace(UPDATED, DRIFT), DRIFT, f"({DRIFT}).detach()"),
        Example(DUAL.replace(UPDATED, FED), FED, f"({FED}).detach()"),
        Example(ADVANCED, *BEHIND),
        Example(
            REFINED_EACH, "        optimizer.step()\n", "        optimizer.step()\n        coarse = coarse.detach()\n"
        ),
        Example(LOOKED_UP, ".tanh()", ".tanh().detach()"),
        Example(FILLED_ONCE, "pooled(fake)", "pooled(fake.detach())"),
        Example(RECALLED, BEHIND_EACH, SEEN_CUT),
        Example(AT_TIMES_OLD, BEHIND_EACH, f"{BEHIND_EACH}    fake = fake.detach()\n"),
        Example(ONCE, *CONSTANT_HEAT),
        Example(ONCE, "log_scale.exp()", "log_scale.exp().detach()"),
        Example(ONCE, "heat * net", "log_scale.exp() * net"),
    )
    silent = (
        Example(HANDED_ON, "torch.randn(5, 3), hidden)", "torch.randn(5, 3), hidden.detach())"),
        Example(KEPT_FOR_LATER, "held[turn] = hidden", "held[turn] = hidden.detach()"),
        Example(MIXING, MIXED, MIXED_ANEW),
        Example(FITTED, *EVALUATED),
        Example(CAPTIONED, *SHOWN_ANEW),
        Example(ACTED, *SHOWN_ANEW),
        Example(ONE_EACH, *ALL_ANEW),
        Example(INDEXED.replace("    shown =", "    picture = picture.roll(1, 0)\n    shown ="), *SHOWN_ANEW),
        Example(INDEXED.replace("decoder(shown)", "shown[:, :3]"), "= shown[:, :3]", "= seen(picture)[:, :3]"),
        Example(BOXED, *EMPTIED),
        Example(ABSENT, BEHIND_EACH, CENTRES_CUT),
        Example(ABSENT, "torch.stack(centres)", OLD_CUT),
        Example(ABSENT.replace("SGD", "Adam"), BEHIND_EACH, CENTRES_CUT),
        Example(DUAL, *CONSTANT),
        Example(DUAL, UPDATED, UPDATED.replace("weight", "weight.detach()")),
        Example(DUAL, "dual * net", "dual.detach() * net"),
        Example(POOLED, "pooled(fake)", "pooled(fake.detach())"),
        Example(AT_TIMES_ITS_OWN, "pooled(fake)", "pooled(fake.detach())"),
        Example(EACH_ROUND, *CONSTANT_HEAT),
        Example(NOT_YET, *CONSTANT_HEAT),
        Example(ROLLOUT, *BEGUN_CUT),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        letter, effect, newer = evidence.letter, evidence.assessment.effect, evidence.assessment.refreshes
        if (effect is Effect.MEANT and not newer) or not letter.carried:
            return None
        place = next(iter(letter.reused), evidence.failure.stack)
        if effect is Effect.IDENTICAL:
            moved = evidence.left_behind
            if not moved or evidence.edited.seen("stale"):
                return None
            return self.found(place, subject=f"with the edit it stays as it was before {moved} was trained")
        if newer and not effect.truncates:
            if not letter.reused or worse(evidence, replace(evidence.code, constant=True)):
                return None
            return self.found(place, subject="the edit computes it anew in each, and it may be meant as a constant")
        # Two passes that share it look like two that hand it on, but it was made in the first alone.
        if letter.left_over or (not letter.reused and (evidence.trace.remade or letter.recurs)):
            return None
        # Nor is a record of parameters computed anew in each: it would go on from itself with every pass.
        if letter.kept_up and evidence.sourced.kept_up:
            return None
        return self.found(place, subject="with the edit the later ones send no gradient to it")
