"""What a statement computes, apart from what it tells autograd to record."""

from __future__ import annotations

import ast
import copy

from autofix.syntax.calls import name_of, path_of
from autofix.syntax.modes import is_mode

_EXACT = 1 << 53
"""Up to which a whole number is the same as a float."""
_COPIES = {"clone", "contiguous"}
_GRAPH_CALLS = {"detach", "detach_", "item", "requires_grad_", "retain_grad"}
_FORMS = {"unsqueeze", "squeeze", "view", "reshape", "flatten", "view_as", "reshape_as"}
"""What gives the same values another form."""
_KINDS = {"is_tensor", "isinstance", "hasattr"}
"""What asks for the kind of a value: `x.detach() if torch.is_tensor(x) else x` is x."""
_OPERATORS = {"add": ast.Add(), "sub": ast.Sub(), "mul": ast.Mult(), "div": ast.Div(), "pow": ast.Pow()}
_FLOATS = {"float32", "float64", "double"}
"""The kinds of numbers of torch's in which a tensor of floats loses nothing that counts here."""
GRAPH_WORDS = {"retain_graph", "create_graph", "allow_unused", "requires_grad", "inplace"}
"""What a call is told that changes only what autograd records."""


class _Copies(ast.NodeTransformer):
    """Takes copies away, which change neither a value nor a gradient.

    It tells not 1 from 1.0, nor a list from what is generated one by one.
    """

    calls = _COPIES

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(float(node.value)) if type(node.value) is int and abs(node.value) < _EXACT else node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        self.generic_visit(node)
        return ast.ListComp(node.elt, node.generators)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in self.calls:
            return node.func.value
        match node:
            case ast.Call(ast.Attribute(ast.Name("torch"), "as_tensor"), [value], []):
                return value  # of a tensor it is that tensor
        return node


class _Forms(_Copies):
    """Takes away what only gives values another form, also as a leaf."""

    calls = _COPIES | _FORMS | {"requires_grad_"}


class _Kinds(_Copies):
    """Takes away what only says where a tensor is or of which kind, by what is no kind of whole numbers itself."""

    calls = _COPIES | {"type_as", "double"}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match shorter := super().visit_Call(node):
            case ast.Call(ast.Attribute(value, "to"), args, []) if args and all(map(_says_kind, args)):
                return value
        return shorter


class _Graph(_Copies):
    """Takes away what only tells autograd what to record."""

    calls = _COPIES | _GRAPH_CALLS

    def visit_Call(self, node: ast.Call) -> ast.AST:
        shorter = super().visit_Call(node)
        if isinstance(shorter, ast.Call):
            unseen = GRAPH_WORDS | {"inputs"} if name_of(shorter) == "backward" else GRAPH_WORDS
            shorter.keywords = [word for word in shorter.keywords if word.arg not in unseen]
            match shorter.func:
                case ast.Name("float"):
                    return shorter.args[0] if shorter.args else shorter
                case ast.Attribute(attr=name) if name.endswith("_") and not name.endswith("__"):
                    shorter.func = ast.Attribute(shorter.func.value, name[:-1], ast.Load())
        return shorter

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.IfExp(ast.Call() as test, value, other) if name_of(test) in _KINDS:
                return value if ast.dump(value) == ast.dump(other) else node
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return node.value if node.attr == "data" else node


def exact(node: ast.stmt) -> str:
    """A statement but for copies of tensors, as text to compare."""
    return ast.dump(_Copies().visit(copy.deepcopy(node)))


def formless(node: ast.stmt) -> str:
    """A statement but for copies of tensors and the form that they have, as text to compare."""
    return ast.dump(_Forms().visit(copy.deepcopy(node)))


def converts(old: ast.stmt, new: ast.stmt) -> bool:
    """Whether a statement only says in addition where its tensors are to be, or of which kind.

    That depends on no step or number, so it does in a later pass what it does in this one.
    """
    mine, other = (_Kinds().visit(copy.deepcopy(one)) for one in (old, new))
    return exact(old) == ast.dump(mine) == ast.dump(other) != exact(new)


def _says_kind(node: ast.expr) -> bool:
    """Whether an argument of `to` is a tensor, a device or a kind of float, and not made here."""
    match node:
        case ast.Attribute(ast.Name("torch"), name):
            return name in _FLOATS
    return isinstance(node, (ast.Name, ast.Attribute))


def reforms(node: ast.expr) -> bool:
    """Whether an expression only gives a variable another form."""
    rest = node
    while isinstance(rest, ast.Call) and isinstance(rest.func, ast.Attribute) and rest.func.attr in _Forms.calls:
        rest = rest.func.value
    return rest is not node and isinstance(rest, ast.Name)


def plain(node: ast.expr) -> str:
    """An expression but for what it tells autograd to record, as text to compare."""
    return ast.dump(_Graph().visit(copy.deepcopy(node)))


def cut_only(node: ast.expr) -> str:
    """The variable of which a node only tells autograd what to record, as a whole or of each item; '' of any other."""
    rest = _Graph().visit(copy.deepcopy(node))
    match rest:
        case ast.Call(ast.Name("tuple" | "list"), [items], []):
            rest = items
    match rest:
        case ast.ListComp(ast.Name(one), [ast.comprehension(ast.Name(name), of, [])]) if one == name:
            rest = of
    return "" if ast.dump(rest) == ast.dump(node) else path_of(rest)


def asks_kind(test: ast.expr, of: str) -> bool:
    """Whether a condition asks for the kind of a variable."""
    match test:
        case ast.Call(_, [value, *_]):
            return name_of(test) in _KINDS and path_of(value) == of
    return False


def bare(node: ast.stmt) -> str:
    """A statement but for what it tells autograd to record, as text; '' if nothing is left."""
    rest = _operation(_of_several(_Graph().visit(copy.deepcopy(node))))
    match rest:
        case ast.Expr(ast.Call(func)) if is_mode(func):
            return ""
        case ast.With(items) if all(is_mode(item.context_expr) for item in items):
            return ""
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            rest.decorator_list = [one for one in rest.decorator_list if not is_mode(one)]
        case ast.Assign([ast.Attribute(attr="requires_grad")]):
            return ""
        case ast.Assign([target], value) if ast.unparse(target) == ast.unparse(value):
            return ""
        case ast.Expr(ast.Name() | ast.Attribute() | ast.Subscript()):
            return ""
        case ast.AugAssign(target, op, value):
            return ast.unparse(target) + ast.dump(op) + ast.dump(value)
        case ast.Assign([target], ast.BinOp(left, op, right)) if ast.unparse(target) == ast.unparse(left):
            return ast.unparse(target) + ast.dump(op) + ast.dump(right)
        case ast.Assign([target], ast.Call(ast.Attribute(value)) as call) if ast.unparse(target) == ast.unparse(value):
            return ast.dump(ast.Expr(call))
    return ast.dump(rest)


def _of_several(node: ast.stmt) -> ast.stmt:
    """`x, y = f(x), y` as the `x = f(x)` that it is."""
    match node:
        case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
            given = [(name, value) for name, value in zip(names, values, strict=True) if _differ(name, value)]
            match given or [(names[0], values[0])]:
                case [(name, value)]:
                    return ast.Assign([name], value)
    return node


def _differ(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) != ast.unparse(other)


def _operation(node: ast.stmt) -> ast.stmt:
    """`x.div_(y)` and `x = x.div(y)` as the `x /= y` that they are."""
    match node:
        case ast.Expr(value=call) | ast.Assign([_], call):
            pass
        case _:
            return node
    match call:
        case ast.Call(ast.Attribute(ast.Name() | ast.Attribute() | ast.Subscript() as value, name), [operand], []):
            written = node.targets[0] if isinstance(node, ast.Assign) else value
            if name in _OPERATORS and ast.unparse(written) == ast.unparse(value):
                return ast.AugAssign(value, _OPERATORS[name], operand)
    return node


def graph_call(node: ast.AST) -> bool:
    """Whether a call copies, or only tells autograd what to record."""
    match node:
        case ast.Call(ast.Attribute(attr=name)):
            return name in _COPIES | _GRAPH_CALLS or is_mode(node)
    return False
