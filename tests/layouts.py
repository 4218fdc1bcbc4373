"""Random Python programs for the tests of rewriting: what people do to the lines of a file."""

from __future__ import annotations

from hypothesis import strategies as st

SIMPLE = (
    "a()",
    "a += b * c + 1",
    "x[i] -= f(a, k=1)",
    "x.y **= -b",
    "损失 @= f(é)",
    "w -= lr * (a if b else c)",
    "y = a + b",
    "y = (a + b) * c",
    "y = -a ** b",
    "f(a, b, retain=False)",
    "g(x for x in y)",
    "g((a), *b, **{'z': 1})",
    "t = f'{a}#{f(b)}' \"b\"",
    "u, *v = 1, 2.5, 0x1f",
    "z = lambda a=f(1): a or not b",
    "s = 'it''s # no comment'",
    "del q[0], r",
    "d = {**a, 'k': [b for b in c if b]}",
    "assert a < b <= c, f(d)",
    "global g1",
    "pass",
    "y = yy = (w := f(a))",
    "y = a if b else c",
    "(f)(a)",
    "import os.path as p, sys",
    "损失.backward()",
)
LONG = (
    "s = '''one\n  two # no comment\n\n\tthree''' + f(a)",
    "s = ('a'\n   'b'  # joined\n\n  f'{c}')",
    "f(\n    a,  # first\n    b=2,  # second\n)",
    "f(a,  # first\n  # alone\n  b=(2)\n  )",
    "f(  # empty\n)",
    "y = a + \\\n  b * f(c)",
    "y += a - \\\nb",
    "y += (a  # why\n  - b)",
    "(a\n  .b  # split\n  .c()\n)",
    "y = [\na,\n        b]",
    "s = 'one\\\n  two'",
    'x[\n  """key\n  """] *= a + b',
    "g(\n  x  # of\n  for x in y\n)",
)
HEADERS = (
    "if a:",
    "for i in f(x):",
    "while (a and\n     b):",
    "with m() as n, \\\n   o:",
    "def fn(a, *, b=1):",
    "@deco\n@(other)\nasync def fn2(a):",
    "class C(B, metaclass=M):",
    "@deco(a,\n  b)\nclass D:",
    "if a == {'k': 1}:",
)
UNITS = ("    ", "  ", "\t", " ")
COMMENTS = ("", "", "", "  # why", " # 为什么", "\t#'")


@st.composite
def programs(draw: st.DrawFn) -> bytes:
    """A file's bytes: any newline style, encoding, indentation and neighbourhood of comments."""
    unit = draw(st.sampled_from(UNITS))
    lines = draw(_opening()) + _block(draw, "", unit, depth=draw(st.integers(0, 3)))
    text = "\n".join(lines) + draw(st.sampled_from(["\n", "", "  # end", "\n\n", "\n# end"]))
    newline = draw(st.sampled_from(["\n", "\n", "\r\n", "\r", None]))
    if newline is None:
        parts = text.split("\n")
        ends = draw(st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=len(parts), max_size=len(parts)))
        # A lone \r before an empty line would make one newline of two.
        text = "".join(part + end for part, end in zip(parts, [*ends[:-1], ""], strict=True))
    else:
        text = text.replace("\n", newline)
    if text.startswith("# coding: gb"):
        return text.encode("gb18030")
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


@st.composite
def _opening(draw: st.DrawFn) -> list[str]:
    return list(
        draw(
            st.sampled_from(
                [
                    (),
                    ("#!/usr/bin/env python",),
                    ("# coding: gb18030",),
                    ('"""Doc."""',),
                    ("'doc'; from __future__ import annotations; import torch as th",),
                    ("# about", '"""Doc."""', "from __future__ import division  # old", "from torch import nn"),
                    ("\f", "import os"),
                ]
            )
        )
    )


def _block(draw: st.DrawFn, indent: str, unit: str, depth: int) -> list[str]:
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(st.sampled_from([[], [], [""], [indent + "# alone"], ["# left"], [indent + unit + "# deep"]]))
        kind = draw(st.integers(0, 9))
        if depth and kind >= 4:
            lines += _compound(draw, indent, unit, depth)
        elif kind == 3:
            lines.append(indent + draw(st.sampled_from(LONG)) + draw(st.sampled_from(COMMENTS)))
        else:
            lines.append(indent + _suite(draw) + draw(st.sampled_from(COMMENTS)))
    return lines


def _suite(draw: st.DrawFn) -> str:
    """Simple statements that share a line."""
    statements = draw(st.lists(st.sampled_from((*SIMPLE, *SIMPLE, *LONG)), min_size=1, max_size=3))
    return draw(st.sampled_from(["; ", ";", " ; "])).join(statements) + draw(st.sampled_from(["", "", ";"]))


def _compound(draw: st.DrawFn, indent: str, unit: str, depth: int) -> list[str]:
    kind = draw(st.integers(0, 3))
    if kind == 0:
        parts = ["try:", draw(st.sampled_from(["finally:", "except (A, B) as e:", "except A:"]))]
    elif kind == 1:
        parts = ["if a:", "elif b:", "else:"][: draw(st.integers(2, 3))]
    elif kind == 2:
        cases = ["case [1, ('a' | b), C(d=1)] if f(x):", "case (_):"]
        case_indent = indent + unit
        lines = [f"{indent}match a, f(b):"]
        for case in cases:
            lines += _arm(draw, case, case_indent, unit, depth)
        return lines
    else:
        parts = [draw(st.sampled_from(HEADERS))]
    return [line for part in parts for line in _arm(draw, part, indent, unit, depth)]


def _arm(draw: st.DrawFn, header: str, indent: str, unit: str, depth: int) -> list[str]:
    """A header with its block below it, or with a suite beside it."""
    # Lines of a header that begin a statement or a decorator need the block's indentation.
    first = [indent + line if line.startswith(("@", "async", "class", "def")) else line for line in header.split("\n")]
    head = "\n".join([indent + first[0].removeprefix(indent), *first[1:]])
    if draw(st.integers(0, 2)) == 0:
        return [head + draw(st.sampled_from([" ", "", "  "])) + _suite(draw) + draw(st.sampled_from(COMMENTS))]
    return [head + draw(st.sampled_from(COMMENTS)), *_block(draw, indent + unit, unit, depth - 1)]
