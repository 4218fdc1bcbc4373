"""An optimizer whose parameters are replaced after it was made.

## What it does
Finds `model.fc = nn.Linear(…)`, or `model = Model()`, after an optimizer was made of `model.parameters()`, in one
straight run of statements, where the optimizer is used on and never told about the new parameters.

## Why it matters
The optimizer keeps the old parameters. It steps them, while the new ones are never trained and nothing fails.

## What it cannot tell
It stays silent where another optimizer is made later, or `add_param_group` is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, examples, makes_optimizer, owners
from autofix.syntax.facts import Bind, Scope

_WITHOUT_PARAMETERS = {
    "Identity", "Dropout", "ReLU", "Sigmoid", "Tanh", "Flatten", "Softmax", "AvgPool2d", "MaxPool2d",
    "AdaptiveAvgPool2d", "DataParallel", "DistributedDataParallel", "Sequential",
}  # fmt: skip


class OptimizerOfReplacedParameters(Finder):
    code, name = "AG506", "optimizer-of-replaced-parameters"
    title = "Parameters replaced after the optimizer was made"
    words = (b".parameters()", b"optim", b".step(")
    finds, passes = examples("""\
!
def main(make, batches):
    model = make()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = nn.Linear(512, 10)  # found
    for x in batches:
        train: model(x).mean()
!
def main(make, batches):
    model = make()
    model.fc = nn.Linear(512, 10)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        opt.step()
!
def main(make, batches):
    model = make()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = nn.Linear(512, 10)
    opt.add_param_group({"params": model.fc.parameters()})
    opt.step()
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        if b"add_param_group" in scope.module.data:
            return
        for name, binds in scope.binds.items():
            if len(binds) != 1 or not makes_optimizer(scope, binds[0]):
                continue
            for model in owners(binds[0].value):
                yield from _replaced(scope, model, binds[0], name)


def _replaced(scope: Scope, model: str, made: Bind, optimizer: str) -> Iterator[Spot]:
    used = [call.order for call in scope.calls.get("step", ()) if call.receiver == optimizer]
    for name, binds in scope.binds.items():
        if name != model and not name.startswith(f"{model}."):
            continue
        for bind in binds:
            if bind.order < made.order or bind.block is not made.block or not any(at > bind.order for at in used):
                continue
            if _makes_parameters(scope, bind):
                yield Spot(bind.node, f"{optimizer} was made before {name} was replaced, and does not train it")


def _makes_parameters(scope: Scope, bind: Bind) -> bool:
    if bind.how != "=" or not isinstance(bind.value, ast.Call):
        return False
    package, _, made = scope.module.called(bind.value).rpartition(".")
    local = scope.module.classes.get(made) if not package else None
    if local is not None:
        return scope.module.is_module_class(local)
    return package == "torch.nn" and made[:1].isupper() and made not in _WITHOUT_PARAMETERS
