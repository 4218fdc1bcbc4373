"""Optimizers that own other tensors than those that are trained, and layers that no optimizer can see."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.audit.repair import Found, Keeps, Offer, Place
from autofix.syntax import blocks, names
from autofix.syntax.calls import name_of, path_of
from autofix.syntax.edits import Step, delete, embed, insert_after, move_after, move_before, rename, replace_statement
from autofix.syntax.source import Source

_READ_ONCE = ("parameters", "named_parameters", "filter", "map", "chain")
"""Calls whose result can be read once."""
_HOLDERS = {"Module": ("ModuleList", "ModuleDict"), "Parameter": ("ParameterList", "ParameterDict")}


def others(found: Found) -> Iterator[Offer]:
    """Give the optimizer what is trained: a list that can be read again, or the tensors as they are later."""
    yield from _read_again(found.here)
    yield from _renewed(found.here)
    yield from later(found.here, found.subject)
    source, statement = found.here.source, found.here.statement
    for text in _of_other(source, statement, found.subject.partition(".")[0]):
        yield Offer("Give the optimizer what is trained", replace_statement(source, statement, [text]))


def _renewed(made: Place) -> Iterator[Offer]:
    """Make an optimizer after a module that a later line makes of the one that it was given."""
    source, statement = made.source, made.statement
    for node in ast.walk(statement):
        match node:
            case ast.Attribute(value=ast.Name(id=root), attr="parameters"):
                following = (one for one in blocks.after(made.block, statement) if isinstance(one, ast.Assign))
                for one in (each for each in following if root in names.reads(each)):
                    for text in _of_other(source, statement, source.segment(one.targets[0])):
                        steps = (*delete(source, statement), *insert_after(source, one, [text]))
                        yield Offer("Make the optimizer after what it owns", steps)


def made_anew(found: Found) -> Iterator[Offer]:
    """Make an optimizer once, before the loop."""
    loop = next(blocks.loops(found.here.source, found.here.node), None)
    if loop is not None and found.here.statement in loop.body:
        steps = move_before(found.here.source, [found.here.statement], loop)
        yield Offer("Make the optimizer once, before the loop", steps)


def flag(found: Found) -> Iterator[Offer]:
    """Set the flag that torch knows."""
    source = found.here.source
    match found.here.statement:
        case ast.Assign(targets=[ast.Attribute(value=holder, attr=name) as target], value=value):
            steps: Sequence[Step] = rename(source, target, "requires_grad")
            if name == "requires_grad":
                text = f"{source.segment(holder)}.requires_grad_({source.segment(value)})"
                steps = replace_statement(source, found.here.statement, [text])
            yield Offer("Set requires_grad", steps, Keeps.VALUES)


def idle(found: Found) -> Iterator[Offer]:
    """Make an optimizer that finds no gradient after what it is to own is made anew."""
    for made in found.others[-1:]:
        yield from later(made, "")


def later(made: Place, trained: str) -> Iterator[Offer]:
    """Make an optimizer after its tensors were bound anew; `trained` are the names of those it lacks."""
    source, statement = made.source, made.statement
    own = {one.partition(".")[0] for one in names.reads(statement)}
    root = trained.partition(".")[0].partition("[")[0]
    following = blocks.after(made.block, statement)
    inner = [one for each in following for one in ast.walk(each) if isinstance(one, (ast.Assign, ast.AnnAssign))]
    title = "Make the optimizer after what it owns"
    for anchor in reversed(inner):
        bound = {one.partition(".")[0] for one in names.binds(anchor)}
        if bound & own:
            yield Offer(title, move_after(source, [statement], anchor))
        elif root in bound and made.block is blocks.block_of(source, anchor):
            for text in _of_other(source, statement, root):
                yield Offer(title, (*delete(source, statement), *insert_after(source, anchor, [text])))


def in_plain_list(found: Found) -> Iterator[Offer]:
    """Put layers, or parameters, into the container that `parameters()` looks into."""
    path, bracket, rest = found.subject.partition(",")[0].partition("[")
    kind = "Module" if "]." in rest else "Parameter"
    for source in found.sources.imported_by(found.here.source):
        for assigned in names.assignments(source, f"self.{path.rpartition('.')[2]}"):
            if assigned.value is None or isinstance(assigned, ast.AugAssign):
                continue
            if not bracket:
                word = f"{_module_prefix(source, assigned)}Parameter"
                yield Offer("Make it a parameter", embed(source, assigned.value, f"{word}({{}})"))
                continue
            keyed = isinstance(assigned.value, (ast.Dict, ast.DictComp)) or name_of(assigned.value) == "dict"
            word = _module_prefix(source, assigned) + _HOLDERS[kind][keyed]
            yield Offer(f"Keep them in {word}", embed(source, assigned.value, f"{word}({{}})"))


def _module_prefix(source: Source, node: ast.AST) -> str:
    """What stands before `Module` where the class around a node names its base, such as `nn.`."""
    holder = next((one for one in source.around(node) if isinstance(one, ast.ClassDef)), None)
    bases = map(path_of, holder.bases if holder is not None else ())
    return next((base.removesuffix("Module") for base in bases if base.endswith("Module")), "")


def _read_again(made: Place) -> Iterator[Offer]:
    for path in sorted(names.reads(made.node)):
        for assigned in names.assignments(made.source, path):
            value = assigned.value
            if isinstance(value, ast.GeneratorExp) or (isinstance(value, ast.Call) and name_of(value) in _READ_ONCE):
                yield Offer(f"Keep {path} as a list, which can be read again", embed(made.source, value, "list({})"))


def _of_other(source: Source, statement: ast.stmt, root: str) -> Iterator[str]:
    """A statement that makes an optimizer, for another module than the one it names."""
    for node in ast.walk(statement):
        match node:
            case ast.Attribute(value=ast.Name() as holder, attr="parameters"):
                start, end = source.extent(holder)
                first, last = source.extent(statement)
                yield source.text[first:start] + root + source.text[end:last]
