"""An inner step also leaves its gradients for the outer one

## What it finds

Computed weights keep their gradients (`weight.retain_grad()`), a backward leaves them there, and the weights descend by
them (`weight = weight - lr * weight.grad`). In one further run this backward leaves gradients in these weights alone
(`inputs=[weight]`). There the optimizers use others. This is not said where the gradients are zeroed in between, nor
where something ascends (`code = code + eps * code.grad`): of what is made worse on purpose, both losses train.

## Why it matters

`backward` does not stop at the weights: it goes on to the parameters that they were computed from, and leaves gradients
there. The outer step then descends the inner loss as well, at weights that it is not made for. An inner step takes its
gradients by `torch.autograd.grad(loss, [weight])`.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from autofix.core.edit import Declined, EditConflict
from autofix.experiments.compare import differences
from autofix.experiments.sketches import LIVE
from autofix.probe import wire
from autofix.syntax import calls
from autofix.syntax.apply import apply
from autofix.syntax.edits import rendered, set_keyword
from autofix.syntax.source import Source
from autofix.syntax.update import inner_steps
from autofix.verdict.property import Evidence, Example, Finding, Property

ADAPTED = """\
body = nn.Linear(3, 4)
optimizer = torch.optim.SGD(body.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    weight = body(torch.randn(5, 3)).tanh().mean(0)
    for _ in range(2):
        weight.retain_grad()
        loss = (weight - 1).square().mean()
        loss.backward()
        weight = weight - 0.3 * weight.grad
    (weight.square() + weight).mean().backward()
    optimizer.step()
"""
ZEROED = ADAPTED.replace("    (weight.sq", "    optimizer.zero_grad()\n    (weight.sq")
MADE_WORSE = ADAPTED.replace("weight - 0.3", "weight + 0.3")
OF_TWO = ADAPTED.replace("weight - 0.3 * weight.grad", "weight.sub(0.3 * weight.grad)")
GOES, KEPT = "loss.backward()", "loss.backward(retain_graph=True)"
ALONE = "loss.backward(inputs=[weight], retain_graph=True)"
TAKEN = ADAPTED[ADAPTED.index("        weight.retain") : ADAPTED.index("    (weight.sq")]
BY_GRAD = (
    TAKEN.replace("        weight.retain_grad()\n", "")
    .replace("loss.backward()", "(slope,) = torch.autograd.grad(loss, weight)")
    .replace("weight.grad", "slope")
)


class InnerLossTrainsToo(Property):
    sentence = (
        "this backward is for an inner step, and also leaves gradients in the parameters behind `{path}`, which the "
        "outer step uses"
    )
    raises = (
        Example(ADAPTED, GOES, KEPT),
        Example(OF_TWO, GOES, KEPT),
    )
    silent = (
        Example(ZEROED, GOES, KEPT),
        Example(MADE_WORSE, GOES, KEPT),
        Example(ADAPTED, GOES, ALONE),
        Example(ADAPTED, TAKEN, BY_GRAD),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        for source, call, paths in _inner(evidence):
            with contextlib.suppress(Declined, EditConflict):
                alone = apply(source, rendered(set_keyword(source, call, "inputs", f"[{', '.join(paths)}]")))
                run = evidence.left_of({**evidence.files, source.path: alone})
                if evidence.case.passed(run) and differences(evidence.edited, run, LIVE):
                    return self.found((wire.Frame.of_line(str(source.path), call.lineno),), path="`, `".join(paths))
        return None


def _inner(evidence: Evidence) -> Iterator[tuple[Source, ast.Call, list[str]]]:
    """Each backward of the edited script that leaves gradients by which computed weights descend."""
    for source in evidence.edited_sources.project(str(evidence.case.pool.target.script)):
        for node in source.mentioning("retain_grad"):
            function = source.function(node)
            for call in calls.within(function or source.tree) if _is_kept(node) else ():
                statement = source.statement(call)
                if calls.name_of(call) != "backward" or calls.keyword(call, "inputs") is not None:
                    continue
                steps = inner_steps(source, statement) if calls.statement_call(statement) is call else {}
                if steps and all(step.descends for step in steps.values()):
                    yield source, call, [*steps]


def _is_kept(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and calls.name_of(node) == "retain_grad"
