"""Reading a file as Python reads it, and the way between bytes, UTF-8 columns and characters."""

from __future__ import annotations

import ast
import codecs
import random
import re
import sys
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autofix.syntax.layout import quoted_as
from autofix.syntax.source import Source, SourceError, Span

PATH = Path("train.py")
SCRIPT = "def 前向(x):\n    损失 = x.mean()  # 平均\n    return 损失\n"


def source(text: str, encoding: str = "utf-8", bom: bytes = b"") -> Source:
    return Source(PATH, bom + text.encode(encoding))


def call_of(found: Source, name: str) -> ast.Call:
    return next(
        node for node in ast.walk(found.tree) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(name)
    )


@pytest.mark.parametrize(
    ("cookie", "encoding", "bom"),
    [
        ("", "utf-8", b""),
        ("", "utf-8", codecs.BOM_UTF8),
        ("# coding: utf-8\n", "utf-8", codecs.BOM_UTF8),
        ("# -*- coding: gbk -*-\n", "gbk", b""),
        ("#!/usr/bin/python\n# vim: set fileencoding=gb18030 :\n", "gb18030", b""),
        ("# coding: shift_jis\n", "shift_jis", b""),
        ("# coding: iso-2022-jp\n", "iso-2022-jp", b""),
    ],
    ids=["utf-8", "byte order mark", "mark and cookie", "gbk", "second line", "shift_jis", "shift states"],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_a_span_holds_the_bytes_of_its_node(cookie: str, encoding: str, bom: bytes, newline: str) -> None:
    script = SCRIPT if encoding not in {"shift_jis", "iso-2022-jp"} else SCRIPT.replace("损失", "損失")
    found = source((cookie + script).replace("\n", newline), encoding, bom)
    nodes = [node for node in ast.walk(found.tree) if isinstance(node, ast.expr | ast.stmt)]
    assert len(nodes) > 6
    for node in nodes:
        span = found.span(node)
        assert found.data[span.start : span.end].decode(encoding) == found.segment(node)
        assert found.position(span.start) == (node.lineno, node.col_offset)
        assert found.position(span.end) == (node.end_lineno, node.end_col_offset)
        assert ast.unparse(node).split() == ast.unparse(ast.parse(found.segment(node).strip())).split()


def test_latin_1_bytes_are_counted_and_not_their_utf_8() -> None:
    found = source("# coding: latin-1\né = 'é'; b = f(é)\n", "latin-1")
    assert found.span(call_of(found, "f")) == Span(31, 35)
    assert found.data[31:35] == b"f(\xe9)"


def test_form_feeds_and_unicode_separators_end_no_line() -> None:
    found = source("a = 1\n\f\nb = 'x\u2028y\x85z\x1d'; c = f(b)\n")
    assert found.segment(call_of(found, "f")) == "f(b)"
    assert len(found.lines) == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x = '\xff'\n", "invalid"),
        (b"# coding: nonsense\n", "unknown encoding"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "encoding problem"),
        (b"x = (\n", "line 1"),
        (b"x = 1\n  y = 2\n", "line 2: unexpected indent"),
        (b"x = '\0'\n", "null"),
        (b"x = " + b"(" * 500 + b")" * 500, "too many nested parentheses"),
        (b"# coding: utf-7\nx = '+AGE-'\n", "only spelling"),
    ],
    ids=["bytes", "cookie", "mark against cookie", "end", "indent", "null", "depth", "two spellings"],
)
def test_what_python_cannot_read_is_refused_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        Source(PATH, data)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("train.py: ")


def test_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        Source.read(tmp_path / "none.py")
    with pytest.raises(SourceError, match="directory"):
        Source.read(tmp_path)


def test_an_empty_file_is_a_module_without_statements(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"")
    found = Source.read(tmp_path / "a.py")
    assert found.offset(1, 0) == 0
    assert found.position(0) == (1, 0)
    assert found.node_at((1, 0, 1, 0)) is None


def test_a_split_call_is_found_by_its_end() -> None:
    found = source("y = (x\n  .a()\n  .back(\n    1))\n")
    node = found.node_at((3, 3, 4, 6))
    assert isinstance(node, ast.Call)
    assert found.segment(node) == "x\n  .a()\n  .back(\n    1)"
    assert isinstance(found.node_at((3, 3, 3, 7)), ast.Attribute)


@pytest.mark.parametrize(
    "span",
    [(1, 1, 1, 3), (9, 0, 9, 1), (1, 4, 1, 4), (1, 99, 1, 100), (-1, 0, 0, 0), (1, 0, 2, 2)],
    ids=["part of a call", "no such line", "empty", "no such column", "negative", "two statements"],
)
def test_a_position_that_means_no_node_is_none(span: tuple[int, int, int, int]) -> None:
    assert source("f(x)\ny = 1\n").node_at(span) is None


def test_an_expression_is_preferred_to_its_statement() -> None:
    found = source("f(x)\nx += 1\n")
    assert isinstance(found.node_at((1, 0, 1, 4)), ast.Call)
    assert isinstance(found.node_at((2, 0, 2, 6)), ast.AugAssign)


RAISING = """
class A:
    def __getattr__(self, name): raise ArithmeticError
    def 反(self, *_): raise ArithmeticError
    def ok(self, *_): return self
    __iadd__ = __add__ = __setitem__ = __call__ = 反
x = A()
def a():
    [x]; "数"; (x
      .ok() .反(
    1))
def b(): x.ok(); x.反(); x
def c():
    global x
    x += 1
def d():
    return (x.ok()
        .grad)
def e():
    x[0] = 1
def f():
    return [y for y in [x.反]
       if x(
          y)]
def g():
    @x
    def h(): pass
def h(): return lambda: 1, "é" + f"é{1}", (x + 1)
def i():
    (x.ok(1
      ).反(2))
"""
MEANT = {
    "a": "x\n      .ok() .反(\n    1)",
    "b": "x.反()",
    "c": "x += 1",
    "d": "x.ok()\n        .grad",
    "e": "x[0]",
    "f": "x(\n          y)",
    "g": "x",
    "h": "x + 1",
    "i": "x.ok(1\n      ).反(2)",
}


@pytest.mark.parametrize("name", MEANT)
def test_the_interpreters_own_positions_find_the_node_that_raised(name: str) -> None:
    found = source(RAISING)
    namespace: dict[str, Any] = {}
    exec(compile(RAISING, "x.py", "exec"), namespace)  # noqa: S102 - the interpreter is what is tested
    with pytest.raises(ArithmeticError) as caught:
        namespace[name]()
    frame = [item for item in _frames(caught.value) if item[0].co_name in {name, "<listcomp>"}][-1]
    line, end_line, column, end_column = list(frame[0].co_positions())[frame[1] // 2]
    node = found.node_at((line, column, end_line, end_column))
    assert node is not None
    assert found.segment(node) == MEANT[name]


def _frames(error: BaseException) -> list[tuple[CodeType, int]]:
    found: list[tuple[CodeType, int]] = []
    traceback = error.__traceback__
    while traceback:
        found.append((traceback.tb_frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return found


def test_inside_f_strings_only_exact_positions_count() -> None:
    found = source("f'{x.back()}'\n")
    node = found.node_at((1, 3, 1, 11))
    assert (node is not None) == (sys.version_info >= (3, 12))


def test_statement_function_and_parent_climb() -> None:
    found = source("@deco(1)\ndef f(a=g()):\n    if a:\n        return h(lambda: k())\n    class B:\n        c = m()\n")
    assert isinstance(found.statement(call_of(found, "k")), ast.Return)
    function = found.function(call_of(found, "k"))
    assert function is not None
    assert function.name == "f"
    assert found.function(call_of(found, "m")) is function
    assert found.function(call_of(found, "g")) is None
    assert found.function(call_of(found, "deco")) is None
    assert isinstance(found.parent(call_of(found, "h")), ast.Return)
    assert found.parent(found.tree) is None
    with pytest.raises(ValueError, match=r"is not part of a statement"):
        found.statement(found.tree)
    with pytest.raises(ValueError, match="has no position"):
        found.span(found.tree)


def test_people_count_characters_from_one() -> None:
    found = source("损失 = f('é')  # x\r\ny = 2\r\n")
    assert found.character_column(1, 6) == 3
    assert found.line_text(1) == "损失 = f('é')  # x"


@pytest.mark.parametrize("place", [(5, 0), (0, 0), (1, 1), (1, 90), (1, -1), (2, 90), (2, -1)])
def test_places_outside_the_file_or_inside_a_character_are_refused(place: tuple[int, int]) -> None:
    with pytest.raises(SourceError):
        source("é = 1\ny\n").offset(*place)


def test_offsets_outside_the_file_or_inside_a_character_are_refused() -> None:
    found = source("é = 1\n", bom=codecs.BOM_UTF8)
    assert found.position(3) == (1, 0)
    for offset in (0, 4, 99, -1):
        with pytest.raises(SourceError):
            found.position(offset)


LINE = st.text(st.sampled_from("ab é损\t\f\u2028'\"#"), max_size=6).map(lambda text: "# " + text)


@given(
    st.lists(st.tuples(LINE, st.sampled_from(["\n", "\r\n", "\r"])), max_size=6),
    st.sampled_from([("utf-8", ""), ("gb18030", "# coding: gb18030\n"), ("utf-8", "\ufeff")]),
)
def test_every_offset_goes_there_and_back(lines: list[tuple[str, str]], kind: tuple[str, str]) -> None:
    encoding, opening = kind
    text = opening + "".join(line + newline for line, newline in lines)
    found = source(text, encoding)
    for index in range(len(found.text) + 1):
        offset = found.data_offset(index)
        assert found.offset(*found.position(offset)) == offset
        assert found.data[found.data_offset(0) : offset].decode(encoding) == found.text[:index]
    assert "".join(found.lines) == found.text


@pytest.mark.parametrize(
    ("new", "pair"),
    [
        ("a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\n", ("", "")),
        ("a = 1\nb = 2\nc = 3\nd = 40\ne = 5\nf = 6\n", ("c = 3\nd = 4\ne = 5\n", "c = 3\nd = 40\ne = 5\n")),
        ("a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\n", ("f = 6\n", "f = 6\ng = 7\n")),
        ("b = 2\nc = 3\nd = 4\ne = 5\nf = 6\n", ("a = 1\nb = 2\n", "b = 2\n")),
    ],
)
def test_what_differs_is_whole_statements_with_neighbours(new: str, pair: tuple[str, str]) -> None:
    source = Source(Path("x.py"), b"a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\n")
    old, now = (part.decode() for part in source.differing(new.encode()))
    assert pair[0] in old
    assert source.data.decode().replace(old, now, 1) == new
    assert len(old) < len(source.data)
    assert pair[1] in now


VERSIONED = '''\
"""Says what it is."""
import torch; x = 1

@torch.no_grad()
def net(x): return f"""{x:>
{x}}"""
for i in range(3):
    x = net(
        i)
else:
    y = 'größer'; z = 2
# The end begins.
if x: y = 3
w = 4\\
  + 5
'''
INSTEAD = (
    "",
    "\n",
    "0",
    " ",
    "\n\n",
    "(",
    ")",
    "#",
    '"""',
    "\n# coding: latin-1\n",
    "\\\n",
    "é",
    ":\n ",
    "\n@net\n",
    "else:\n 1\n",
)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("head", ["", "\ufeff", "# coding: latin-1\n"], ids=repr)
def test_a_version_that_shares_trees_has_the_tree_of_its_bytes(head: str, newline: str) -> None:
    codec = "latin-1" if "coding" in head else "utf-8"
    text = (head + VERSIONED).replace("\n", newline)
    source = Source(Path("x.py"), text.encode(codec))
    chance, shared, refused = random.Random(text), 0, 0  # noqa: S311
    for _ in range(400):
        start = chance.randrange(len(text))
        end = min(len(text), start + chance.choice((0, 0, 1, 5, 30)))
        data = (text[:start] + chance.choice(INSTEAD) + text[end:]).encode(codec)
        try:
            alone = Source(Path("x.py"), data)
        except SourceError as error:
            refused += 1
            with pytest.raises(SourceError, match=re.escape(str(error))):
                Source(Path("x.py"), data, source)
            continue
        found = Source(Path("x.py"), data, source)
        assert ast.dump(found.tree, include_attributes=True) == ast.dump(alone.tree, include_attributes=True)
        shared += bool({*found.tree.body} & {*source.tree.body})
    assert refused > 20
    assert bool(shared) is (codec == "utf-8")


MENTIONED = '''\
import torch as t; from os import path

@t.no_grad()
def net(x): return x
y = {"k": 1}; y[B"k"] = net(2); net = y
class Net:  # no step of net
    """Says net."""
    def step(self):
        self.state . hidden = [f"{y[0]!r}", lambda net: net]
        self.state.hidden[\\
            0] = 1
if y: net.step ()
'''


@pytest.mark.parametrize("extra", ["", "größe = ﬁt = 1\n"], ids=["ascii", "other spellings"])
def test_whatever_is_spelled_so_is_among_the_nodes_that_mention_it(extra: str) -> None:
    source = Source(Path("x.py"), (MENTIONED + extra).encode())
    every = list(ast.walk(source.tree))
    for code in {ast.unparse(node) for node in every if isinstance(node, ast.expr)}:
        mentioning = list(source.mentioning(code))
        alike = [node for node in every if isinstance(node, ast.expr) and ast.unparse(node) == code]
        assert [node for node in mentioning if node in alike] == alike
    assert extra or len(list(source.mentioning("self.state.hidden"))) < len(every) // 2
    assert source.tree.body[-1] in source.on_lines([len(source.lines)])
    assert not list(source.on_lines([2]))


@pytest.mark.parametrize(
    ("file", "text", "laid_out"),
    [
        ('x = "a"\n', "y = d['b']  # don't, can't", "y = d[\"b\"]  # don't, can't"),
        ("x = f\"{d['a']}\"\n", "y = f\"{d['b']}\" + 'c'", 'y = f"{d[\'b\']}" + "c"'),
        ('x = "a"\n', "y = 'say \"x\"' + 'it\\'s'", "y = 'say \"x\"' + 'it\\'s'"),
        ("x = 'a' + \"b\"\n", "y = d['b']", "y = d['b']"),
        ("x = 1\n", "y = d['b']", "y = d['b']"),
    ],
)
def test_new_code_has_the_quotes_that_all_strings_of_its_file_have(file: str, text: str, laid_out: str) -> None:
    assert quoted_as(Source(Path("a.py"), file.encode()), text) == laid_out
