"""Functions of autograd that are written for instances: with static methods, or beside the object that they are of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autofix.core.edit import Declined
from autofix.syntax import live, names
from autofix.syntax.calls import defaults, name_of, parameters, path_of
from autofix.syntax.edits.imports import ensure_import
from autofix.syntax.edits.statements import decorate, delete, insert_before
from autofix.syntax.edits.steps import Splice, Step
from autofix.syntax.source import Source

_OF_NODE = (
    *("save_for_backward", "saved_tensors", "saved_variables", "needs_input_grad"),
    *("mark_dirty", "mark_non_differentiable"),
)
"""What torch keeps for each call."""
_METHODS = ("forward", "backward")


@dataclass(frozen=True)
class Instance:
    """Where an instance is made, and the call that uses it at once, if one does."""

    source: Source
    made: ast.Call
    used: ast.Call | None

    @property
    def apply(self) -> Step:
        """`apply` of the class in its place."""
        return _put(self.source, self.made, f"{self.source.segment(self.made.func)}.apply")


def instances(own: Source, name: str, files: Iterable[Source]) -> list[Instance]:
    """Where instances of a class of `own` are made; declines where more is done with the class than that."""
    found = []
    for source in files:
        if source.path != own.path and source.definitions.get(name):
            continue  # a class of its own
        for node in source.mentioning(name):
            if isinstance(node, ast.alias) and node.name == name and node.asname not in (None, name):
                raise Declined("the class has a second name")
            parent = source.parent(node)
            if not isinstance(node, (ast.Name, ast.Attribute)) or name_of(node) != name or _is_plain(parent):
                continue
            if not isinstance(parent, ast.Call) or parent.func is not node:
                raise Declined("the class is used for more than to make its instances")
            used = source.parent(parent)
            found.append(Instance(source, parent, used if isinstance(used, ast.Call) and used.func is parent else None))
    if not found:
        raise Declined("where its instances are made cannot be told from the text")
    return found


def applied(made: Sequence[Instance]) -> list[Step]:
    """`apply` of a class with static methods in the place of its instances, which are given nothing."""
    if any(one.made.args or one.made.keywords for one in made):
        raise Declined("what its constructor is given reaches no static method")
    return [one.apply for one in made]


@dataclass(frozen=True)
class Legacy:
    """The class of a function whose methods are those of an instance."""

    source: Source
    kind: ast.ClassDef

    @cached_property
    def methods(self) -> dict[str, ast.FunctionDef]:
        """Its methods by their names."""
        return {one.name: one for one in self.kind.body if isinstance(one, ast.FunctionDef)}

    # Static methods -------------------------------------------------------------------------------------------------

    def static(self, made: Sequence[Instance]) -> list[Step]:
        """Both methods static, and `apply` for each call of an instance; declines where an instance keeps something."""
        started, given = self._started()
        used = {one.attr for method in self._plain(*_METHODS) for one in self._attributes(method)}
        kept = used - self._set_by_call() - set(_OF_NODE) - started.keys()
        if kept or self.methods.keys() - {*_METHODS, "__init__"}:
            raise Declined("an instance keeps something from call to call")
        needed = {name: text for name, text in started.items() if name in used}
        if needed and any(one.used is None for one in made):
            raise Declined("an instance keeps what it was made with")
        given = given if needed else []
        steps = [step for one in made for step in self._call(one, given)]
        if "__init__" in self.methods:
            steps += self._without(self.methods["__init__"])
        return steps + self._heads(given, needed)

    def _started(self) -> tuple[dict[str, str], list[str]]:
        """What the constructor sets, as text, and the parameters that it does so with."""
        init = self.methods.get("__init__")
        if init is None:
            return {}, []
        if init.args.kwonlyargs or init.decorator_list:
            raise Declined("its constructor is called in a way of its own")
        own, *given = parameters(init)
        found = {}
        for one in init.body:
            match one:
                case ast.Assign([ast.Attribute(ast.Name(first), name)], value) if first == own:
                    if any(isinstance(part, ast.Name) and part.id == own for part in ast.walk(value)):
                        raise Declined("its constructor computes with the instance")
                    found[name] = self.source.segment(value)
                case ast.Expr(ast.Call(ast.Attribute(ast.Call(ast.Name("super")), "__init__"))):
                    pass
                case ast.Expr(ast.Constant()) | ast.Pass():
                    pass
                case _:
                    raise Declined("its constructor does more than to keep what it is given")
        return found, given

    def _set_by_call(self) -> set[str]:
        """The attributes that each call sets before it reads them."""
        first: dict[str, bool] = {}
        for method in self._plain(*_METHODS):
            for one in sorted(self._attributes(method), key=self._moment):
                statement = self.source.statement(one)
                always = isinstance(statement, ast.Assign) and self.source.parent(statement) is method
                first.setdefault(one.attr, always and isinstance(one.ctx, ast.Store))
        return {name for name, stored in first.items() if stored} - self._started()[0].keys()

    def _moment(self, one: ast.Attribute) -> tuple[int, bool]:
        """When an attribute is used: a statement reads before it sets."""
        return self.source.statement(one).lineno, isinstance(one.ctx, ast.Store)

    def _call(self, one: Instance, given: Sequence[str]) -> Iterator[Step]:
        """`apply` with what the constructor was given behind what the call gives."""
        yield one.apply
        texts = self._given(one, given)
        if not texts or one.used is None:
            return
        if not one.used.args or one.used.keywords or any(isinstance(part, ast.Starred) for part in one.used.args):
            raise Declined("which arguments the call gives cannot be told from the text")
        end = one.source.extent(one.used.args[-1])[1]
        yield Splice(one.source, end, end, "".join(f", {text}" for text in texts))

    def _given(self, one: Instance, given: Sequence[str]) -> list[str]:
        """What the constructor was given, in the order of its parameters."""
        named = {part.arg: part.value for part in one.made.keywords}
        if None in named or any(isinstance(part, ast.Starred) for part in one.made.args):
            raise Declined("what the constructor is given cannot be told from the text")
        texts: dict[str | None, str] = {name: one.source.segment(value) for name, value in named.items()}
        texts |= {name: one.source.segment(value) for name, value in zip(given, one.made.args, strict=False)}
        last = max((place for place, name in enumerate(given) if name in texts), default=-1)
        left = defaults(self.methods["__init__"]) if given else {}
        for name in given[: last + 1]:
            if name not in texts:
                if not isinstance(left.get(name), ast.Constant):
                    raise Declined("what the constructor is given cannot be told from the text")
                texts[name] = self.source.segment(left[name])
        return [texts[name] for name in given[: last + 1]]

    def _without(self, init: ast.FunctionDef) -> Iterator[Step]:
        """Without the constructor and the empty lines behind it."""
        end = init.end_lineno or 0
        if self.kind.body[-1] is init:
            yield from delete(self.source, init)
            return
        while not self.source.lines[end].strip():
            end += 1
        yield Splice(self.source, self.source.starts[init.lineno - 1], self.source.starts[end], "")

    def _heads(self, given: Sequence[str], needed: dict[str, str]) -> list[Step]:
        """The methods with `ctx` for their instance, and what the constructor was given among their arguments."""
        source, (forward, backward) = self.source, self._plain(*_METHODS)
        own = {parameters(method)[0] for method in (forward, backward)}
        taken = {name for method in (forward, backward) for name in parameters(method)[1:]}
        taken |= {one.id for m in (forward, backward) for one in source.walk(m) if isinstance(one, ast.Name)} - own
        if taken & {"ctx", *given} or (given and forward.args.defaults):
            raise Declined("two of its arguments would have the same name")
        steps: list[Step] = []
        for method in (forward, backward):
            first = (method.args.posonlyargs + method.args.args)[0]
            steps += decorate(source, method, "@staticmethod")
            steps += [_put(source, one, "ctx") for one in (first, *self._own(method))]
        if given:
            init = self.methods["__init__"].args
            ends = [source.extent(one)[1] for one in (*init.args, *init.defaults)]
            text = source.text[source.extent(init.args[1])[0] : max(ends)]
            place = source.extent(forward.args.args[-1])[1]
            steps += [Splice(source, place, place, f", {text}"), *self._with_none(backward, len(given))]
        if needed:
            documented = ast.get_docstring(forward) is not None and len(forward.body) > 1
            lines = [f"ctx.{name} = {text}" for name, text in needed.items()]
            steps += insert_before(source, forward.body[documented], lines)
        return steps

    def _with_none(self, backward: ast.FunctionDef, count: int) -> Iterator[Step]:
        """The gradients that it returns, and None for each argument more."""
        self._gives_several()
        for value in live.returned(backward):
            text = self.source.segment(value)
            inside = isinstance(value, ast.Tuple) and text.startswith("(") and text.endswith(")")
            end = self.source.extent(value if inside else self.source.statement(value))[1] - inside
            comma = "" if self.source.text[:end].rstrip().endswith(",") else ","
            yield Splice(self.source, end, end, f"{comma}{' None,' * count}".removesuffix(","))

    # An object beside a function ------------------------------------------------------------------------------------

    def beside(self) -> list[Step]:
        """The class as that of a plain object, which calls a new function with itself."""
        source, both = self.source, self._plain(*_METHODS)
        base, name = self._base(), names.unused(source, f"{self.kind.name}Function")
        asked = [one for method in both for one in self._of_node(method)]
        if any(True for one in self.methods.values() if one not in both for _ in self._of_node(one)):
            raise Declined("a third method uses what torch keeps for each call")
        inputs, gradients = (parameters(one)[1:] for one in both)
        owner = next(one for one in ("layer", "owner", "instance") if one not in {*inputs, *gradients})
        if "ctx" in {*inputs, *gradients}:
            raise Declined("something else is called ctx")
        node = ["ctx"] if asked else []
        star = "*" if self._gives_several() else ""
        lines = [
            f"class {name}({source.segment(base)}):",
            "    @staticmethod",
            f"    def forward({', '.join(['ctx', *inputs, owner])}):",
            f"        ctx.{owner} = {owner}",
            f"        return {owner}.forward({', '.join([*node, *inputs])})",
            "",
            "    @staticmethod",
            f"    def backward({', '.join(['ctx', *gradients])}):",
            f"        return {star}ctx.{owner}.backward({', '.join([*node, *gradients])}), None",
            "",
            "",
        ]
        own = parameters(both[0])[0]
        steps = [
            *insert_before(source, self.kind, lines),
            *self._called([f"return {name}.apply({', '.join([*inputs, own])})"]),
        ]
        steps += [_put(source, one.value, "ctx") for one in asked]
        for method in both if asked else ():
            place = source.extent(method.args.args[0])[1]
            steps.append(Splice(source, place, place, ", ctx"))
        return steps

    def plain(self) -> list[Step]:
        """The class as that of a plain object, whose forward runs without gradients: it has no backward."""
        self._base()
        (forward,) = self._plain("forward")
        if any(True for one in self.methods.values() for _ in self._of_node(one)):
            raise Declined("it uses what torch keeps for each call")
        torch, imports = ensure_import(self.source, "torch")
        own, *inputs = parameters(forward)
        lines = [f"with {torch}.no_grad():", f"    return {own}.forward({', '.join(inputs)})"]
        return [*imports, *self._called(lines)]

    def _base(self) -> ast.expr:
        """The function that it is made of, where it is made of nothing else and called as such."""
        kind = self.kind
        if len(kind.bases) != 1 or name_of(kind.bases[0]) != "Function" or kind.keywords or kind.decorator_list:
            raise Declined("its class has more than the function for its base")
        uses = self.source.mentioning(kind.name)
        if "__call__" in self.methods or any(path_of(one) == f"{kind.name}.apply" for one in uses):
            raise Declined("its class is called in a way of its own")
        return kind.bases[0]

    def _called(self, lines: Sequence[str]) -> list[Step]:
        """The class without its base, and with what a call of its objects does."""
        source, forward = self.source, self.methods["forward"]
        start = source.text.index("(", source.extent(self.kind)[0])
        end = source.text.index(")", source.extent(self.kind.bases[0])[1]) + 1
        head = f"def __call__({', '.join(parameters(forward))}):"
        body = [f"    {line}" for line in lines]
        return [Splice(source, start, end, ""), *insert_before(source, forward, [head, *body, ""])]

    # What its methods are -------------------------------------------------------------------------------------------

    def _plain(self, *wanted: str) -> list[ast.FunctionDef]:
        """Its methods of these names, of which each is given every argument by its place."""
        found = [self.methods[name] for name in wanted if name in self.methods]
        odd = (one.args.vararg or one.args.kwarg or one.args.kwonlyargs or one.decorator_list for one in found)
        if len(found) < len(wanted) or any(odd):
            raise Declined("its forward or backward is not a plain method")
        return found

    def _own(self, method: ast.FunctionDef) -> Iterator[ast.Name]:
        """Each place where a method reads its first parameter."""
        own = parameters(method)[:1]
        return (one for one in self.source.walk(method) if isinstance(one, ast.Name) and [one.id] == own)

    def _attributes(self, method: ast.FunctionDef) -> Iterator[ast.Attribute]:
        """The attributes that a method uses of its instance; declines where it hands on the instance itself."""
        for one in self._own(method):
            parent = self.source.parent(one)
            if not isinstance(parent, ast.Attribute):
                raise Declined("the instance itself is handed on")
            yield parent

    def _of_node(self, method: ast.FunctionDef) -> Iterator[ast.Attribute]:
        """What a method uses of what torch keeps for each call."""
        parents = map(self.source.parent, self._own(method))
        return (one for one in parents if isinstance(one, ast.Attribute) and one.attr in _OF_NODE)

    def _gives_several(self) -> bool:
        """Whether backward gives several gradients, each written where it returns them."""
        several = {isinstance(value, ast.Tuple) for value in live.returned(self.methods["backward"])}
        alone = len(parameters(self.methods["forward"])[1:]) == 1
        if len(several) != 1 or not (alone or several == {True}):
            raise Declined("how many gradients its backward gives cannot be told from the text")
        return several.pop()


def _is_plain(parent: ast.AST | None) -> bool:
    """Whether a class is named for what its methods being static changes nothing of: `apply`, or `super`."""
    if isinstance(parent, ast.Attribute):
        return parent.attr == "apply"
    return isinstance(parent, ast.Call) and name_of(parent.func) == "super"


def _put(source: Source, node: ast.AST, text: str) -> Step:
    """Text for a node; of a parameter the name alone."""
    start, end = source.extent(node)
    return Splice(source, start, start + len(node.arg) if isinstance(node, ast.arg) else end, text)
