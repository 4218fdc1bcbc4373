"""Edits of the user's code, as steps: each says what becomes of a node, and `rendered` turns them into bytes.

Each function takes a `Source` and returns a few steps, or raises `Declined` with the reason. Steps add up: a keyword
for a call, a name for its result and a `with` around its statement are one list.
"""

from autofix.core.edit import Declined
from autofix.syntax.edits.as_data import as_data
from autofix.syntax.edits.at_once import at_once
from autofix.syntax.edits.calls import functional_call, remove_keyword, set_keyword
from autofix.syntax.edits.elsewhere import User, computed_in
from autofix.syntax.edits.expressions import (
    append_call,
    aug_to_assign,
    bind,
    change,
    embed,
    filtered,
    receiver,
    rename,
    replace,
)
from autofix.syntax.edits.for_caller import for_caller
from autofix.syntax.edits.imports import ensure_import, ensure_name, with_gradient, without_gradient
from autofix.syntax.edits.lasting import Lasting, lasting
from autofix.syntax.edits.local_name import in_local_name, is_empty, own_names
from autofix.syntax.edits.names.held_name import handed_over, held_name
from autofix.syntax.edits.names.lent_leaf import lent_leaf
from autofix.syntax.edits.names.own_name import own_name, takes_name_of_leaf
from autofix.syntax.edits.names.put_by import put_by
from autofix.syntax.edits.names.second_name import second_is_met, second_links, second_name, written_name
from autofix.syntax.edits.names.written_gradient import unread_gradient
from autofix.syntax.edits.out_of_place import clone_before, not_inplace, out_of_place, value_after
from autofix.syntax.edits.own_copy import own_copy
from autofix.syntax.edits.passes.begun import Begun, begun
from autofix.syntax.edits.passes.emptied import Emptied, emptied
from autofix.syntax.edits.passes.walked_data import walked_data
from autofix.syntax.edits.passes.windows import windows
from autofix.syntax.edits.registered import Registered, completed, registered
from autofix.syntax.edits.spelled_out import spelled_out
from autofix.syntax.edits.statements import (
    at_end,
    body_alone,
    decorate,
    delete,
    insert_after,
    insert_before,
    move_after,
    move_before,
    replace_statement,
    undecorate,
    unwrap,
    wrap,
)
from autofix.syntax.edits.steps import Splice, Step, rendered
