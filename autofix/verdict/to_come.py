"""What a program may still do behind the place where a run of it was stopped: train more, or otherwise."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence

from autofix.probe.wire import Frame, Stack
from autofix.syntax.blocks import function_named, holds
from autofix.syntax.calls import Comprehension, Function, imported, name_of, path_of
from autofix.syntax.source import Source
from autofix.syntax.sources import MOST_FILES, Sources

_TAME = {
    "torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "matplotlib", "PIL", "cv2", "skimage", "sklearn",
    "tqdm", "yaml", "einops", "h5py", "gym", "gymnasium", "networkx", "seaborn", "tensorboardX",
} | sys.stdlib_module_names  # fmt: skip
"""Packages whose functions make no optimizer, but for what torch has in `torch.optim`."""
_OPTIM, _SCHEDULES = "optim", "lr_scheduler"
_GRADIENTS = {"grad", "vjp", "jacrev", "jacfwd", "grad_and_value", "jacobian"}
"""What gives a gradient to whoever asks: with that, anything may be stepped by hand."""
_OWNS = "params"
"""The key by which a group of an optimizer has what it owns."""
_BUILTIN = {"eval", "exec", "compile", "globals", "locals", "vars", "getattr", "__import__"}
_ANYTHING = {"import_module", "run_path", "run_module", "attrgetter", "methodcaller"}
"""What may call, or give, a function by a name that no text shows."""
_DECORATORS = {"staticmethod", "classmethod", "no_grad", "enable_grad", "inference_mode"}
"""What leaves a function the one that it is."""
_BASES = {"object", "Module", "ABC"}
"""Foreign classes that call none of the methods of a class by themselves, but for `forward` and those of Python's."""
_BUILDS = {"__init__", "__new__", "__post_init__"}
"""Methods that making an object runs."""
_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar)
"""Blocks of which a part before a statement may run behind it."""


class _UnresolvedError(Exception):
    """What a program calls cannot be said."""


def may_train_more(sources: Sources, stack: Stack) -> bool:
    """Whether a program may still make an optimizer, give one more, or step by hand, behind where its frames stand.

    Whatever cannot be said counts: frames that are not known up to the module, packages that may train, functions that
    are given away as values, and calls by a name that no text shows.
    """
    if not stack or stack[-1].function != "<module>":
        return True
    files = sources.project_of(stack)
    if not 0 < len(files) < MOST_FILES or any(sources.source(frame.file) not in files for frame in stack):
        return True
    try:
        makers = _Makers(files, sources)
        return any(makers.trained_in(node) for frame in stack for node in _left(sources, frame))
    except _UnresolvedError:
        return True


def may_do_otherwise(files: Iterable[Source]) -> bool:
    """Whether a program can do later what it does not do now: something in it is compared, or counted in turns."""
    kinds = ast.Compare, ast.While, ast.IfExp, ast.Mod, ast.FloorDiv
    return any(isinstance(node, kinds) and not _asks_for_main(node) for one in files for node in one.walk())


def _asks_for_main(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "__name__"


class _Makers:
    """The names of functions and classes of a program by which more may come to be trained."""

    def __init__(self, files: Sequence[Source], sources: Sources) -> None:
        self._names: set[str] = set()
        """At first those that files give to what they import of optimizers."""
        self._torch = {"torch"}
        self._classes = {node.name for one in files for node in one.walk() if isinstance(node, ast.ClassDef)}
        for one in files:
            for node in one.walk():
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self._import(node, one, sources)
                elif isinstance(node, ast.Call) and _calls_anything(node):
                    raise _UnresolvedError
        self._follow([node for one in files for node in one.walk()])
        for one in files:
            self._check(one)

    def trained_in(self, node: ast.AST) -> bool:
        """Whether something that runs where a node does trains more, or leads to what does."""
        return any(self._is_maker(one) or _steps_by_hand(one) for one in _run_by(node))

    def _import(self, node: ast.Import | ast.ImportFrom, source: Source, sources: Sources) -> None:
        own = any(sources.source(str(path)) for path in imported([node], source.path, sources.root))
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            path = [*module.split("."), *alias.name.split(".")] if module else alias.name.split(".")
            relative = isinstance(node, ast.ImportFrom) and node.level > 0
            if not own and (relative or path[0] not in _TAME or alias.name == "*"):
                raise _UnresolvedError
            bound = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else "")
            if path == ["torch"] and bound:
                self._torch.add(bound)
            elif _OPTIM in path and _SCHEDULES not in path and bound:
                self._names.add(bound)

    def _follow(self, nodes: Sequence[ast.AST]) -> None:
        """Find all names: what names one that is known is another."""
        found = [(name, node) for node in nodes for name in _given_to(node)]
        known = -1
        while known != len(self._names):
            known = len(self._names)
            self._names |= {name for name, node in found if name not in self._names and self.trained_in(node)}

    def _check(self, source: Source) -> None:
        """Hold that nothing of these runs unnamed, or is given away as a value."""
        for node in source.walk():
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() if self.trained_in(node):
                    held = self._is_run_by_name(node, source.parent(node))
                case ast.Lambda() if self.trained_in(node):
                    held = isinstance(source.parent(node), ast.Assign)
                case ast.Name() | ast.Attribute() if self._is_maker(node):
                    held = _is_called(source, node)
                case ast.Call() if start := _asked_for(node):
                    held = not any(name.startswith(start) for name in self._names)
                case _:
                    held = True
            if not held:
                raise _UnresolvedError

    def _is_run_by_name(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.AST | None) -> bool:
        """Whether a function runs where its name, or that of its class, is called, and nowhere else."""
        bases = owner.bases if isinstance(owner, ast.ClassDef) else []
        known = all(name_of(one) in self._classes | _BASES for one in bases)
        # What a generator has left may run wherever it is asked for the next item.
        later = any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in ast.walk(node))
        alone = all(name_of(one) in _DECORATORS for one in node.decorator_list)
        by_python = node.name == "forward" or (node.name[:2] == "__" and node.name not in _BUILDS)
        return isinstance(node, ast.FunctionDef) and known and alone and not later and not by_python

    def _is_maker(self, node: ast.AST) -> bool:
        match node:
            case ast.Name(name, ast.Load()):
                return name in self._names
            case ast.Attribute(attr=name, ctx=ast.Load()):
                first, *rest = path_of(node).split(".")
                of_torch = first in self._torch and rest[:1] == [_OPTIM] and _SCHEDULES not in rest
                return name in self._names or of_torch
        return False


def _steps_by_hand(node: ast.AST) -> bool:
    """Whether a node asks for a gradient, or tells an optimizer what it owns."""
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name in _GRADIENTS or name == "add_param_group"
        case ast.Constant(value):
            return value == _OWNS
    return False


def _given_to(node: ast.AST) -> Iterator[str]:
    """The names by which what is written in a node may be run from elsewhere."""
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name) if name not in _BUILDS:
            yield name
        case ast.Assign(targets, ast.Lambda()):
            yield from map(name_of, targets)
        case ast.alias(_, str(name)):
            yield name


def _run_by(node: ast.AST) -> Iterator[ast.AST]:
    """What may run by a node; of a class not its methods, which run by their own names, and no annotation."""
    yield node
    inner: Iterable[ast.AST]
    match node:
        case ast.ClassDef():
            body = [one for one in node.body if not isinstance(one, Function) or one.name in _BUILDS]
            inner = (*node.decorator_list, *node.bases, *node.keywords, *body)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            inner = (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults), *node.body)
        case ast.AnnAssign():
            inner = filter(None, (node.target, node.value))
        case ast.alias(name, str()):
            inner = (ast.Name(name, ast.Load()),)
        case ast.Attribute() if path := path_of(node):
            inner = (ast.Name(path.split(".")[0], ast.Load()),)
        case ast.Call(ast.Name("isinstance" | "issubclass"), [value, _]):
            inner = (value,)
        case _:
            inner = ast.iter_child_nodes(node)
    for one in inner:
        yield from _run_by(one)


def _calls_anything(node: ast.Call) -> bool:
    """Whether a call may give, or run, what no text names."""
    known = name_of(node) not in _ANYTHING and path_of(node.func).removeprefix("builtins.") not in _BUILTIN
    return not known and not _asked_for(node)


def _asked_for(node: ast.Call) -> str:
    """How the name of the attribute begins that a call asks for; '' of any other call, and where nobody knows."""
    match node:
        case ast.Call(ast.Name("getattr"), [_, ast.Constant(str(start)), *_]):
            return start
        case ast.Call(ast.Name("getattr"), [_, ast.JoinedStr([ast.Constant(str(start)), *_]), *_]):
            return start
    return ""


def _is_called(source: Source, node: ast.expr) -> bool:
    """Whether a name is read to call what it names, to take from it, to derive from it, or to ask for a kind."""
    match parent := source.parent(node):
        case ast.Call(func) if func is node:
            return True
        case ast.Call(ast.Name("isinstance" | "issubclass")) | ast.ClassDef():
            return True
        case ast.Attribute():
            return _is_called(source, parent)
    return any(
        told is node
        for around in source.around(node)
        for root in (getattr(around, "annotation", None), getattr(around, "returns", None))
        if isinstance(root, ast.AST)
        for told in ast.walk(root)
    )


def _left(sources: Sources, frame: Frame) -> Iterator[ast.AST]:
    """What a frame may still run: what stands behind in its blocks, and the loops around it again."""
    source = sources.source(frame.file)
    scope = function_named(source, frame.function) if source is not None else None
    call = sources.node(frame)
    if source is None or scope is None or call is None:
        raise _UnresolvedError
    statement = source.statement(call)
    outwards = list(source.around(statement))
    if scope not in outwards:
        raise _UnresolvedError
    around = [statement, *outwards[: outwards.index(scope)]]
    if any(isinstance(one, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) for one in around):
        raise _UnresolvedError
    within = itertools.takewhile(lambda one: one is not statement, source.around(call))
    again = call is statement or any(isinstance(one, (ast.Lambda, Comprehension)) for one in within)
    yield from [statement] if again else _beside(statement, call)
    for one, parent in zip(around, outwards, strict=False):
        if isinstance(one, _BLOCKS):
            yield one
        for _, block in ast.iter_fields(parent):
            if isinstance(block, list) and one in block:
                yield from block[block.index(one) + 1 :]


def _beside(node: ast.AST, call: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement without a call in it that runs already."""
    for child in ast.iter_child_nodes(node) if node is not call else ():
        if holds(child, call):
            yield from _beside(child, call)
        else:
            yield child
