"""What an author of finders sees: `Finder`, `Spot`, and the questions about training code that several of them ask."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

from autofix.check.abstract.tape import Event
from autofix.check.abstract.values import PlayPlace
from autofix.check.places import said
from autofix.core import kinds as texts
from autofix.syntax.calls import path_of
from autofix.syntax.facts import Bind, Block, Call, Scope
from autofix.syntax.vocabulary import BACKWARDS, CUTS

HEAD = "import torch\nfrom torch import nn\n\n"
"""Stands before each example."""
# Calls that neither compute gradients nor put any to zero, whatever they are called on.
_HARMLESS = frozenset({
    "append", "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "cpu", "cuda", "detach", "float", "format",
    "get_last_lr", "int", "item", "len", "log", "max", "mean", "min", "numpy", "print", "range", "set_description",
    "set_postfix", "size", "str", "sum", "time", "to", "unscale_", "update", "write", "add_scalar", "parameters",
    "named_parameters", "round", "sqrt", "clamp", "clamp_", "extend", "list", "enumerate", "zip", "isinstance",
})  # fmt: skip


class Spot(NamedTuple):
    """A node that looks wrong, and why, in one sentence without a full stop."""

    node: ast.AST
    message: str
    file: str = ""
    """The file that the node is in, where it may be another than the one that is checked."""
    notes: tuple[tuple[PlayPlace, str], ...] = ()
    """Other lines that explain it, each with what happened there."""
    unless: str = ""
    """What another file takes it back by, as `Finding.unless`."""


class Finder:
    """One suspicious pattern. Stateless: `spots` reads a scope's facts; whoever cannot tell yields nothing."""

    code: ClassVar[str]
    name: ClassVar[str]
    title: ClassVar[str]
    words: ClassVar[tuple[bytes, ...]] = ()
    """A file without all of these cannot hold the pattern; it is not even parsed for it."""
    finds: ClassVar[tuple[str, ...]] = ()
    """Examples; each line on which something is found ends in `# found`."""
    passes: ClassVar[tuple[str, ...]] = ()
    """Examples that look alike and are right, or in which nobody can tell."""
    kinds: ClassVar[Mapping[str, str]] = {}
    """The events of a play that it tells of, each with its sentence, '' where `told` finds one: `{made}` is the line
    where what it is about was made, `{text}` the event's own words. A file is played only if a finder asks for some.
    """
    made: ClassVar[str] = ""
    """What is said at the line where that was made, and `caused`: at the line that is the cause."""
    caused: ClassVar[str] = ""

    def spots(self, scope: Scope) -> Iterator[Spot]:
        """Every suspicious node of one scope; none for a finder that is told events."""
        del scope
        return iter(())

    def told(self, event: Event) -> Spot | None:
        """What an event of one of its `kinds` comes to; None where it is another finder's."""
        sentence = self.kinds[event.kind].format(made=said(event.made_at, event), text=event.text)
        notes = ((event.made_at, self.made), (event.caused_at, self.caused))
        return spot(event.place, sentence, *(note for note in notes if note[1]))


def examples(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The `finds` and the `passes` of one text, each behind a line `!`."""
    return texts.examples(HEAD + text)


def spot(place: PlayPlace, message: str, *notes: tuple[PlayPlace | None, str]) -> Spot:
    """A spot at a place of a play; a note without a place, or at a place of which something was said, is left out."""
    told: dict[ast.AST, tuple[PlayPlace, str]] = {}
    for where, text in notes:
        if where is not None and where.node is not place.node:
            told.setdefault(where.node, (where, text))
    return Spot(place.node, message, place.frame.file, tuple(told.values()), place.frame.alone())


def steps(scope: Scope) -> Iterator[Call]:
    """Calls `name.step()` without arguments, outside of `no_grad`."""
    for call in scope.calls.get("step", ()):
        if call.receiver and not call.node.args and not call.node.keywords:
            yield call


def backwards(scope: Scope) -> list[Call]:
    """Calls `.backward(…)` in any spelling: on a loss, by torch.autograd, by a wrapper."""
    return [call for name in sorted(BACKWARDS) for call in scope.calls.get(name, ())]


def is_optimizer(scope: Scope, name: str) -> bool:
    """Whether every binding of `name` that can be seen makes a torch optimizer."""
    origins = scope.origins(name)
    return bool(origins) and all(makes_optimizer(scope, bind) for bind in origins)


def makes_optimizer(scope: Scope, bind: Bind) -> bool:
    return bool(_made(scope, bind, "torch.optim"))


def makes_scheduler(scope: Scope, bind: Bind) -> bool:
    return _made(scope, bind, "torch.optim.lr_scheduler") not in {"", "ReduceLROnPlateau"}


def _made(scope: Scope, bind: Bind, package: str) -> str:
    """The class of a package of which a binding makes an object; '' where it makes none."""
    holder, _, made = (scope.module.called(bind.value) if bind.how == "=" else "").rpartition(".")
    return made if holder == package and made[:1].isupper() else ""


def harmless(call: Call) -> bool:
    """Whether a call surely neither computes nor clears gradients."""
    return call.method in _HARMLESS or call.method == "step"


def owners(value: ast.AST | None) -> list[str]:
    """The names whose `.parameters()` an optimizer is made of; empty when it is made of anything else."""
    if not isinstance(value, ast.Call):
        return []
    given = value.args[0] if value.args else next((word.value for word in value.keywords if word.arg == "params"), None)
    return _owners(given)


def _owners(node: ast.AST | None) -> list[str]:
    match node:
        case ast.Call(func=ast.Attribute(attr="parameters", value=owner), args=[], keywords=[]):
            return [path_of(owner)] if path_of(owner) else []
        case ast.Call(func=func, args=[*parts], keywords=[]) if path_of(func) in {"list", "chain", "itertools.chain"}:
            return _all_owners(parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _all_owners([left, right])
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return _all_owners([part.value if isinstance(part, ast.Starred) else part for part in parts])
    return []


def _all_owners(parts: list[ast.expr]) -> list[str]:
    found = [_owners(part) for part in parts]
    return [name for names in found for name in names] if all(found) else []


def value_at(scope: Scope, name: str, order: int, block: Block) -> Bind | None:
    """The binding that surely gives `name` its value at an event in `block`; None when another may."""
    bind = scope.last_bind(name, order)
    if bind is None or not block.inside(bind.block):
        return None
    return bind


def cleared_for(scope: Scope, step: Call) -> Call | None:
    """The `zero_grad()` after which surely nothing gives `step` a gradient; None where something may."""
    zeros = [call for call in scope.calls.get("zero_grad", ()) if call.receiver == step.receiver]
    zero = next((call for call in reversed(zeros) if call.order < step.order), None)
    if zero is None or zero.block is not step.block:
        return None
    between = scope.between(zero.order, step.order)
    if all(harmless(event) if isinstance(event, Call) else not event.name.endswith(".grad") for event in between):
        return zero
    return None


def is_network(scope: Scope, value: ast.AST | None) -> bool:
    """Whether `value` calls what is seen to be a torch module with parameters, whose graph is cut nowhere inside."""
    name = path_of(value.func) if isinstance(value, ast.Call) else ""
    origins = scope.origins(name) if name else []
    return bool(origins) and all(_makes_network(scope, bind) for bind in origins)


def _makes_network(scope: Scope, bind: Bind, depth: int = 4) -> bool:
    value = bind.value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in {"to", "cuda"}:
        value = value.func.value
    if bind.how != "=" or not isinstance(value, ast.Call) or not depth:
        return False
    package, _, made = scope.module.called(value).rpartition(".")
    if package == "torch.nn":
        return made[:1].isupper() and not made.endswith("Loss")
    owner = scope.module.classes.get(made) if not package else None
    return owner is not None and scope.module.is_module_class(owner) and _open_throughout(owner, depth - 1)


def _has_weights(scope: Scope, bind: Bind) -> bool:
    """Whether a binding makes something of torch's networks that may hold a parameter, or of a class of the file."""
    package, _, made = scope.module.called(bind.value).rpartition(".")
    return made in scope.module.classes if not package else package.startswith("torch.nn") and made[:1].isupper()


def _open_throughout(owner: Scope, depth: int) -> bool:
    """Whether a class owns torch modules or parameters, calls of what it owns only those, and detaches nothing."""
    if not any(_has_weights(owner, bind) for binds in owner.attributes.values() for bind in binds):
        return False
    for method in owner.module.scopes:
        if method.parent is not owner:
            continue
        if method.quiet or any(part.rpartition(".")[2] in CUTS for part in method.loads) or CUTS & method.calls.keys():
            return False
        for call in (call for calls in method.calls.values() for call in calls):
            made = owner.attributes.get(call.name, ())
            if not all(_makes_network(method, bind, depth) for bind in made):
                return False
    return True
