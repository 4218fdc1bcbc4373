"""A branch that never ran is judged by the one that did, where the edit makes the same of the same in both."""

from __future__ import annotations

import pytest
from scripts import Scripts

from autofix.core.model import Applicability, Effect
from autofix.verdict.parts.branches import copied, ran_alike, refused_alike
from autofix.verdict.parts.by_kind import by_kind, inlined

OLD = """\
import torch

torch.manual_seed(0)
cell = torch.nn.GRUCell(2, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
state = torch.zeros(3, 4)
for step in range(6):
    h = cell(torch.randn(3, 2), state)
    optimizer.zero_grad()
    h.square().mean().backward()
    optimizer.step()
    if step > 900:
        state = torch.tanh(h)
    else:
        state = h
"""
USED = ("state = h\n", "state = h.detach()\n")
IN_PLACE = """\
import torch
def reset(buffer, x, randomize):
    if randomize:
        torch.nn.init.uniform_(buffer)
    else:
        buffer.zero_()
"""
RARE, USUAL = 4, 6
CUT = ".detach_()"


def alike(old: str, rarely: str, usually: str) -> int:
    lines = old.splitlines()
    new = [*lines[: RARE - 1], rarely, lines[RARE], usually, *lines[USUAL:]]
    return ran_alike(old.encode(), "\n".join(new).encode(), RARE, {USUAL}, before=False)


def test_the_same_is_put_around_what_is_made_of_the_same() -> None:
    wrapped = f"        torch.nn.init.uniform_(buffer){CUT}", f"        buffer.zero_(){CUT}"
    assert alike(IN_PLACE, *wrapped) == USUAL
    bound = IN_PLACE.replace("        torch", "        x = torch").replace("        buffer", "        x = buffer")
    assert alike(bound, *(one.replace("        ", "        x = ") for one in wrapped)) == USUAL


@pytest.mark.parametrize(
    ("rarely", "usually"),
    [
        ("torch.nn.init.uniform_(buffer).detach()", "buffer.zero_().detach_()"),
        ("torch.nn.init.uniform_(buffer).clamp_(0, 1)", "buffer.zero_().clamp_(0, 2)"),
        ("torch.nn.init.normal_(buffer).detach_()", "buffer.zero_().detach_()"),
        ("torch.nn.init.uniform_(buffer).detach_()", "buffer.zero_()"),
        ("torch.nn.init.uniform_(x.detach_())", "buffer.zero_().detach_()"),
    ],
)
def test_another_change_is_not_judged_by_it(rarely: str, usually: str) -> None:
    assert not alike(IN_PLACE, f"        {rarely}", f"        {usually}")


def test_what_is_made_of_another_network_or_given_to_another_name_is_not_judged_by_it() -> None:
    other = IN_PLACE.replace("torch.nn.init.uniform_(buffer)", "x = student(x)").replace("buffer.zero_()", "x = net(x)")
    assert not alike(other, "        x = student(x).detach()", "        x = net(x).detach()")
    names = other.replace("student", "net").replace("        x = net", "        y = net", 1)
    assert not alike(names, "        y = net(x).detach()", "        x = net(x).detach()")


SEGMENTS = """\
from torch.utils.checkpoint import checkpoint
def forward(self, h):
    if self.cheap:
        h = block(h)
    else:
        h = checkpoint(block, h, use_reentrant=False)
"""


@pytest.mark.parametrize(
    ("rarely", "usually", "judged"),
    [
        ("h = block(h, m)", "h = checkpoint(block, h, m, use_reentrant=False)", True),
        ("h = block(h, m)", "h = checkpoint(block, h, m)", True),
        ("h = block(h, 2 * m)", "h = checkpoint(block, h, m, use_reentrant=False)", False),
        ("h = other(h, m)", "h = checkpoint(block, h, m, use_reentrant=False)", False),
        ("h = block(h, m)", "h = checkpoint(block, h, m=m, use_reentrant=False)", False),
    ],
)
def test_what_a_checkpoint_calls_is_called_alike_in_the_other_branch(rarely: str, usually: str, judged: bool) -> None:
    assert (alike(SEGMENTS, f"        {rarely}", f"        {usually}") == USUAL) is judged


def test_a_statement_of_the_same_text_is_judged_by_it_wherever_it_stands() -> None:
    twice = "def one(x, y):\n    x += y\n    return x\ndef two(x, y):\n    x += y\n    return x\n"
    both, apart = twice.replace("x += y", "x = x + y"), twice.replace("x += y", "x = x + y", 1)
    rarely, usually = 5, 2
    assert ran_alike(twice.encode(), both.encode(), rarely, {usually}, before=False) == usually
    assert not ran_alike(twice.encode(), both.replace("x + y", "y + x", 1).encode(), rarely, {usually}, before=False)
    assert not ran_alike(twice.encode(), apart.replace("+= y", "+= 2 * y").encode(), rarely, {usually}, before=False)
    assert not ran_alike(twice.encode(), both.encode(), rarely, set(), before=False)


def test_a_statement_that_is_put_before_the_same_is_judged_by_it() -> None:
    twice = "def one(x):\n    x[0] = 0\n    return x\ndef two(x):\n    x[0] = 0\n    return x\n"
    both = twice.replace("    x[0]", "    x = x.clone()\n    x[0]")
    rarely, usually = 6, 2
    assert ran_alike(twice.encode(), both.encode(), rarely, {usually}, before=False) == usually
    assert not ran_alike(twice.encode(), both.encode(), rarely, set(), before=False)
    detached, another = "x = x.detach()\n    x[0] = 0\n    return x\n", "x = x.clone()\n    x[1] = 0\n    return x\n"
    for other in (detached, another, "x = x.clone()\n    x[0] = 0\n    return x.sum()\n"):
        new = both[: both.rindex("x = x.clone()")] + other
        assert not ran_alike(twice.encode(), new.encode(), rarely, {usually}, before=False)
    known = both.replace("    x = x.clone()\n", "", 1)
    assert not ran_alike(known.encode(), both.encode(), rarely, {usually}, before=False)


def test_a_branch_that_did_not_run_either_says_nothing() -> None:
    new = IN_PLACE.replace("buffer)\n", f"buffer){CUT}\n").replace("zero_()", f"zero_(){CUT}")
    assert not ran_alike(IN_PLACE.encode(), new.encode(), RARE, set(), before=False)


@pytest.mark.torch
def test_the_verdict_says_which_line_was_not_judged(script: Scripts) -> None:
    verdict = script(OLD).verdict(USED, ("torch.tanh(h)", "torch.tanh(h).detach()"))
    assert "Not judged: the edit writes line 13 of the edited train.py" in verdict.summary
    assert verdict.applicability is Applicability.SAFE


@pytest.mark.torch
@pytest.mark.parametrize(
    "rarely", ["torch.tanh(h.detach())", "torch.tanh(h).detach() * 2", "torch.sigmoid(h).detach()"]
)
def test_another_change_of_a_line_that_never_ran_is_not_known(script: Scripts, rarely: str) -> None:
    verdict = script(OLD).verdict(USED, ("torch.tanh(h)", rarely))
    assert verdict.effect is Effect.UNKNOWN
    assert verdict.applicability is Applicability.UNSAFE


DECIDES = """\
paired = False
for x, y in data:
    if paired:
        other = D(x, y)
        score = D(y, x)
    else:
        other = D(x)
        score = D(y)
    train(score, other)
    train(score, other)
"""
PLACE = "    train(score, other)\n    train"
COPY = "    if paired:\n        score = D(y, x)\n    else:\n        score = D(y)\n"


def again(old: str, copy: str) -> int:
    """The line that speaks for the first branch of a copy behind the first training."""
    new = old.replace(PLACE, f"    train(score, other)\n{copy}    train")
    place = new[: new.index(copy)].count("\n") + 1
    line = place + copy[: copy.index("score")].count("\n")
    return copied(old.encode(), new.encode(), line, {place + 3}) - place


def test_a_copy_of_a_condition_is_judged_by_the_branch_that_ran() -> None:
    assert again(DECIDES, COPY) == 3


@pytest.mark.parametrize(
    ("old", "copy"),
    [
        (DECIDES, COPY.replace("D(y, x)", "D(y.detach(), x)")),
        (DECIDES, COPY.replace("if paired", "if not paired")),
        (DECIDES, COPY.replace("score = D(y)", "other = D(x)")),
        (DECIDES.replace("paired = False\n", "paired = False\npaired = True\n"), COPY),
        (DECIDES.replace(PLACE, f"    x = y\n{PLACE}"), COPY),
        (DECIDES.replace(PLACE, f"    x.zero_()\n{PLACE}"), COPY),
        (DECIDES.replace(PLACE, f"    paired = y\n{PLACE}"), COPY),
        (DECIDES.replace("= D(y, x)", "= D(y, x)\n        score = score + 1"), COPY.replace("D(y, x)", "score + 1")),
        (DECIDES.replace("if paired", "if paired()"), COPY.replace("if paired", "if paired()")),
        (DECIDES.replace("D(y, x)", "D(y, other)"), COPY.replace("D(y, x)", "D(y, other)")),
    ],
    ids=[
        "another-value", "another-condition", "another-name", "bound-twice", "bound-between", "written-between",
        "changes-in-the-loop", "in-part", "called", "made-in-the-branch",
    ],
)  # fmt: skip
def test_a_copy_is_not_judged_where_either_branch_may_do_something_else(old: str, copy: str) -> None:
    assert again(old, copy) < 0


ORDERS = """\
from torch.autograd import grad
def slope(y, x, order):
    out, = grad(y, x, create_graph=True)
    for _ in range(1, order):
        out, = grad(out, x, create_graph=True)
    return out
"""
WITH_BRANCHES = """\
from torch.autograd import grad
def slope(y, x, order):
    out, = grad(y, x, create_graph=True, allow_unused=True)
    if out is None:
        return torch.zeros_like(x)
    for _ in range(1, order):
        out, = grad(out, x, create_graph=True, allow_unused=True)
        if out is None:
            return torch.zeros_like(x)
    return out
"""
NEVER, RAN = 5, 9


def test_a_branch_for_what_torch_refused_is_judged_by_the_same_one_behind_another_call() -> None:
    old, new = ORDERS.encode(), WITH_BRANCHES.encode()
    assert refused_alike(old, new, NEVER, {RAN}) == RAN
    assert refused_alike(old, new, NEVER, set()) == refused_alike(old, new, RAN, {RAN}) == 0


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("        return torch.zeros_like(x)\n    for", "        return torch.ones_like(x)\n    for"),
        ("    if out is None:\n        return", "    if order > 9:\n        return"),
        ("    if out is None:\n        return", "    if out is not None:\n        return"),
        ("    if out is None:\n        return", "    if x is None:\n        return"),
        ("(y, x, create_graph=True, allow_unused=True)", "(y, x, create_graph=True)"),
        ("(y, x, create_graph=True, allow_unused=True)", "(y.detach(), x, create_graph=True, allow_unused=True)"),
        ("(y, x, create_graph=True, allow_unused=True)", "(y, x, retain_graph=True, allow_unused=True)"),
        ("    if out is None:\n        return", "    out = y\n    if out is None:\n        return"),
    ],
)
def test_a_branch_that_may_run_elsewhere_is_not_judged_by_another_one(was: str, now: str) -> None:
    assert was in WITH_BRANCHES
    new = WITH_BRANCHES.replace(was, now, 1)
    never, ran = (
        next(at for at, line in enumerate(new.splitlines(), 1) if line.startswith(start))
        for start in ("        return", "            return")
    )
    assert refused_alike(ORDERS.encode(), new.encode(), never, {ran}) == 0
    known = ORDERS.replace("graph=True)", "graph=True, allow_unused=True)")
    assert refused_alike(known.encode(), WITH_BRANCHES.encode(), NEVER, {RAN}) == 0


TWO_PHASES = """\
import copy, torch

torch.manual_seed(0)
first, last = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.1)

def train(step):
    loss = step(torch.randn(5, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def one(x):
    h = first(x).sigmoid()
    h += 0.1
    return last(h)

def other(x):
    h = first(x).sigmoid()
    h *= first(-x)
    return last(h) - 1

for _ in range(60):
    train(one)
start = copy.deepcopy(last.state_dict())
for _ in range(60):
    train(other)
last.load_state_dict(start)
optimizer.param_groups[0]["lr"] = 0.01
for _ in range(60):
    train(one)
print(last.bias.item())
"""
MENDED = ("h += 0.1", "h = h + 0.1"), ("h *= first(-x)", "h = h * first(-x)")


@pytest.mark.torch
def test_what_never_ran_is_judged_in_runs_to_the_end(script: Scripts) -> None:
    verdict = script(TWO_PHASES).verdict(*MENDED)
    assert "Judged in runs to the end of the script" in verdict.summary
    assert verdict.applicability is Applicability.SAFE


@pytest.mark.torch
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("h = h * first(-x)", "h = h * first(-x).detach()"),
        ("load_state_dict(start)", "load_state_dict(last.state_dict())"),
        ("= 0.01", "= 0.1"),
        ("start = copy.deepcopy(last.state_dict())", "start = last.state_dict()"),
        ("last(h) - 1", "last(h) - 1.01"),
    ],
)
def test_what_never_ran_and_is_another_at_the_end_is_not_known(script: Scripts, old: str, new: str) -> None:
    mended = TWO_PHASES
    for change in MENDED:
        mended = mended.replace(*change)
    verdict = script(TWO_PHASES).verdict((TWO_PHASES, mended.replace(old, new)))
    assert not verdict.effect.keeps_gradients


TENSOR, SEVERAL = "    return h.detach()\n", "    return tuple(one.detach() for one in h)\n"
ASKS = "def cut(h):\n    if isinstance(h, tuple):\n"
CUTS = f"{ASKS}    {SEVERAL}{TENSOR}"


def other_kind(text: str, line: int = 3, ran: int = 4) -> bool:
    """Whether the last line of the function, which ran, speaks for the branch that did not."""
    return by_kind(b"", text.encode(), line, {ran}) == ran


@pytest.mark.parametrize(
    "several",
    [
        "tuple(one.detach() for one in h)", "[one.detach() for one in h]", "tuple([cut(one) for one in h])",
        "tuple(map(cut, h))", "list(map(cut, h))",
    ],
)  # fmt: skip
def test_a_branch_for_another_kind_is_judged_by_the_one_that_ran(several: str) -> None:
    text = f"{ASKS}        return {several}\n{TENSOR}"
    assert other_kind(text)
    assert by_kind(b"", text.encode(), 4, {3}) == (3 if "cut" not in several else 0)
    assert other_kind(text.replace("isinstance(h, tuple)", "type(h) in (list, tuple)"))
    assert other_kind(text.replace("isinstance(h, tuple)", "not torch.is_tensor(h)"))
    held = text.replace("(h)", "(self, h)").replace("cut(one)", "self.cut(one)").replace("map(cut", "map(self.cut")
    assert other_kind(held)


@pytest.mark.parametrize(
    "several",
    [
        "tuple(one for one in h)", "tuple(one.detach() for one in h[:1])", "tuple(one.detach() for one in h if one)",
        "tuple(one.detach() * 2 for one in h)", "tuple(one.detach() for one in other)", "tuple(map(keep, h))",
        "tuple(cut(one, 2) for one in h)", "torch.stack([one.detach() for one in h])", "h", "None",
    ],
)  # fmt: skip
def test_a_branch_that_does_anything_else_to_another_kind_is_not(several: str) -> None:
    assert not other_kind(f"{ASKS}        return {several}\n{TENSOR}")


@pytest.mark.parametrize(
    "test", ["step > 99", "h.dim() > 1", "isinstance(step, tuple)", "isinstance(h, tuple) and LATE"]
)
def test_a_condition_that_asks_for_more_than_a_kind_decides_something(test: str) -> None:
    assert not other_kind(CUTS.replace("isinstance(h, tuple)", test))


def test_a_branch_that_ran_for_some_kinds_alone_says_nothing_of_others() -> None:
    either = "    return h.detach() if torch.is_tensor(h) else h\n"
    assert not other_kind(f"{ASKS}        return h\n{either}")
    assert not other_kind(f"{ASKS}    {SEVERAL}{either}")
    assert other_kind(f"{ASKS}        return [one.detach() if torch.is_tensor(one) else one for one in h]\n{either}")


def test_what_is_none_stays_so() -> None:
    text = "def cut(h):\n    if h is None:\n        return None\n    return h.detach()\n"
    assert other_kind(text)
    assert other_kind(text.replace("return None", "return h"))
    assert not other_kind(text.replace("return None", "return zeros"))
    assert not other_kind(text.replace("is None", "is not None"))


def test_both_branches_have_to_give_one_name_what_they_make() -> None:
    text = "if isinstance(h, tuple):\n    h = tuple(one.detach() for one in h)\nelse:\n    h = h.detach()\n"
    assert other_kind(text, 2)
    assert not other_kind(text.replace("    h = tuple", "    kept = tuple"), 2)
    assert not other_kind(text.replace("else:\n", "else:\n    h = h + 1\n"), 2, 5)


SETS = """\
def put(self, x):
    if type(x) is torch.Tensor:
        self.x = x.to(self.kind)
    else:
        self.x = torch.tensor(x, dtype=self.kind)
"""
HELPS = """\
def made(value, kind):
    if isinstance(value, torch.Tensor):
        return value.to(kind)
    return torch.stack([*value]).to(kind)
""" + SETS.replace("torch.tensor(x, dtype=self.kind)", "made(x, self.kind)")


def test_a_branch_of_a_new_function_may_say_what_the_program_says_for_that_kind() -> None:
    def said(text: str, ran: int = 9) -> int:
        return inlined(SETS.encode(), text.encode(), 3, {ran})

    assert said(HELPS) == 9
    assert not said(HELPS, 4)
    for old, new in (
        ("value.to(kind)", "value.detach().to(kind)"),
        ("isinstance(value, torch.Tensor)", "isinstance(value, float)"),
        ("made(x, self.kind)", "made(x, other)"),
        ("made(x, self.kind)", "made(y, self.kind)"),
        ("self.x = made", "self.y = made"),
    ):
        assert not said(HELPS.replace(old, new, 1)), new
    assert not said(f"{HELPS}other = [made]\n")
    method = HELPS.replace("def made(", "def made(self, ").replace("made(x", "self.made(x")
    assert said(method) == 9
    assert not said(method.replace("value.to(kind)", "value.to(self.other)"))
    assert not said(f"{method}other = net.made\n")


LSTM_TOO = ("for step", f"{CUTS}for step")


@pytest.mark.torch
@pytest.mark.parametrize(
    ("change", "safe"),
    [(("one.detach()", "one.detach()"), True), (("one.detach()", "one"), False), (("in h)", "in h[:1])"), False)],
)
def test_a_helper_for_a_tensor_and_several_is_believed_where_it_does_the_same(
    script: Scripts, change: tuple[str, str], *, safe: bool
) -> None:
    verdict = script(OLD).verdict((LSTM_TOO[0], LSTM_TOO[1].replace(*change)), ("state = h\n", "state = cut(h)\n"))
    assert (verdict.applicability is Applicability.SAFE) is safe
    assert safe or verdict.effect is Effect.UNKNOWN
