"""What a sum, a list or an array begins with before tensors join it: numpy makes it, torch has to."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autofix.syntax.calls import keyword, path_of
from autofix.syntax.translate import words
from autofix.syntax.translate.made import Body, Kind, Translated, atom, respelled

_OF_SHAPE = ("zeros", "ones", "empty")
_LIKE = ("zeros_like", "ones_like", "empty_like")
_PLAIN = ("", *words.SINGLE)
"""Types that tensors have too, or have already."""


class Started:
    """Says in torch what numpy makes at such a place."""

    def __init__(
        self, word: Callable[[Body, ast.expr], str], value: Callable[[Body, ast.expr], Translated], scope: Body
    ) -> None:  # fmt: skip
        """`word`: the name of a function of numpy's; `value`: an expression in torch's words."""
        self._word, self._value, self._scope = word, value, scope

    def text(self, node: ast.expr) -> str:
        """An expression as torch makes it; '' where that is not known."""
        match node:
            case ast.Call():
                return self._made(node)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return self._respelled(node, parts)
            case ast.ListComp(elt=part):
                return self._respelled(node, [part])
        return ""

    def _respelled(self, node: ast.expr, parts: list[ast.expr]) -> str:
        texts = [(part, self.text(part)) for part in parts]
        return respelled(self._scope.source, node, texts) if texts and all(text for _, text in texts) else ""

    def _made(self, node: ast.Call) -> str:
        name, dtype = self._word(self._scope, node.func), keyword(node, "dtype")
        given = (*node.args[1:], *([dtype] if dtype is not None else ()))
        if not node.args or any(path_of(one).rpartition(".")[2] not in _PLAIN for one in given):
            return ""
        first = self._value(self._scope, node.args[0])
        if name in _OF_SHAPE:
            return f"torch.{name}({first.text})"
        if name in _LIKE:
            moved = first.kind in (Kind.ARRAY, Kind.TORCH)
            return f"torch.{name}({first.text})" if moved else f"torch.{name[:-5]}({atom(first.text)}.shape)"
        return f"torch.tensor({first.text})" if name in words.ARRAYS else ""
