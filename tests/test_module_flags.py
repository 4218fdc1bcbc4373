"""A flag that is set on a module says which part is to train: a reference sets it on the parameters."""

from __future__ import annotations

import pytest
from sampled import one_in
from scripts import Script, Scripts, changed

from autofix.core.model import Applicability, Effect

pytestmark = pytest.mark.torch

NET = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)

        def forward(self, x):
            return self.head(self.last(self.first(x).tanh()).tanh())


    net = Net()
    for p in net.parameters():
        p.requires_grad = False
    net.head.requires_grad = True
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        loss = (net(torch.randn(6, 4)) - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
FLAG = "net.head.requires_grad = True"
FREEZE = "for p in net.parameters():\n    p.requires_grad = False\n"
IN_LOOP = "for layer in list(net.children())[-2:]:\n        layer.requires_grad = True"
BY_HELPER = "def switch(module, on):\n        module.requires_grad = on\n\n    switch(net.head, True)"


def _first(train: Script) -> tuple[Applicability, str]:
    """How far the first offer may be trusted, and the lines that it adds."""
    best = train.fix().fixes[0]
    added = [line[1:].strip() for line in best.diff.decode().splitlines() if line.startswith("+") and line[1:2] != "+"]
    return best.verdict.applicability, "; ".join(added)


@pytest.mark.parametrize(
    ("flags", "right"),
    [
        (FLAG, "net.head.requires_grad_(True)"),
        (IN_LOOP, "layer.requires_grad_(True)"),
        pytest.param(BY_HELPER, "module.requires_grad_(on)", marks=pytest.mark.apart("long")),
        pytest.param("setattr(net.head, 'requires_grad', True)", "net.head.requires_grad_(True)",
                     marks=pytest.mark.apart("long")),
        pytest.param("net.head.requires_gradient = True", "net.head.requires_grad_(True)",
                     marks=pytest.mark.apart("long")),
    ],
)  # fmt: skip
def test_the_flags_that_are_set_come_first_and_are_safe(script: Scripts, flags: str, right: str) -> None:
    assert _first(script(changed(NET, (FLAG, flags)))) == (Applicability.SAFE, right)


def test_what_an_optimizer_alone_owns_is_said_by_the_line_that_is_there(script: Scripts) -> None:
    found = _first(script(changed(NET, ("SGD(net.parameters()", "SGD(net.head.parameters()"))))
    assert found == (Applicability.SAFE, "net.head.requires_grad_(True)")


RIGHT = [
    (FLAG, "for p in net.head.parameters():\n    p.requires_grad = True"),
    (FREEZE, "for layer in list(net.children())[:-1]:\n    layer.requires_grad_(False)\n"),
    (FREEZE, "for name, p in net.named_parameters():\n    p.requires_grad = name.startswith('head')\n"),
]
WRONG = [
    (FREEZE, ""),
    ("    loss.backward()", "    loss.requires_grad_(True)\n    loss.backward()"),
    ("torch.randn(6, 4)", "torch.randn(6, 4, requires_grad=True)"),
    (FLAG, "net.requires_grad_(True)"),
    (FLAG, "net.last.requires_grad_(True)"),
    (FLAG, "net.head.weight.requires_grad = True"),
    (FLAG, "net.head = nn.Linear(4, 1)"),
]


@pytest.mark.parametrize("edit", one_in(2, RIGHT))
def test_an_edit_that_lets_the_same_part_train_is_safe(script: Scripts, edit: tuple[str, str]) -> None:
    verdict = script(NET).verdict(edit)
    assert (verdict.applicability, verdict.effect) == (Applicability.SAFE, Effect.IDENTICAL), verdict.summary


@pytest.mark.parametrize("edit", one_in(4, WRONG))
def test_no_edit_that_lets_another_part_train_is_safe(script: Scripts, edit: tuple[str, str]) -> None:
    verdict = script(NET).verdict(edit)
    assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.CHANGED), verdict.summary


OWN_SETTER = """\
nn.Linear(4, 1)

        @property
        def requires_grad(self):
            return True

        @requires_grad.setter
        def requires_grad(self, on):
            self.on = on
"""
IN_FORWARD = ("return self.head(self", "return (1 + getattr(self.head, 'requires_grad', False)) * self.head(self")
ON_ITSELF = "def on(self):\n            self.requires_grad = True\n\n        "
SILENT = [
    ((FLAG, "net.requires_grad = True"), ("nn.Linear(4, 1)\n", OWN_SETTER)),
    (IN_FORWARD,),
    ((FLAG, "net.on()"), ("def forward", f"{ON_ITSELF}def forward")),
    ((FLAG, "pass"), ("net = Net()", f"net = Net()\n    {FLAG}")),
    ((FLAG, "net.head.requires_grad = 'yes'"),),
    (("opt = ", "spare = nn.Linear(1, 1)\n    opt = "), ("net.parameters(), ", "[*net.parameters(), spare.weight], ")),
]  # fmt: skip


@pytest.mark.parametrize("changes", one_in(3, SILENT))
def test_what_says_nothing_of_parameters_leaves_it_open(script: Scripts, changes: tuple[tuple[str, str], ...]) -> None:
    train = script(changed(NET, *changes))
    assert not any(one.verdict.applicability is Applicability.SAFE for one in train.fix().fixes)
    verdict = train.verdict(("opt = ", "net.head.requires_grad_(True)\nopt = "))
    assert verdict.applicability is Applicability.UNSAFE, verdict.summary


BY_PROPERTY = """
    import torch
    from torch import nn

    torch.manual_seed(0)


    class Body(nn.Module):
        def __init__(self):
            super().__init__()
            self.raw = nn.Parameter(torch.tensor(0.3))
            self.net = nn.Linear(3, 1)

        @property
        def mass(self):
            return nn.functional.softplus(self.raw)

        def forward(self, x):
            return self.net(x) / self.mass


    body = Body()
    opt = torch.optim.SGD(body.parameters(), lr=0.1)
    for step in range(8):
        if step == 3:
            body.mass.requires_grad_(False)
        loss = (body(torch.randn(6, 3)) - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_a_flag_on_what_a_property_computes_is_that_of_its_parameters(script: Scripts) -> None:
    assert _first(script(BY_PROPERTY)) == (Applicability.SAFE, "body.raw.requires_grad_(False)")
    cut = script(BY_PROPERTY).verdict(("body.mass.requires", "body.mass.detach().requires"))
    assert (cut.effect, cut.applicability) == (Effect.CHANGED, Applicability.UNSAFE), cut.summary
