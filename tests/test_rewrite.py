"""Edits say to Python what was meant, and nothing else changes, however the file is laid out."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from layouts import programs

from autofix.core.edit import Declined
from autofix.search import owning
from autofix.syntax import update
from autofix.syntax.apply import BrokenRewrite, apply
from autofix.syntax.calls import may_be_plain
from autofix.syntax.edits import (
    Step,
    append_call,
    aug_to_assign,
    bind,
    decorate,
    delete,
    embed,
    ensure_import,
    insert_after,
    insert_before,
    move_after,
    move_before,
    receiver,
    remove_keyword,
    rename,
    rendered,
    replace,
    replace_statement,
    set_keyword,
    undecorate,
    unit,
    unwrap,
    wrap,
)
from autofix.syntax.names import copied
from autofix.syntax.source import Source, SourceError

PATH = Path("train.py")
Builder = Callable[[Source], list[Step]]


def source(text: str | bytes) -> Source:
    return Source(PATH, text.encode() if isinstance(text, str) else text)


def rewritten(text: str, build: Builder) -> str:
    found = source(text)
    return apply(found, rendered(build(found))).decode()


def nodes(found: Source, kind: type[Any]) -> list[Any]:
    return [node for node in ast.walk(found.tree) if isinstance(node, kind)]


def named(found: Source, name: str) -> ast.stmt:
    """The statement that calls a function or is a name."""
    return next(found.statement(node) for node in nodes(found, ast.Name) if node.id == name)


# --- expressions ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = E", "y = E.detach()"),
        ("y = a.b[c](d) # why", "y = a.b[c](d).detach() # why"),
        ("y = a + b # why", "y = (a + b).detach() # why"),
        ("f((a + b))", "f((a + b).detach())"),
        ("f(((a + b)))", "f(((a + b).detach()))"),
        ("f(a + b)", "f((a + b).detach())"),
        ("f(x for x in y)", "f((x for x in y).detach())"),
        ("f((x for x in y), 1)", "f((x for x in y).detach(), 1)"),
        ("y = a, b", "y = (a, b).detach()"),
        ("y = (a), (b)", "y = ((a), (b)).detach()"),
        ("y = (a, b)", "y = (a, b).detach()"),
        ("y = (a  # one\n  + b  # two\n)", "y = (a  # one\n  + b  # two\n).detach()"),
        ("y = (\n  # one\n  a +\n  b\n)", "y = (\n  # one\n  a +\n  b\n).detach()"),
        ("y = (a\n  .b()\n  .c())", "y = (a\n  .b()\n  .c().detach())"),
        ("y = a + \\\n  b", "y = (a + \\\n  b).detach()"),
        ("y = -a", "y = (-a).detach()"),
        ("y = 1", "y = (1).detach()"),
        ("y = 1.5", "y = 1.5.detach()"),
        ("y = 'a' 'b'", "y = 'a' 'b'.detach()"),
        ("y = lambda: a", "y = (lambda: a).detach()"),
        ("y = a if b else c", "y = (a if b else c).detach()"),
        ("y = (w := a)", "y = (w := a).detach()"),
        ("y = [a]", "y = [a].detach()"),
        ("y = not(a)", "y = (not(a)).detach()"),
        ("y = max(-1, a - b)", "y = max(-1, (a - b).detach())"),
        ("y = max(a, b)", "y = max(a, b).detach()"),
        ("y = a if b else None", "y = a.detach() if b else None"),
        ("y = a or 0", "y = a.detach() or 0"),
        ("y = min(1, max(0, a)) * b", "y = (min(1, max(0, a)) * b).detach()"),
    ],
)
def test_a_call_is_appended(before: str, after: str) -> None:
    def build(found: Source) -> list[Step]:
        statement: Any = found.tree.body[0]
        node = statement.value
        node = node.args[0] if isinstance(node, ast.Call) and ast.unparse(node.func) == "f" else node
        return append_call(found, node, ".detach()")

    assert rewritten(before, build) == after


@pytest.mark.parametrize(
    ("text", "pick", "reason"),
    [
        ("y = 1", lambda found: found.tree.body[0].targets[0], "assigned to"),
        ("f(*a)", lambda found: nodes(found, ast.Starred)[0], "not an expression"),
        ("f(1 + max(0, a))", lambda found: nodes(found, ast.BinOp)[0], "may be a number"),
        ("f(f'{a}')", lambda found: nodes(found, ast.Name)[-1], "f-string"),
        ("match x:\n  case a.b: pass", lambda found: nodes(found, ast.Attribute)[0], "pattern"),
        ("a[1:2]", lambda found: nodes(found, ast.Slice)[0], "not an expression"),
    ],
)
def test_what_has_no_value_of_its_own_gets_no_call(text: str, pick: Any, reason: str) -> None:
    found = source(text)
    with pytest.raises(Declined, match=reason):
        append_call(found, pick(found), ".detach()")


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("y = E * 2", "a + b", "y = (a + b) * 2"),
        ("y = E + 2", "a * b", "y = a * b + 2"),
        ("y = (E) * 2", "a + b", "y = (a + b) * 2"),
        ("f(E)", "a + b", "f(a + b)"),
        ("y = [E for x in E]", "z", "y = [z for x in E]"),
        ("y = E.b", "1", "y = (1).b"),
        ("y = E", "(a,\nb)", "y = (a,\nb)"),
        ("f(*E)", "g()", "f(*g())"),
    ],
)
def test_an_expression_is_replaced(before: str, new: str, after: str) -> None:
    def build(found: Source) -> list[Step]:
        return replace(found, next(node for node in nodes(found, ast.Name) if node.id == "E"), new)

    assert rewritten(before, build) == after


def test_words_do_not_grow_together() -> None:
    def build(found: Source) -> list[Step]:
        return replace(found, nodes(found, ast.Tuple)[0], "z")

    assert rewritten("y = x if(a, b)else w", build) == "y = x if(z)else w"


def test_new_text_takes_the_files_newlines() -> None:
    def build(found: Source) -> list[Step]:
        return replace(found, nodes(found, ast.Name)[1], "f(\n a)")

    assert rewritten("x = E\r\ny = 1\r\n", build) == "x = f(\r\n a)\r\ny = 1\r\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x += y", "x = x + y"),
        ("x  +=  y  # why", "x  = x +  y  # why"),
        ("x*=a + b", "x=x*(a + b)"),
        ("x *= a + b # why", "x = x * (a + b) # why"),
        ("x -= a - b", "x = x - (a - b)"),
        ("x -= a * b", "x = x - a * b"),
        ("x -= (a - b)", "x = x - (a - b)"),
        ("x **= -y", "x = x ** -y"),
        ("x **= y ** z", "x = x ** y ** z"),
        ("x @= a, b", "x = x @ (a, b)"),
        ("x += lambda: 1", "x = x + (lambda: 1)"),
        ("x //= a if b else c", "x = x // (a if b else c)"),
        ("x >>= a == b", "x = x >> (a == b)"),
        ("x[i:j, 'k'] += y", "x[i:j, 'k'] = x[i:j, 'k'] + y"),
        ("self.h.x |= y", "self.h.x = self.h.x | y"),
        ("(x\n.a) += 3", "(x\n.a) = (x\n.a) + 3"),
        ("x += \\\n  a < b", "x = x + \\\n  (a < b)"),
        ("for x in y: a += x; b", "for x in y: a = a + x; b"),
    ],
)
def test_an_augmented_assignment_becomes_a_plain_one(before: str, after: str) -> None:
    assert rewritten(before, lambda found: aug_to_assign(found, nodes(found, ast.AugAssign)[0])) == after


@pytest.mark.parametrize("text", ["x[f()] += 1", "f().x += 1", "x[(y := 2)] += 1"])
def test_a_target_with_effects_is_not_written_twice(text: str) -> None:
    found = source(text)
    with pytest.raises(Declined, match="twice"):
        aug_to_assign(found, nodes(found, ast.AugAssign)[0])


def out_of(found: Source, context: int) -> list[Step]:
    """The first `with` without one of its contexts."""
    block = first(found, ast.With)
    return unwrap(found, block, block.items[context])


def first(found: Source, kind: type[Any]) -> Any:
    return nodes(found, kind)[0]


@pytest.mark.parametrize(
    ("before", "build", "after"),
    [
        ("y = (a + b).item()  # why", lambda s: receiver(s, first(s, ast.Call)), "y = (a + b)  # why"),
        ("y = f((x.data))", lambda s: receiver(s, first(s, ast.Attribute)), "y = f((x))"),
        ("x.mul_(2)", lambda s: rename(s, first(s, ast.Attribute), "mul"), "x.mul(2)"),
        ("y = tensor(a)", lambda s: rename(s, nodes(s, ast.Name)[1], "stack"), "y = stack(a)"),
        ("x.mul(2); y", lambda s: bind(s, s.tree.body[0], "self.x"), "self.x = x.mul(2); y"),
        ("y = a,  b", lambda s: embed(s, first(s, ast.Tuple), "f({})"), "y = f((a,  b))"),
        ("y = a +  b", lambda s: embed(s, first(s, ast.BinOp), "f({})"), "y = f(a +  b)"),
        ("for a, b in x: pass", lambda s: embed(s, first(s, ast.Tuple), "i, {}"), "for i, (a, b) in x: pass"),
        ("f(a,  # 1\n  b=2)", lambda s: set_keyword(s, first(s, ast.Call), "k", "1", before="b"),
         "f(a,  # 1\n  k=1, b=2)"),
        ("x = 1; y", lambda s: replace_statement(s, s.tree.body[0], ["z = 2"]), "z = 2; y"),
        ("if x:\n\ty  # why\n", lambda s: replace_statement(s, named(s, "y"), ["a", "b"]), "if x:\n\ta\n\tb  # why\n"),
        ("class A:\n  @b\n  def f(): pass", lambda s: decorate(s, first(s, ast.FunctionDef), "@c()"),
         "class A:\n  @b\n  @c()\n  def f(): pass"),
        ("@a\n@b\ndef f(): pass", lambda s: undecorate(s, s.tree.body[0].decorator_list[0]),
         "@b\ndef f(): pass"),
        ("@a(\n 1)  # why\n# of f\n\ndef f(): pass", lambda s: undecorate(s, s.tree.body[0].decorator_list[0]),
         "# of f\n\ndef f(): pass"),
        ("with a:  # why\n\n  # of x\n# far\n  x\n", lambda s: out_of(s, 0), "\n# of x\n# far\nx\n"),
        ("with a:\n  x = '''1\n  2'''  # why\n  # on\ny\n", lambda s: out_of(s, 0),
         "x = '''1\n  2'''  # why\n# on\ny\n"),
        ("if b:\n  with a: x\n", lambda s: out_of(s, 0), "if b:\n  x\n"),
        ("with a, b as c, d: x", lambda s: out_of(s, 0), "with b as c, d: x"),
        ("with a, b as c, d: x", lambda s: out_of(s, 1), "with a, d: x"),
        ("with (\n  a as e,\n  b as c,\n): x", lambda s: out_of(s, 1), "with (\n  a as e,\n): x"),
    ],
)  # fmt: skip
def test_a_node_becomes_another(before: str, build: Builder, after: str) -> None:
    assert rewritten(before, build) == after


@pytest.mark.parametrize("unit", ["  ", "    ", "\t", " " * 8])
def test_statements_are_copied_in_the_indentation_of_their_file(unit: str) -> None:
    lines = ["for x in a:", f"{unit}if x:", f"{unit}{unit}y = '\u2028'"]
    body = "".join(f"{unit}{line}\n" for line in lines)

    def build(found: Source) -> list[Step]:
        loop = first(found, ast.For)
        return insert_before(found, loop, copied(found, loop))

    assert rewritten(f"def f():\n{body}", build) == f"def f():\n{body}{body}"


def test_steps_of_one_statement_add_up() -> None:
    def build(found: Source) -> list[Step]:
        call = first(found, ast.Call)
        return [
            *remove_keyword(found, call, "k"), *rename(found, call.func, "g"), *append_call(found, call, ".h()"),
            *bind(found, found.tree.body[0], "y"), *wrap(found, found.tree.body[:1], "with n:"),
        ]  # fmt: skip

    assert rewritten("f(a + b, k=1)  # why\nz\n", build) == "with n:\n    y = g(a + b).h()  # why\nz\n"


def test_what_libcst_would_print_otherwise_is_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    found = source("y = x\n")
    steps = append_call(found, nodes(found, ast.Name)[1], ".a()")
    monkeypatch.setattr(unit.cst, "parse_module", lambda _: unit.cst.Module([]))
    with pytest.raises(Declined, match="changes to its layout"):
        rendered(steps)


# --- keywords ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(k=True)"),
        ("f( )", "f(k=True )"),
        ("f(  # why\n)", "f(k=True  # why\n)"),
        ("(f)()", "(f)(k=True)"),
        ("f(a)", "f(a, k=True)"),
        ("f((a))", "f((a), k=True)"),
        ("f(a,)", "f(a, k=True,)"),
        ("f(k=(False), b=2)", "f(k=(True), b=2)"),
        ("f(a, k=g(1,\n 2))", "f(a, k=True)"),
        ("f(x for x in y)", "f((x for x in y), k=True)"),
        ("f((x for x in y))", "f((x for x in y), k=True)"),
        ("f(**{'z': 1})", "f(**{'z': 1}, k=True)"),
        ("f(\n  a # why\n  )", "f(\n  a, k=True # why\n  )"),
        ("f(\n    a,  # 1\n    b=2,  # 2\n)\n", "f(\n    a,  # 1\n    b=2,  # 2\n    k=True,\n)\n"),
        ("f(\n\ta,\n\tb=(\n2),\n  # 3\n)\n", "f(\n\ta,\n\tb=(\n2),\n\tk=True,\n  # 3\n)\n"),
        ("f(a,\n  b,\n)", "f(a,\n  b,\n  k=True,\n)"),
        ("f(a, b,\n)", "f(a, b, k=True,\n)"),
        ("x.f(a)(b)", "x.f(a)(b, k=True)"),
    ],
)
def test_a_keyword_is_set(before: str, after: str) -> None:
    def build(found: Source) -> list[Step]:
        return set_keyword(found, nodes(found, ast.Call)[0], "k", "True")

    assert rewritten(before, build) == after
    assert rewritten(after, build) == after


def test_a_keyword_that_stands_without_its_name_is_replaced() -> None:
    def build(found: Source) -> list[Step]:
        return set_keyword(found, nodes(found, ast.Call)[0], "retain_graph", "True", position=1)

    assert rewritten("loss.backward(None, False)", build) == "loss.backward(None, True)"
    assert rewritten("loss.backward(None)", build) == "loss.backward(None, retain_graph=True)"


@pytest.mark.parametrize("text", ["f(**o)", "f(*o)", "f(**{'k': 1})", "f(**{a: 1})", "f(**{**o})", "f'{f()}'"])
def test_a_keyword_that_may_be_there_already_is_declined(text: str) -> None:
    found = source(text)
    with pytest.raises(Declined):
        set_keyword(found, nodes(found, ast.Call)[0], "k", "True")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(k=1)", "f()"),
        ("f(k=1,)", "f()"),
        ("f(k=1 , )", "f()"),
        ("f(a,k=1)", "f(a)"),
        ("f(a, k=1,)", "f(a,)"),
        ("f(k=1, b=2)", "f(b=2)"),
        ("f(a, k=1, b=2)", "f(a, b=2)"),
        ("f(a, # 1\n  k=1, b=3)", "f(a, # 1\n  b=3)"),
        ("f(\n  a, # 1\n  k=1, # 2\n  b=3)", "f(\n  a, # 1\n  b=3)"),
        ("f(\n  a, # 1\n  k=(\n  1) # 2\n)", "f(\n  a, # 1\n)"),
        ("f(\n  a,\n  k=1)", "f(\n  a)"),
        ("f(a, # 1\n  k=1)", "f(a, # 1\n)"),
    ],
)
def test_a_keyword_is_removed(before: str, after: str) -> None:
    assert rewritten(before, lambda found: remove_keyword(found, nodes(found, ast.Call)[0], "k")) == after


def test_a_keyword_that_is_not_there_cannot_be_removed() -> None:
    found = source("f(a)")
    with pytest.raises(Declined, match="no argument k"):
        remove_keyword(found, nodes(found, ast.Call)[0], "k")


# --- statements ----------------------------------------------------------------------------

LAYOUTS = {
    "alone": "a()\n",
    "first of two": "a(); b()\n",
    "second of three": "z(); a(); b()",
    "suite": "for x in y: a() # why\n",
    "second in suite": "for x in y: z; a(); b # why\n",
    "tabs": "if x:\n\ta()  # why\n\tb\n",
    "method": "class A:\n  @dec\n  def f(self): a();",
    "crlf": "if x:\r\n  a()\r\n  # why\r\nelse: pass\r\n",
    "case": "match x:\n  case 1: a()\n",
    "handler": "if 1:\n try: b\n except E: a(); b\n",
}
TWO = ["if n:", "    n"]


@pytest.mark.parametrize(
    ("layout", "simple", "compound"),
    [
        ("alone", "new()\na()\n", "if n:\n    n\na()\n"),
        ("first of two", "new()\na(); b()\n", "if n:\n    n\na(); b()\n"),
        ("second of three", "z()\nnew()\na(); b()", "z()\nif n:\n    n\na(); b()"),
        ("suite", "for x in y:\n    new()\n    a() # why\n", "for x in y:\n    if n:\n        n\n    a() # why\n"),
        (
            "second in suite",
            "for x in y:\n    z\n    new()\n    a(); b # why\n",
            "for x in y:\n    z\n    if n:\n        n\n    a(); b # why\n",
        ),
        ("tabs", "if x:\n\tnew()\n\ta()  # why\n\tb\n", "if x:\n\tif n:\n\t\tn\n\ta()  # why\n\tb\n"),
        (
            "method",
            "class A:\n  @dec\n  def f(self):\n    new()\n    a();",
            "class A:\n  @dec\n  def f(self):\n    if n:\n      n\n    a();",
        ),
        (
            "crlf",
            "if x:\r\n  new()\r\n  a()\r\n  # why\r\nelse: pass\r\n",
            "if x:\r\n  if n:\r\n    n\r\n  a()\r\n  # why\r\nelse: pass\r\n",
        ),
        ("case", "match x:\n  case 1:\n    new()\n    a()\n", "match x:\n  case 1:\n    if n:\n      n\n    a()\n"),
        (
            "handler",
            "if 1:\n try: b\n except E:\n  new()\n  a(); b\n",
            "if 1:\n try: b\n except E:\n  if n:\n   n\n  a(); b\n",
        ),
    ],
)
def test_lines_are_inserted_before(layout: str, simple: str, compound: str) -> None:
    text = LAYOUTS[layout]
    assert rewritten(text, lambda found: insert_before(found, named(found, "a"), ["new()"])) == simple
    assert rewritten(text, lambda found: insert_before(found, named(found, "a"), TWO)) == compound


@pytest.mark.parametrize(
    ("layout", "simple", "compound"),
    [
        ("alone", "a()\nnew()\n", "a()\nif n:\n    n\n"),
        ("first of two", "a()\nnew()\nb()\n", "a()\nif n:\n    n\nb()\n"),
        ("second of three", "z(); a()\nnew()\nb()", "z(); a()\nif n:\n    n\nb()"),
        ("suite", "for x in y:\n    a() # why\n    new()\n", "for x in y:\n    a() # why\n    if n:\n        n\n"),
        (
            "second in suite",
            "for x in y:\n    z; a()\n    new()\n    b # why\n",
            "for x in y:\n    z; a()\n    if n:\n        n\n    b # why\n",
        ),
        (
            "method",
            "class A:\n  @dec\n  def f(self):\n    a();\n    new()",
            "class A:\n  @dec\n  def f(self):\n    a();\n    if n:\n      n",
        ),
        (
            "crlf",
            "if x:\r\n  a()\r\n  new()\r\n  # why\r\nelse: pass\r\n",
            "if x:\r\n  a()\r\n  if n:\r\n    n\r\n  # why\r\nelse: pass\r\n",
        ),
    ],
)
def test_lines_are_inserted_after(layout: str, simple: str, compound: str) -> None:
    text = LAYOUTS[layout]
    assert rewritten(text, lambda found: insert_after(found, named(found, "a"), ["new()"])) == simple
    assert rewritten(text, lambda found: insert_after(found, named(found, "a"), TWO)) == compound


def test_lines_after_a_block_go_past_its_last_comments() -> None:
    text = "if a:\n  b\n  # still b\n# next\nc\n"
    after = "if a:\n  b\n  # still b\nnew()\n# next\nc\n"
    assert rewritten(text, lambda found: insert_after(found, found.tree.body[0], ["new()"])) == after


@pytest.mark.parametrize(
    ("layout", "after"),
    [
        ("alone", "with n:\n    a()\n"),
        ("first of two", "with n:\n    a()\nb()\n"),
        ("second of three", "z()\nwith n:\n    a()\nb()"),
        ("suite", "for x in y:\n    with n:\n        a() # why\n"),
        ("second in suite", "for x in y:\n    z\n    with n:\n        a()\n    b # why\n"),
        ("tabs", "if x:\n\twith n:\n\t\ta()  # why\n\tb\n"),
        ("method", "class A:\n  @dec\n  def f(self):\n    with n:\n      a();"),
        ("crlf", "if x:\r\n  with n:\r\n    a()\r\n  # why\r\nelse: pass\r\n"),
        ("case", "match x:\n  case 1:\n    with n:\n      a()\n"),
        ("handler", "if 1:\n try: b\n except E:\n  with n:\n   a()\n  b\n"),
    ],
)
def test_a_statement_is_wrapped(layout: str, after: str) -> None:
    text = LAYOUTS[layout]
    assert rewritten(text, lambda found: wrap(found, [named(found, "a")], "with n:")) == after


def test_wrapping_keeps_strings_and_moves_indented_lines_inside_brackets() -> None:
    text = "if x:\n  a = f('''one\n  two''',\n    b,\nc,\n    'd'\n    'e')\n\n  # on\n# off\n  d\n"
    after = (
        "if x:\n  with n:\n    a = f('''one\n  two''',\n      b,\nc,\n      'd'\n      'e')\n\n    # on\n# off\n    d\n"
    )

    def build(found: Source) -> list[Step]:
        block: Any = found.tree.body[0]
        return wrap(found, block.body, "with n:")

    assert rewritten(text, build) == after


@pytest.mark.parametrize(
    ("layout", "after"),
    [
        ("alone", ""),
        ("first of two", "b()\n"),
        ("second of three", "z(); b()"),
        ("suite", "for x in y: pass # why\n"),
        ("second in suite", "for x in y: z; b # why\n"),
        ("tabs", "if x:\n\tb\n"),
        ("method", "class A:\n  @dec\n  def f(self): pass;"),
        ("crlf", "if x:\r\n  pass\r\n  # why\r\nelse: pass\r\n"),
    ],
)
def test_a_statement_is_deleted(layout: str, after: str) -> None:
    assert rewritten(LAYOUTS[layout], lambda found: delete(found, named(found, "a"))) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a()\nb()\nc()\n", "b()\na()\nc()\n"),
        ("a()  # why\nb()", "b()\na()  # why"),
        ("a(); b(); c()", "b()\na()\nc()"),
        ("if x:\n  a()  # why\n\tc\nb()\n".replace("\t", "  "), "if x:\n  c\nb()\na()  # why\n"),
        ("if x:\n    a('''s\n    t''')\nelse:\n\tb()\n", "if x:\n    pass\nelse:\n\tb()\n\ta('''s\n    t''')\n"),
        ("if x: a()\nb()\n", "if x: pass\nb()\na()\n"),
        ("if x: a()  # why\nb()\n", "if x: pass  # why\nb()\na()\n"),
        ("if x:\n  a();  # why\nb()\n", "if x:\n  pass\nb()\na();  # why\n"),
        ("a()\nfor x in y: b()\n", "for x in y:\n    b()\n    a()\n"),
        ("a()  # why\nfor x in y: b(); c\n", "for x in y:\n    b()\n    a()  # why\n    c\n"),
        ("for i in a:\n  i\nb(); c()\n", "b()\nfor i in a:\n  i\nc()\n"),
        ("x()\n# of a\n# too\na()\n# of b\nb()\n", "x()\n# of b\nb()\n# of a\n# too\na()\n"),
        ("if x:\n    # of a\n    a()\n    c\nb()\n", "if x:\n    c\nb()\n# of a\na()\n"),
        ("# of all\na()\nb()\n", "# of all\nb()\na()\n"),
        ("x()\n# of more\n\na()\nb()\n", "x()\n# of more\n\nb()\na()\n"),
        ('x("""\n# text""")\na()\nb()\n', 'x("""\n# text""")\nb()\na()\n'),
        ("if x:\n  y\n  # of x\n# of a\na()\nb()\n", "if x:\n  y\n  # of x\nb()\n# of a\na()\n"),
    ],
)
def test_a_statement_moves_after_another(before: str, after: str) -> None:
    def build(found: Source) -> list[Step]:
        return move_after(found, [named(found, "a")], named(found, "b"))

    assert rewritten(before, build) == after


def test_statements_move_before_another() -> None:
    text = "x()\nif y:\n\tb1()  # one\n\tb2(); b3()\n"

    def build(found: Source) -> list[Step]:
        block: Any = found.tree.body[1]
        return move_before(found, block.body[:2], found.tree.body[0])

    assert rewritten(text, build) == "b1()\nb2()\nx()\nif y:\n\tb3()\n"


def test_a_statement_that_is_there_already_stays() -> None:
    found = source("a()\nb()\n")
    assert move_after(found, [named(found, "b")], named(found, "a")) == []
    assert move_before(found, [named(found, "a")], named(found, "b")) == []


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda found: wrap(found, [], "with n:"), id="nothing"),
        pytest.param(
            lambda found: wrap(found, [found.tree.body[1], found.tree.body[3]], "with n:"), id="no neighbours"
        ),
        pytest.param(lambda found: wrap(found, found.tree.body[:1], "with n:"), id="docstring"),
        pytest.param(lambda found: insert_before(found, found.tree.body[1], ["new()"]), id="before __future__"),
        pytest.param(
            lambda found: insert_after(found, found.tree.body[0], ["new()"]), id="between docstring and __future__"
        ),
        pytest.param(lambda found: insert_before(found, found.tree.body[2].orelse[0], ["new()"]), id="before elif"),
        pytest.param(lambda found: delete(found, found.tree.body[2].orelse[0]), id="elif"),
        pytest.param(
            lambda found: move_after(found, [found.tree.body[2]], found.tree.body[2].body[0]), id="into itself"
        ),
        pytest.param(
            lambda found: move_before(found, [found.tree.body[3]], found.tree.body[0]), id="before the docstring"
        ),
        pytest.param(lambda found: move_after(found, [found.tree.body[0]], found.tree.body[3]), id="the docstring"),
    ],
)
def test_statements_that_cannot_be_moved_about_are_declined(build: Builder) -> None:
    found = source("'''doc'''\nfrom __future__ import annotations\nif a: b\nelif c: d\ne()\n")
    with pytest.raises(Declined):
        build(found)


# --- imports -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import torch\n", "torch"),
        ("import torch as th\n", "th"),
        ("import torch.nn\n", "torch"),
        ("import torch as th\nimport torch\n", "torch"),
        ("try:\n  import torch\nexcept ImportError:\n  torch = None\n", "torch"),
    ],
)
def test_a_known_name_is_used(text: str, name: str) -> None:
    assert ensure_import(source(text), "torch") == (name, [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "import torch\n"),
        ("# only\n", "# only\nimport torch\n"),
        ("# only", "# only\nimport torch\n"),
        ("#!python\n# coding: utf-8\n\nx = 1\n", "#!python\n# coding: utf-8\n\nimport torch\nx = 1\n"),
        ("from torch import nn\nx = 1\n", "from torch import nn\nimport torch\nx = 1\n"),
        ("import torch.nn as nn", "import torch.nn as nn\nimport torch"),
        ("import os; x = 1\n", "import os\nimport torch\nx = 1\n"),
        ("'''doc'''\r\nx = 1\r\n", "'''doc'''\r\nimport torch\r\nx = 1\r\n"),
        (
            "'''doc'''\nfrom __future__ import annotations  # why\nx = 1\n",
            "'''doc'''\nfrom __future__ import annotations  # why\nimport torch\nx = 1\n",
        ),
        ("def f():\n  import torch\n", "import torch\ndef f():\n  import torch\n"),
        ("if TYPE_CHECKING:\n  import torch\n", "import torch\nif TYPE_CHECKING:\n  import torch\n"),
    ],
)
def test_an_import_is_added(before: str, after: str) -> None:
    found = source(before)
    name, edits = ensure_import(found, "torch")
    assert name == "torch"
    assert apply(found, rendered(edits)).decode() == after
    assert ensure_import(source(after), "torch") == ("torch", [])


@pytest.mark.parametrize(
    "text", ["torch = 1\n", "def f(torch): pass\n", "from x import torch\n", "import y as torch\n"]
)
def test_a_name_with_another_meaning_is_not_taken(text: str) -> None:
    with pytest.raises(Declined, match="something else"):
        ensure_import(source(text), "torch")


# --- any layout ----------------------------------------------------------------------------


def comments(data: bytes) -> list[str]:
    text = source(data).text.replace("\r\n", "\n").replace("\r", "\n") + "\n"
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT)


class Intention:
    """A second tree of the same file, on which a change is carried out as it was meant."""

    def __init__(self, found: Source) -> None:
        self.tree = ast.parse(found.data)
        self._twin = dict(zip(ast.walk(found.tree), ast.walk(self.tree), strict=True))
        self._holders = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def twin(self, node: Any) -> Any:
        return self._twin[node]

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        fields = ast.iter_fields(self._holders[self.twin(statement)])
        return next(value for _, value in fields if isinstance(value, list) and self.twin(statement) in value)

    def put(self, old: ast.AST, new: ast.AST) -> None:
        holder = self._holders[old]
        for name, value in ast.iter_fields(holder):
            if value is old:
                setattr(holder, name, new)
            elif isinstance(value, list):
                value[:] = [new if item is old else item for item in value]

    def remove(self, statements: list[ast.stmt]) -> None:
        block = self.block(statements[0])
        kept = [item for item in block if item not in map(self.twin, statements)]
        block[:] = kept or ([] if block is self.tree.body else [ast.Pass()])


def drawn(data: st.DataObject, program: bytes, kind: type[Any]) -> tuple[Source, Intention, Any]:
    try:
        found = source(program)
    except SourceError:
        assume(False)
        raise
    candidates = nodes(found, kind)
    assume(candidates)
    return found, Intention(found), data.draw(st.sampled_from(candidates))


def check(found: Source, intention: Intention, build: Callable[[], list[Step]], *, keep: bool = True) -> bytes:
    """Only what was meant has changed: the tree, the comments, and the bytes outside the edits."""
    try:
        result = apply(found, rendered(build()))
    except Declined:
        assume(False)
        raise
    except BrokenRewrite as error:
        # What was meant can be no program, such as a __future__ import that is not first any more.
        assert "does not allow it" in str(error)  # noqa: PT017 - only this kind
        assume(False)
        raise
    assert ast.dump(ast.parse(result)) == ast.dump(intention.tree)
    if keep:
        assert comments(result) == comments(found.data)
    return result


@given(programs(), st.data())
def test_any_expression_takes_a_call(program: bytes, data: st.DataObject) -> None:
    found, intention, node = drawn(data, program, ast.expr)
    assume(isinstance(node, ast.Constant) or not may_be_plain(node))
    twin = intention.twin(node)
    intention.put(twin, ast.Call(ast.Attribute(twin, "detach", ast.Load()), [], []))
    check(found, intention, lambda: append_call(found, node, ".detach()"))


@given(programs(), st.data(), st.sampled_from(["z", "z + 1", "z if z else 1", "f(z)", "-z", "1", "lambda: z"]))
def test_any_expression_is_replaced(program: bytes, data: st.DataObject, text: str) -> None:
    found, intention, node = drawn(data, program, ast.expr)
    assume(not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del))
    assume(not isinstance(node, ast.Starred | ast.Slice))
    intention.put(intention.twin(node), ast.parse(text, mode="eval").body)
    check(found, intention, lambda: replace(found, node, text), keep=False)


@given(programs(), st.data())
def test_any_augmented_assignment_is_written_out(program: bytes, data: st.DataObject) -> None:
    found, intention, node = drawn(data, program, ast.AugAssign)
    twin = intention.twin(node)
    load = ast.parse(ast.unparse(twin.target), mode="eval").body
    assign = ast.Assign([twin.target], ast.BinOp(load, twin.op, twin.value))
    intention.put(twin, assign)
    assume("#" not in found.segment(node.target))
    check(found, intention, lambda: aug_to_assign(found, node))


@given(programs(), st.data(), st.sampled_from(["k", "retain", "b"]))
def test_any_call_takes_a_keyword(program: bytes, data: st.DataObject, name: str) -> None:
    found, intention, node = drawn(data, program, ast.Call)
    keywords = intention.twin(node).keywords
    value = ast.Constant(value=True)
    old = next((keyword for keyword in keywords if keyword.arg == name), None)
    if old:
        old.value = value
    else:
        keywords.append(ast.keyword(name, value))
    result = check(found, intention, lambda: set_keyword(found, node, name, "True"), keep=old is None)
    again = source(result)
    same = next(
        n for n, o in zip(ast.walk(again.tree), ast.walk(intention.tree), strict=True) if o is intention.twin(node)
    )
    assert apply(again, rendered(set_keyword(again, same, name, "True"))) == result


@given(programs(), st.data())
def test_any_keyword_is_removed(program: bytes, data: st.DataObject) -> None:
    found, intention, node = drawn(data, program, ast.keyword)
    call = found.parent(node)
    assume(isinstance(call, ast.Call) and node.arg)
    intention.twin(call).keywords.remove(intention.twin(node))
    check(found, intention, lambda: remove_keyword(found, call, node.arg), keep=False)


LINES = st.sampled_from([["n()"], ["n()", "m = 1"], TWO, ["with n:", "    for m in n:", "        m"]])


@given(programs(), st.data(), LINES, st.booleans())
def test_lines_are_inserted_beside_any_statement(
    program: bytes, data: st.DataObject, lines: list[str], after: bool
) -> None:
    found, intention, node = drawn(data, program, ast.stmt)
    block = intention.block(node)
    place = block.index(intention.twin(node)) + after
    block[place:place] = ast.parse("\n".join(lines)).body
    insert = insert_after if after else insert_before
    check(found, intention, lambda: insert(found, node, lines))


@given(programs(), st.data(), st.integers(0, 3))
def test_any_statements_are_wrapped(program: bytes, data: st.DataObject, more: int) -> None:
    found, intention, node = drawn(data, program, ast.stmt)
    block = intention.block(node)
    first = block.index(intention.twin(node))
    original = next(
        value
        for _, value in ast.iter_fields(found.parent(node) or found.tree)
        if isinstance(value, list) and node in value
    )
    statements = original[first : first + 1 + more]
    block[first : first + 1 + more] = [
        ast.With([ast.withitem(ast.parse("n", mode="eval").body)], block[first : first + 1 + more])
    ]
    check(found, intention, lambda: wrap(found, statements, "with n:"))


@given(programs(), st.data())
def test_what_is_wrapped_is_unwrapped_again(program: bytes, data: st.DataObject) -> None:
    found, _, node = drawn(data, program, ast.stmt)
    try:
        wrapped = source(apply(found, rendered(wrap(found, [node], "with nn:"))))
        block = next(one for one in nodes(wrapped, ast.With) if wrapped.segment(one).startswith("with nn:"))
        result = apply(wrapped, rendered(unwrap(wrapped, block, block.items[0])))
    except (Declined, BrokenRewrite):
        assume(False)
        raise
    assert ast.dump(ast.parse(result)) == ast.dump(found.tree)
    assert comments(result) == comments(program)


@given(programs(), st.data())
def test_any_statement_is_deleted(program: bytes, data: st.DataObject) -> None:
    found, intention, node = drawn(data, program, ast.stmt)
    intention.remove([node])
    check(found, intention, lambda: delete(found, node), keep=False)


@given(programs(), st.data(), st.booleans())
def test_any_statement_moves_beside_any_other(program: bytes, data: st.DataObject, after: bool) -> None:
    found, intention, node = drawn(data, program, ast.stmt)
    anchor = data.draw(st.sampled_from(nodes(found, ast.stmt)))
    twins = set(ast.walk(intention.twin(node)))
    assume(intention.twin(anchor) not in twins)
    target = intention.block(anchor)
    intention.remove([node])
    place = target.index(intention.twin(anchor)) + after
    target.insert(place, intention.twin(node))
    move = move_after if after else move_before
    check(found, intention, lambda: move(found, [node], anchor))


@given(programs())
def test_an_import_is_added_to_any_file_once(program: bytes) -> None:
    try:
        found = source(program)
        name, edits = ensure_import(found, "torch")
    except (SourceError, Declined):
        assume(False)
        raise
    result = apply(found, rendered(edits))
    assert ensure_import(source(result), "torch") == (name, [])
    assert comments(result) == comments(program)


@pytest.mark.parametrize(
    "text",
    [
        "best = w", "best, least = w, loss", "best = w if better else best", "path.append(w.detach().cpu().numpy())",
        "path += [w]", "best[i] = w.data", "w = start.detach().requires_grad_()", "w = first = torch.zeros(3)",
        "best = {'w': w}", "best = dict(w=w)", "best = copy.copy(w)", "corner = w[:2]", "w = Variable(start)",
        "def f(w):\n    w = w - w.grad", "w, b = pair", "w, b = start, torch.zeros(3)", "(w, b) = (first, f(b))",
    ],
)  # fmt: skip
def test_a_tensor_held_elsewhere_is_known_by_its_text(text: str) -> None:
    assert _held(text)


@pytest.mark.parametrize(
    "text",
    [
        "w = torch.zeros(3)", "w, b = torch.zeros(3), start", "w, b = made()",
        "w = w.detach()", "path.append(w.clone())", "path.append(w.norm().item())", "y = w * 2",
        "torch.save({'w': w}, 'w.pt')", "best = copy.deepcopy(w)", "best.data.copy_(w)", "y = f(w)",
        "def model(x, w):\n    return x @ w",
    ],
)  # fmt: skip
def test_what_is_computed_from_a_tensor_does_not_hold_it(text: str) -> None:
    assert not _held(text)


def _held(text: str) -> bool:
    source = Source(Path("x.py"), f"{text}\nw = w - w.grad\n".encode())
    found = [one for one in ast.walk(source.tree) if isinstance(one, ast.Assign) and ".grad" in ast.unparse(one)]
    return any(update.held_elsewhere(source, bound) for one in found for bound in update.bindings(one))


@pytest.mark.parametrize(
    ("earlier", "later", "needed"),
    [
        ("a = f(x)", "b = a + 1", True),
        ("a = f(x)", "a = 1\nb = a", False),
        ("a = f(x)", "a = a + 1", True),
        ("a.b = f(x)", "c = a.b.d", True),
        ("r['d'] = f(x)", "r['g'] = r['l'] + 1\nr['g'].backward()", False),
        ("r['d'] = f(x)", "if both:\n    print(r['d'])", True),
        ("r['d'] = f(x)", "print(r)", True),
        ("r['d'] = f(x)", "print(r[key])", True),
        ("loss = f(x)\nloss.backward()", "if both:\n    loss = g(x)\n    loss.backward()", False),
        ("d.zero_grad()", "d.step()", False),
    ],
)
def test_what_later_statements_need_of_earlier_ones(earlier: str, later: str, needed: bool) -> None:
    assert owning.needs(ast.parse(later).body, ast.parse(earlier).body) is needed
