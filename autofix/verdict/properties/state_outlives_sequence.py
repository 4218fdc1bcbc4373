"""A sequence begins anew in each pass, and the state that goes with it does not

## What it finds

The passes hand a state on, and the edit cuts the graph between them and keeps the value. A loop within each pass gives
one call both this state and something else that goes on from turn to turn, and each pass gives that other thing its
start before the loop: the observation that `env.reset()` returns, the hidden state of a decoder whose last word is
kept, one part of the state of an LSTM. The state may be kept by the object of which a method is called with the other
thing (`agent.act(seen)`). Or what is called is made anew, as the model of each fold is. This is read from
the text, and not said

- where the code gives the state its start now and then (`if done: hidden = torch.zeros(…)`);
- where the other thing goes on from pass to pass, too, as an environment does that is not reset between updates;
- of a counter, a sum, and of what the call is not given, nor of an attribute that is given beside a variable: that one
  is kept on purpose;
- in a function that makes the other thing of what it is given, as a loop over layers does.

## Why it matters

What begins anew is mostly meant to begin as a whole. With the graph cut, each episode begins with what another one left
in the state, and trains otherwise.
"""

from __future__ import annotations

from autofix.probe import wire
from autofix.syntax.edits.passes.outlived import outlived
from autofix.verdict.property import Evidence, Example, Finding, OfACut

EPISODES = """\
class World:
    def reset(self):
        self.time, self.aim = 0, torch.randn(1, 3)
        return self.aim

    def step(self, choice):
        self.time += 1
        return self.aim + 0.1 * torch.randn(1, 3), (choice == self.aim.argmax()).float(), self.time > 4


cell, head, world = nn.GRUCell(3, 4), nn.Linear(4, 3), World()
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)


def act(seen, hidden):
    hidden = cell(seen, hidden)
    return torch.distributions.Categorical(logits=head(hidden)), hidden


hidden = torch.zeros(1, 4)
BEFORE
for _ in range(5):
    EACH
    scores, done = [], False
    for _ in range(6):
        choices, hidden = act(seen, hidden)
        choice = choices.sample()
        seen, reward, done = world.step(choice)
        scores.append(choices.log_prob(choice) * reward)
        if done:
            END
    loss = -torch.stack(scores).sum()
    train: loss
"""
BEGINS, ZERO = "seen = world.reset()", "hidden = torch.zeros(1, 4)"


def _episodes(before: str = "pass", each: str = "pass", end: str = "break") -> str:
    return EPISODES.replace("BEFORE", before).replace("EACH", each).replace("END", end)


WORDS = """\
encoder, cell, head = nn.Linear(3, 5), nn.GRUCell(4, 5), nn.Linear(5, 4)
optimizer = torch.optim.SGD([*encoder.parameters(), *cell.parameters(), *head.parameters()], lr=0.1)


def say(word, hidden):
    hidden = cell(word, hidden)
    return head(hidden).softmax(1), hidden


word = torch.eye(4)[:1].repeat(6, 1)
for _ in range(5):
    x, told = torch.randn(6, 3), torch.randint(4, (3, 6))
    hidden, loss, at = encoder(x).tanh(), 0, 0
    for right in told:
        word, hidden = say(word, hidden)
        loss = loss + nn.functional.nll_loss(word.log(), right)
        at += 1
    train: loss
"""
REMEMBERED = (
    WORDS.replace("word = torch.eye", "head.word = torch.eye")
    .replace("word, hidden = say(word, hidden)", "head.word, hidden = say(head.word, hidden)")
    .replace("word.log()", "head.word.log()")
)
LAYERS = """\
class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.head = nn.GRUCell(3, 3), nn.GRUCell(3, 3), nn.Linear(3, 1)
        self.state = torch.zeros(6, 3)

    def forward(self, given):
        x = given.tanh()
        for layer in (self.one, self.two):
            x = self.state = layer(x, self.state)
        return self.head(x)


net = Layers()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(5, 6, 3):
    loss = net(x).square().mean()
    train: loss
"""
FOLDS = """\
hidden = torch.zeros(1, 6, 4)
for fold in range(3):
    rnn = MADE
    optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
    for x in torch.randn(4, 5, 6, 3):
        out, hidden = rnn(x, hidden)
        loss = out.square().mean()
        train: loss
"""
COUNTED = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
hidden, stream = torch.zeros(1, 4), torch.randn(30, 1, 3)


def go(x, at, hidden, total):
    hidden = cell(x + 0.1 * at, hidden)
    return hidden, head(hidden).square().sum()


for begin in range(0, 30, 5):
    window, at, loss = stream[begin : begin + 5], 0, 0
    while at < 5:
        hidden, more = go(window[at], at, hidden, loss)
        loss = loss + more
        at += 1
    train: loss
"""
ACTOR = """\
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.tired = nn.Linear(4, 1), torch.zeros(1)

    def act(self, seen):
        force = self.net(torch.cat([seen, self.tired])) / (1 + self.tired)
        self.tired = 0.8 * self.tired + force.abs()
        return force


def moved(seen, force):
    return 0.9 * seen + 0.1 * force


actor, seen = Actor(), torch.rand(3)
optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
for number in range(6):
    EACH
    loss = 0
    for _ in range(4):
        force = actor.act(seen)
        seen = moved(seen, force)
        loss = loss + seen.square().sum()
    train: loss
    seen = seen.detach()
"""


def _cut(name: str, indent: str = "    ") -> tuple[str, str]:
    step = f"{indent}optimizer.step()\n"
    return step, f"{step}{indent}{name} = {name}.detach()\n"


class StateOutlivesSequence(OfACut):
    sentence = (
        "`{path}` goes on from the iteration before, but line {line} begins `{other}` anew, and one call takes both. "
        "Each iteration may be meant to begin with a new `{path}`, too"
    )
    raises = (
        Example(_episodes(each=BEGINS), *_cut("hidden")),
        Example(WORDS, *_cut("word")),
        Example(ACTOR.replace("EACH", "seen = torch.rand(3)"), *_cut("actor.tired")),
        Example(FOLDS.replace("MADE", "nn.GRU(3, 4)"), *_cut("hidden", "        ")),
    )
    silent = (
        Example(_episodes(before=BEGINS, end=BEGINS), *_cut("hidden")),
        Example(_episodes(each=f"{BEGINS}\n    if _ == 3: {ZERO}"), *_cut("hidden")),
        Example(COUNTED, *_cut("hidden")),
        Example(ACTOR.replace("    EACH\n", ""), *_cut("actor.tired")),
        Example(
            ACTOR.replace("EACH", "seen = torch.rand(3)\n    if number == 4: actor.tired = torch.zeros(1)"),
            *_cut("actor.tired"),
        ),
        Example(LAYERS, *_cut("net.state")),
        Example(REMEMBERED, *_cut("head.word")),
        Example("made = nn.GRU(3, 4)\n" + FOLDS.replace("MADE", "made"), *_cut("hidden", "        ")),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        sources = evidence.sources
        for one in outlived(evidence.trace.crossings, evidence.failure.stack, sources):
            line, function = one.begins.lineno, one.carrier.function
            place = wire.Frame.of_line(str(one.source.path), line, function)
            return self.found((place,), path=one.carrier.path, other=one.other, line=str(line))
        return None
