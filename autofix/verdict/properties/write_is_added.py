"""A parameter is written that the code does not write

## What it finds

Besides its steps the edited run writes a parameter in place, with the values that it has: the edit clamps all
parameters where the code clamps one. The code writes that parameter nowhere but in steps. Writes through `.data`, which
leave no trace, are not seen.

## Why it matters

It moves nothing in the passes that were seen, where no value is out of the range. Later, it may.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property, course_name

CLAMPED = """\
w, bias = torch.randn(4, requires_grad=True), torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, bias], lr=0.05, momentum=0.9)
for _ in range(6):
    x = torch.randn(16, 4)
    loss = F.mse_loss(x @ w + bias, x[:, 0])
    train: loss
    w.clamp_(-0.8, 0.8)
"""
WRITES = "    w.clamp_(-0.8, 0.8)\n"
ONE = WRITES, "    with torch.no_grad():\n        w.clamp_(-0.8, 0.8)\n"
ALL = WRITES, "    with torch.no_grad():\n        for p in (w, bias):\n            p.clamp_(-0.8, 0.8)\n"
BOTH = f"    bias.clamp_(-0.8, 0.8)\n{WRITES}"


class WriteIsAdded(Property):
    sentence = "the edit writes {name} in place, without changing it in these runs; the code never writes it"
    raises = (Example(CLAMPED, *ALL),)
    silent = (
        Example(CLAMPED, *ONE),
        Example(CLAMPED.replace(WRITES, BOTH), BOTH, ALL[1].replace("(w, bias)", "(bias, w)")),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        code, edited = evidence.followed, evidence.edited
        unwritten = {one.name for one in code.courses if not one.is_written}
        added = (one for one in edited.courses if one.idle and one.name in unwritten)
        return next((self.found(name=course_name(edited, one.name)) for one in added), None)
