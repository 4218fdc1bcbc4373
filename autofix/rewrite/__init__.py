"""Turning intended changes of nodes into edits of bytes, and edits into files and diffs.

Each function here takes a `Source`, looks at its tree and its characters, and returns the few edits
that say the same to Python; or it raises `Declined` with the reason.
"""

from autofix.edit import Declined, Edit, EditConflict, Patch, merge
from autofix.rewrite.apply import BrokenRewrite, apply
from autofix.rewrite.calls import remove_keyword, set_keyword
from autofix.rewrite.diff import unified_diff
from autofix.rewrite.expressions import append_call, aug_to_assign, replace, replace_operator
from autofix.rewrite.imports import ensure_import
from autofix.rewrite.moves import move_after, move_before
from autofix.rewrite.patch import PatchError, apply_patch
from autofix.rewrite.statements import delete, insert_after, insert_before, wrap

__all__ = [
    "BrokenRewrite",
    "Declined",
    "Edit",
    "EditConflict",
    "Patch",
    "PatchError",
    "append_call",
    "apply",
    "apply_patch",
    "aug_to_assign",
    "delete",
    "ensure_import",
    "insert_after",
    "insert_before",
    "merge",
    "move_after",
    "move_before",
    "remove_keyword",
    "replace",
    "replace_operator",
    "set_keyword",
    "unified_diff",
    "wrap",
]
