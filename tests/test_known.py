"""A long file that the server has compiled: with an edit and marks, a run has the code that it would compile itself."""

from __future__ import annotations

import ast
from pathlib import Path
from types import CodeType

import pytest
from sampled import one_in

from autofix.probe.beginning.exchange import Differs
from autofix.probe.beginning.pieces import Parts, Piece, compiled, first_difference, span_of, unchanged
from autofix.probe.program import known
from autofix.probe.program.overlay import Marker

PART = '''
@dataclass
class Part{0}(Base):
    """A part."""

    size: int = {0}

    def forward(self, x):
        return [super().forward(one) for one in x], self.size


def make{0}(depth: int = {0}, *, name="}}"):  # of size {0}
    if depth:
        return lambda: os.path.join(name, str(depth))
    return None

'''
HEAD = "import os\nfrom dataclasses import dataclass\n\n\nclass Base:\n    pass\n\n"
TEXT = HEAD + "".join(PART.format(number) for number in range(300)) + "\nprint(make1)\n"
EDITS = {
    "nothing": ("print(make1)", "print(make1)"), "a line more": ("if depth:", "depth += 1\n    if depth:"),
    "a line less": ('    """A part."""\n', ""), "at the end": ("print(make1)", "print(make2)\nprint(make3)"),
    "a head less": ('def make7(depth: int = 7, *, name="}"):  # of size 7\n', ""),
    "a text that does not end": ("    size: int = 9\n", '    size: int = 9\n    """\n'),
    "a text around": ("    size: int = 9\n", "    size: int = 9\n\nword = '''\n"),
    "imports": ("import os\n", "import sys as os\n"),
    "a future": ("import os", "from __future__ import annotations\nimport os"),
    "one line": ("class Base:\n    pass", "class Base: pass"),
    "global": ("    return None\n", "    global os\n    return None\n"),
}  # fmt: skip


def codes(code: CodeType) -> list[object]:
    parts = [part for part in code.co_consts if isinstance(part, type(code))]
    return [code, code.co_qualname, [*code.co_positions()], *map(codes, parts)]


@pytest.mark.parametrize("edit", one_in(4, EDITS))
def test_what_is_as_it_was_need_not_be_compiled_again(tmp_path: Path, edit: str) -> None:
    path = tmp_path / "long.py"
    path.write_text(TEXT)
    known.learn(str(path))
    data = TEXT.replace(*EDITS[edit], 1).encode()
    marks = {at + 1 for at, line in enumerate(data.splitlines()) if b"= 20" in line}
    one, other = (Marker(str(path), marks) for _ in range(2))
    found = known.compiled(str(path), data, marks, one.mark)
    try:
        tree = ast.parse(data, str(path))
        other.mark(tree)
        whole = compile(tree, str(path), "exec", dont_inherit=True)
    except SyntaxError:
        assert found is None
        return
    if edit in ("nothing", "a line more", "a line less", "at the end", "one line"):
        assert found is not None
    if found is not None:
        assert codes(found) == codes(whole)
        assert one.placed == other.placed


@pytest.mark.parametrize("edit", one_in(4, EDITS))
def test_what_is_left_of_a_long_file_is_compiled_as_without(tmp_path: Path, edit: str) -> None:
    path = tmp_path / "left.py"
    path.write_text(TEXT)
    old, data = TEXT.encode(), TEXT.replace(*EDITS[edit], 1).encode()
    marks = {at + 1 for at, line in enumerate(data.splitlines()) if b"= 200" in line}
    body = ast.parse(old).body
    ran = [Piece((at,), False, compiled([node], "", 0), compiled([node], "", 0), span_of(node, test=False))
           for at, node in enumerate(body[:100])]  # fmt: skip
    before = unchanged(ran, min([first_difference(old, data), *marks]), len(ran), 0)
    found = []
    for learned in (False, True):
        if learned:
            known.learn(str(path))
        try:
            parts = Parts(str(path), old, data, marks, before)
            left = parts.rest((len(ran),), after=False)
            again = [parts.same(piece) for piece in ran[before.statements :] if edit != "a text that does not end"]
            found.append([*map(codes, (*left, *again)), parts.marker.placed])
        except (SyntaxError, Differs):
            found.append([])
    assert found[0] == found[1]
    assert found[1] or edit in ("a text that does not end", "a text around", "a head less")
