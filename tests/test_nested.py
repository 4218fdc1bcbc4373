"""Nested values: what is read off a value and written as a statement leaves its values and none of its graphs."""

from __future__ import annotations

import ast
import collections
import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from autofix.core.edit import Declined
from autofix.syntax import nested

pytestmark = pytest.mark.torch


class State(NamedTuple):
    h: Any
    steps: int


@dataclasses.dataclass(frozen=True)
class Frozen:
    h: Any
    label: str = "x"


def made(kind: str) -> Any:
    """A value of tensors that have a graph."""
    import torch  # noqa: PLC0415

    def tensor() -> torch.Tensor:
        return torch.ones(2, requires_grad=True) * 2

    values = {
        "tensor": tensor,
        "tuple": lambda: (tensor(), tensor()),
        "list of tuples": lambda: [(tensor(), tensor()), (tensor(), tensor())],
        "growing list": lambda: [tensor() for _ in range(50)],
        "with gaps": lambda: [None, tensor(), None],
        "mixed": lambda: (tensor(), (tensor(), [tensor()]), 3, None),
        "dict of tuples": lambda: {"a": (tensor(), tensor()), 1: (tensor(), tensor())},
        "mixed dict": lambda: {"a": tensor(), "b": [tensor()], "count": 7},
        "another dict": lambda: collections.OrderedDict(a=tensor()),
        "named tuples": lambda: [State(tensor(), 1), State(tensor(), 2)],
        "dataclass": lambda: Frozen((tensor(), tensor())),
        "deque": lambda: collections.deque([(tensor(), tensor())], maxlen=3),
        "deques in a dict": lambda: {"a": collections.deque([tensor()]), "b": collections.deque([tensor(), tensor()])},
        "many unlike": lambda: [None, *[tensor(), (tensor(), tensor()), {"k": tensor()}] * 4],
        "lists, some empty": lambda: {1: [], 2: [(tensor(), 0.5), (tensor(), 1.5)], 3: []},
        "growing rows, some empty": lambda: [[], [tensor()], [tensor(), tensor()]],
        "another dict of lists": lambda: collections.defaultdict(list, {1: [(tensor(), tensor())], 2: []}),
        "deep": lambda: [[{"a": [tensor()]}]],
    }
    return values[kind]()


def tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    elif isinstance(value, collections.deque):
        value = list(value)
    elif dataclasses.is_dataclass(value):
        value = [value.h]  # type: ignore[attr-defined]
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors(one)
    elif hasattr(value, "grad_fn"):
        yield value


@pytest.mark.parametrize(
    "kind",
    [
        "tensor", "tuple", "list of tuples", "growing list", "with gaps", "mixed", "dict of tuples", "mixed dict",
        "another dict", "named tuples", "dataclass", "deque",
        "deques in a dict", "many unlike", "lists, some empty", "growing rows, some empty", "another dict of lists",
        "deep",
    ],
)  # fmt: skip
def test_a_cut_keeps_the_values_and_what_holds_them(kind: str) -> None:
    from autofix.probe.failure import forms  # noqa: PLC0415

    before = made(kind)
    scope = {"kept": before, "dataclasses": dataclasses, "collections": collections}
    exec(nested.cut_statement("kept", forms.form(before)), scope)  # noqa: S102
    after: Any = scope["kept"]
    assert type(after) is type(before)
    assert forms.form(after) == forms.form(before)
    assert [one.tolist() for one in tensors(after)] == [one.tolist() for one in tensors(made(kind))]
    assert all(one.grad_fn is None for one in tensors(after))


@pytest.mark.parametrize("form", ["...", "[*(named(h=tensor) or tensor)]", "[*unknown(tensor)]"])
def test_what_cannot_be_written_again_is_declined(form: str) -> None:
    with pytest.raises(Declined):
        nested.cut_statement("kept", form)


def test_what_has_no_graph_beside_what_has_one_stays_as_it_is() -> None:
    import torch  # noqa: PLC0415

    from autofix.probe.failure import forms  # noqa: PLC0415

    bare, made_of = torch.ones(2), torch.ones(2, requires_grad=True) * 2
    assert nested.cut_statement("kept", forms.form((bare, made_of, 3))) == "kept = (kept[0], kept[1].detach(), kept[2])"
    records = [(bare, bare, 0.5), (bare, made_of, 0.5)] * 10
    assert nested.cut_statement("kept", forms.form(records)) == "kept = [(s[0], s[1].detach(), s[2]) for s in kept]"
    rows = [(bare, made_of), (made_of, made_of), (made_of, made_of, made_of)]
    assert nested.cut_statement("kept", forms.form(rows)) == "kept = [tuple(t.detach() for t in s) for s in kept]"
    assert nested.cut_statement("kept", forms.form({"x": bare, "bare": [made_of]})) == (
        "kept = {**kept, 'bare': [t.detach() for t in kept['bare']]}"
    )
    assert nested.cut_statement("kept", forms.form([bare, bare])) == "kept = [t.detach() for t in kept]"


@pytest.mark.parametrize(
    ("item", "form", "cut"),
    [
        ("(s, h, 3)", "(bare, tensor, ...,)", {"h": "h.detach()"}),
        ("Seen(s, h=h)", "named(s=bare, h=(*tensor,))", {"h": "tuple(t.detach() for t in h)"}),
        ("{'s': s, 'h': f(s)}", "{'s': bare, 'h': tensor}", {"f(s)": "f(s).detach()"}),
        ("[a, b]", "[*tensor]", {"a": "a.detach()", "b": "b.detach()"}),
        ("(*one, two)", "(bare, tensor,)", {"(*one, two)": "((*one, two)[0], (*one, two)[1].detach())"}),
    ],
)
def test_of_what_is_put_together_the_parts_with_a_graph_are_cut(item: str, form: str, cut: dict[str, str]) -> None:
    found = nested.cut_parts(ast.parse(item, mode="eval").body, form)
    assert {ast.unparse(part): text for part, text in found} == cut
