"""Running statistics move more often

## What it finds

The code calls a network with batch normalisation once in each pass, and the edit calls it more often in training mode:
it computes again what was computed once. Each such call moves the running mean and variance once more. This is not said
where the code itself calls the network several times in a pass, as a discriminator is called for real samples and for
made ones; nor where what was made once, for several passes, is computed anew in each. Nor is it where the whole program
only trains: it tells no module to evaluate, saves none, copies none, and hands none to a package that might.

## Why it matters

Gradients in training mode do not depend on running statistics, so no comparison of gradients shows it. But they are
saved with the network, and what it gives in evaluation mode depends on them. A call in evaluation mode, or one loss
with both terms, would leave them as they are.
"""

from __future__ import annotations

import ast
import sys

from autofix.experiments.values import counted
from autofix.verdict.property import Evidence, Example, Finding, Property

HEADS = """\
body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
one, two = nn.Linear(8, 1), nn.Linear(8, 1)
of_one, of_two = (torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05) for head in (one, two))
for _ in range(8):
    x = torch.randn(16, 4)
    seen = body(x)
    first, second = one(seen).square().mean(), two(seen).exp().mean()
    train[of_one]: first
    train[of_two]: second
"""
ANEW = "    of_two.zero_grad()\n", "    second = two(body(x)).exp().mean()\n    of_two.zero_grad()\n"
GAN = """\
G = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
D = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
of_g, of_d = (torch.optim.Adam(net.parameters(), lr=0.01) for net in (G, D))
for _ in range(8):
    real, fake = torch.randn(16, 4), G(torch.randn(16, 3))
    on_fake = D(fake)
    train[of_d]: (F.softplus(-D(real)).mean() + F.softplus(on_fake).mean())
    train[of_g]: F.softplus(-on_fake).mean()
"""
JUDGED_ANEW = GAN.replace("= D(fake)", "= D(fake.detach())").replace("-on_fake", "-D(fake)")
REAL = "F.softplus(-D(real)).mean() + "
JUDGED_ONCE = GAN.replace(REAL, "") + "D.eval()\n"
CLOSER = HEADS.replace("two(seen).exp()", "(two(seen) - two(body(x + 0.1))).exp()")
CLOSER_ANEW = ANEW[0], ANEW[1].replace("two(body(x))", "(two(body(x)) - two(body(x + 0.1)))")
CAPTIONED = """\
encoder, decoder = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Tanh()), nn.Linear(5, 3)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
for picture in torch.randn(4, 6, 4):
    shown = encoder(picture)
    for word in range(3):
        loss = F.cross_entropy(decoder(shown), torch.full((6,), word))
        train: loss
"""
SHOWN_ANEW = "decoder(shown)", "decoder(encoder(picture))"


SAVED = "torch.save(body.state_dict(), '/dev/null')\n"
_NUMBERS = {"torch", "numpy", "torchvision", "scipy", "matplotlib", "tqdm"}
"""Packages that neither evaluate nor save a module unless they are told to."""
_READS = frozenset(
    {
        *("eval", "training", "state_dict", "save", "dump", "dumps", "deepcopy", "copy", "export", "script", "trace"),
        *("buffers", "named_buffers", "running_mean", "running_var", "swa_utils", "functional_call", "getattr"),
    }
)
"""What evaluates, saves or copies a module, or looks at what it counts."""


class StatisticsMoveMoreOften(Property):
    sentence = (
        "the edit calls a batch norm more often in training mode: {subject} is updated more than once an iteration, "
        "and evaluation mode uses it"
    )
    raises = (
        *(Example(HEADS + one, *ANEW) for one in ("body.eval()\n", "body.train(False)\n", SAVED)),
        Example(f"import copy\n{HEADS}best = copy.deepcopy(body)\n", *ANEW),
        Example(JUDGED_ONCE, JUDGED_ONCE, JUDGED_ANEW.replace(REAL, "") + "D.eval()\n"),
    )
    silent = (
        Example(HEADS, *ANEW),
        Example(GAN + "D.eval()\n", GAN, JUDGED_ANEW),
        Example(CLOSER + "body.eval()\n", *CLOSER_ANEW),
        Example(HEADS.replace("BatchNorm1d(8)", "BatchNorm1d(8, track_running_stats=False)") + "body.eval()\n", *ANEW),
        Example(CAPTIONED + "encoder.eval()\n", *SHOWN_ANEW),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        code, edited = evidence.followed, evidence.edited
        if evidence.letter.reused:
            return None
        passes = [*filter(None, code.counts)] or [code.backward_count]  # each phase may have an optimizer of its own
        mine = counted(edited)
        for name, count in counted(code).items():
            more = mine.get(name, 0)
            if more - count > 1 and any(count <= one + 1 < more for one in passes):
                return self.found(subject=f"{name}running_mean") if _may_be_read(evidence) else None
        return None


def _may_be_read(evidence: Evidence) -> bool:
    """Whether anything in the program may read what a module has counted, or keep it."""
    files = evidence.sources.project(str(evidence.case.pool.target.script))
    known = {
        *sys.stdlib_module_names,
        *_NUMBERS,
        *(name for one in files for name in (one.path.stem, one.path.parent.name)),
    }
    return any(_packages(node) - known or _reads(node) for one in files for node in one.walk())


def _packages(node: ast.AST) -> set[str]:
    """The packages that an import names, from the top."""
    match node:
        case ast.Import(names):
            return {one.name.partition(".")[0] for one in names}
        case ast.ImportFrom(str(module), _, 0):
            return {module.partition(".")[0]}
    return set()


def _reads(node: ast.AST) -> bool:
    """Whether an expression may evaluate, save or copy a module."""
    match node:
        case ast.Call(ast.Attribute(attr="train"), given, named):
            return bool(given or named)
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name):
            return name in _READS
    return False
