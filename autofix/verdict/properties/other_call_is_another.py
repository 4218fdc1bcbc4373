"""A function that the edit changes is called elsewhere, where these passes did not come, and gives something else there

## What it finds

A function or method in which the edit changes something is called at several places, itself or by what calls it. Not
all of them ran in the passes compared. The code and the edit are then run once more to the end of the script, with
loops that train ended after two passes each, and every step undone. There another call trains otherwise, or the code
takes another number of a tensor, as a score or a choice. Not said where the edit makes other loops train, so that not
the same ones end, nor where one of these runs does not come to the end in time.

## Why it matters

A helper that wrote its argument in place gives a new tensor back: the caller that drops it has the old one. A cut
inside `forward` is right where a step follows each call, and cuts within a pass where a loss follows several.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autofix.experiments.values import line_of, taken_otherwise
from autofix.syntax.blocks import qualified
from autofix.syntax.calls import Function
from autofix.syntax.source import Source
from autofix.verdict.property import Evidence, Example, Finding, Property, Treatment

STEP = "    optimizer.step()\n"
HELPED = """\
def doubled(x):
    x *= 2
    return x


net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(60):
    loss = (doubled(net(torch.randn(5, 3)).sigmoid()) - 0.5).square().mean()
    train: loss
with torch.no_grad():
    rows = net.weight.clone()
    CALL
    print((rows @ rows.t()).sum().item())
"""
DROPPED, READ = HELPED.replace("CALL", "doubled(rows)"), HELPED.replace("CALL", "rows = doubled(rows)")
OUT_OF_PLACE = "x *= 2", "x = x * 2"
BOUNDED = """\
def bounded(x):
    x.clamp_(-0.2, 0.2)
    return x


net, shift = nn.Linear(3, 4), nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(60):
    loss = (net(torch.randn(5, 3)) - 0.5).square().mean()
    train: loss
    bounded(net.weight)
other = torch.optim.SGD(shift.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    loss = -(net(x + bounded(shift(x))) - 0.5).square().mean()
    train[other]: loss
"""
WRITE, AT_CALL = "    x.clamp_(-0.2, 0.2)", "bounded(net.weight)"
OFF = "    with torch.no_grad():\n        x.clamp_(-0.2, 0.2)"
UNROLLED = """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.hidden = nn.GRUCell(3, 4), torch.zeros(5, 4)

    def forward(self, x):
        self.hidden = self.cell(x, self.hidden)
        return self.hidden


reader = Reader()
optimizer = torch.optim.SGD(reader.parameters(), lr=0.1)
for x in torch.randn(60, 5, 3):
    loss = (reader(x) - 0.5).square().mean()
    train: loss
LATER
"""
WHOLE = UNROLLED.replace(
    "LATER",
    """\
for sequence in torch.randn(4, 6, 5, 3):
    reader.hidden = torch.zeros(5, 4)
    for x in sequence:
        out = reader(x)
    loss = out.square().mean()
    train: loss""",
)
SCORED = UNROLLED.replace(
    "LATER",
    """\
reader.hidden = torch.zeros(5, 4)
with torch.no_grad():
    for x in torch.randn(6, 5, 3):
        out = reader(x)
print(out.square().mean().item())""",
)
IN_FORWARD = "self.cell(x, self.hidden)", "self.cell(x, self.hidden.detach())"


class OtherCallIsAnother(Property):
    last = True
    sentence = "{subject}, which the edit changes, is called elsewhere behind these passes, and there {what}"
    raises = (
        Example(DROPPED, *OUT_OF_PLACE),
        Example(BOUNDED, WRITE, OFF),
        Example(BOUNDED, "def bounded", "@torch.no_grad()\ndef bounded"),
        Example(WHOLE, *IN_FORWARD),
    )
    silent = (
        Example(READ, *OUT_OF_PLACE),
        Example(
            DROPPED, "doubled(net(torch.randn(5, 3)).sigmoid())", "doubled(net(torch.randn(5, 3)).sigmoid().clone())"
        ),
        Example(BOUNDED, AT_CALL, "bounded(net.weight.data)"),
        Example(BOUNDED[: BOUNDED.index("other =")], WRITE, OFF),
        Example(WHOLE, f"{STEP}for", f"{STEP}    reader.hidden = reader.hidden.detach()\nfor"),
        Example(SCORED, *IN_FORWARD),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        reading, code, edited = evidence.reading, evidence.letter, evidence.edited
        if "stopped" not in (code.outcome, edited.outcome) or replace(reading, truncated=False) != reading.letter:
            return None
        name = next(_called_elsewhere(evidence), "")
        made = evidence.to_the_end(reading, Treatment.FROZEN, Treatment.STILL) if name else None
        if made is None:
            return None
        if not made.are_alike:
            return self.found(subject=f"`{name}`", what="the edit trains otherwise than the code")
        place = taken_otherwise(made.code, made.edited)
        what = f"the number that the code reads at {line_of(place)} has another value" if place else ""
        return self.found(subject=f"`{name}`", what=what) if place else None


def _called_elsewhere(evidence: Evidence) -> Iterator[str]:
    """The functions that the edit changes and that are called at several places, themselves or by what calls them."""
    first = evidence.sources.source(str(evidence.case.pool.target.script))
    for path in evidence.files if first is not None else ():
        before, after = (one.source(str(path)) for one in (evidence.sources, evidence.edited_sources))
        if before is None or after is None or first is None:
            continue
        now = {qualified(after, one.body[0]): _text(after, one) for one in _functions(after)}
        for function in _functions(before):
            name = qualified(before, function.body[0])
            if now.get(name, "") not in ("", _text(before, function)) and _is_shared(evidence, first, function):
                yield function.name


def _functions(source: Source) -> Iterator[Function]:
    return (one for one in source.walk() if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _text(source: Source, function: Function) -> str:
    """A function with what decorates it."""
    return "\n".join(map(source.segment, (*function.decorator_list, function)))


def _is_shared(evidence: Evidence, first: Source, function: Function) -> bool:
    """Whether several places call a function, or what calls it; or none is known."""
    known, found = {function}, function
    while len(places := [*evidence.sources.readers(found, first)]) == 1:
        source, node = places[0]
        caller = source.function(node)
        if caller is None or caller in known:
            return False
        known.add(caller)
        found = caller
    return True
