"""Tries to deceive the judge: takes something away from right repairs, and lists what `verify` still calls safe.

    python benchmarks/deceits.py [CASES] [--only A,B] [--kinds anchor,lr] [--per-case 2] [--minutes 10] [--scratch DIR]

Works on the folders that `cases.py` reads; for one minute where none is given. A *plant* puts the same new statements
into the failing script and into the accepted repair (a scheduler, a moving average, a zero-initialised adapter, ...); a
*deceit* is the repair with that plant damaged, or with the repair itself damaged. All edits are made on the syntax tree
and name no case. Before a deceit counts, plain torch runs settle that the planted original still fails, that the
planted repair runs, and that the deceit runs and trains otherwise: gradients at every step, final parameters, tensors
of modules.

The table: deceits tried; caught; called safe; called safe where single precision hardly carries the difference (tiny),
or where the difference begins after the steps that were compared (beyond); not tried because they train alike (equal);
planted repairs that were not called safe although the repair itself is (alarms; a repair that merges the backward
calls of a loop is planted otherwise than its original, and may be called so rightly).
"""

from __future__ import annotations

import argparse
import ast
import copy
import itertools
import json
import math
import pickle
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cases import CASES, broken, contents, quiet

from autofix import pipeline
from autofix.core.model import Outcome, Target
from autofix.experiments.client import Probe

OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adamax", "NAdam", "RAdam", "Adadelta", "Rprop")
SAME = 1e-6
"""Relative distance up to which two plain runs are taken to train alike."""
TINY = 2e-5
"""Below this a difference is listed apart: single precision hardly carries it."""

# The plain runs -------------------------------------------------------------------------------------------------------

RECORDER = r"""
import json, os, pickle, signal, sys
import torch, torch._dynamo
from torch.optim import optimizer as O

def listed(t):
    t = t.detach()
    t = t.to_dense() if t.layout != torch.strided else t
    t = torch.view_as_real(t) if t.is_complex() else t
    return t.to(torch.float64).reshape(-1).tolist()

def record(script, out):
    torch.set_num_threads(1)
    order, events, modules = [], [], []
    made, built = O.Optimizer.__init__, torch.nn.Module.__init__
    def init(self, *a, **k):
        made(self, *a, **k)
        order.append(self)
    def module(self, *a, **k):
        built(self, *a, **k)
        modules.append(self)
    O.Optimizer.__init__, torch.nn.Module.__init__ = init, module
    def before(opt, args, kwargs):
        index = next((i for i, o in enumerate(order) if o is opt), -1)
        grads = [None if p.grad is None else listed(p.grad) for g in opt.param_groups for p in g["params"]]
        events.append((index, grads))
    O.register_optimizer_step_pre_hook(before)
    import runpy
    sys.argv, sys.path[0] = [script], os.path.dirname(script)
    error = ""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as e:
        error = "" if e.code in (None, 0) else f"SystemExit {e.code}"
    except BaseException as e:
        error = f"{type(e).__name__}: {e}"
    finals = [[listed(p) for g in o.param_groups for p in g["params"]] for o in order]
    states = []
    for m in modules:
        for own in (m.__dict__.get("_parameters") or {}, m.__dict__.get("_buffers") or {}):
            kept = [t for t in own.values() if t is not None and not torch.nn.parameter.is_lazy(t)]
            states += [listed(t) for t in kept]
    with open(out, "wb") as f:
        pickle.dump({"error": error, "events": events, "finals": finals, "states": states}, f)

for line in sys.stdin:
    script, out = json.loads(line)
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        null = os.open(os.devnull, os.O_RDWR)
        folder = out + ".cwd"
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        sys.dont_write_bytecode = True
        try:
            record(script, out)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    print("done", flush=True)
"""


class Plain:
    """Runs scripts in forks of a process that only imported torch, and keeps what they did."""

    def __init__(self, python: Path, scratch: Path) -> None:
        self._scratch = scratch
        self._number = 0
        (scratch / "recorder.py").write_text(RECORDER)
        self._process = subprocess.Popen(
            [str(python), "-W", "ignore", str(scratch / "recorder.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, script: Path) -> dict[str, Any]:
        """Gradients at each step, final parameters, tensors of modules, and the error if there was one."""
        self._number += 1
        out = self._scratch / f"record{self._number}.pickle"
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the recorder has no pipes")
        self._process.stdin.write(json.dumps([str(script), str(out)]) + "\n")
        self._process.stdin.flush()
        self._process.stdout.readline()
        if not out.exists():
            return {"error": "no record", "events": [], "finals": [], "states": []}
        found: dict[str, Any] = pickle.loads(out.read_bytes())  # noqa: S301
        out.unlink()
        return found

    def close(self) -> None:
        """End the recorder."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


def distance(one: list[float] | None, two: list[float] | None) -> float:
    """How far apart two tensors are, relative to the larger; None is zeros."""
    if one is None or two is None:
        return 0.0 if not any(one or two or ()) else 1.0
    if len(one) != len(two):
        return math.inf
    size = max(math.hypot(*one), math.hypot(*two), 0.0)
    apart = math.dist(one, two)
    if math.isnan(apart):
        return 0.0 if [math.isnan(x) for x in one] == [math.isnan(x) for x in two] else math.inf
    return apart / size if size else 0.0


def departs(repair: dict[str, Any], deceit: dict[str, Any]) -> tuple[str, float]:
    """What the deceit trains otherwise, and by how much; ('', 0.0) if nothing."""
    for index in range(max(len(repair["finals"]), len(deceit["finals"]))):
        one, two = ([g for i, g in run["events"] if i == index] for run in (repair, deceit))
        for step, (a, b) in enumerate(zip(one, two, strict=False)):
            size = max(map(distance, a, b), default=0.0) if len(a) == len(b) else math.inf
            if size > SAME:
                return f"optimizer {index} of {len(repair['finals'])}, gradient at step {step + 1} of {len(one)}", size
        if len(one) != len(two):
            return f"optimizer {index} of {len(repair['finals'])}, {len(two)} steps instead of {len(one)}", math.inf
    for kind in ("finals", "states"):
        if kind == "finals":
            one, two = ([t for group in run["finals"] for t in group] for run in (repair, deceit))
        else:
            one, two = repair["states"], deceit["states"]
        if len(one) != len(two):
            return f"another number of {kind}", math.inf
        size = max(map(distance, one, two), default=0.0)
        if size > SAME:
            return {"finals": "final parameters", "states": "tensors of modules"}[kind], size
    return "", 0.0


# Programs -------------------------------------------------------------------------------------------------------------

Program = dict[str, ast.Module]


def read(path: Path) -> Program:
    """A script, or all scripts of a package folder, as syntax trees."""
    if not path.is_dir():
        return {"main.py": ast.parse(path.read_bytes())}
    return {str(p.relative_to(path)): ast.parse(p.read_bytes()) for p in sorted(path.rglob("*.py"))}


def write(program: Program, folder: Path) -> Path:
    """The program as files in a new folder."""
    for name, tree in program.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n")
    return folder


@dataclass(frozen=True)
class Place:
    """A statement: the list it stands in and the functions around it."""

    file: str
    block: list[ast.stmt]
    statement: ast.stmt
    around: tuple[str, ...]

    def after(self, text: str) -> None:
        """Insert statements behind it."""
        at = next(i for i, s in enumerate(self.block) if s is self.statement)
        self.block[at + 1 : at + 1] = ast.parse(text).body

    def before(self, text: str) -> None:
        """Insert statements ahead of it."""
        at = next(i for i, s in enumerate(self.block) if s is self.statement)
        self.block[at:at] = ast.parse(text).body

    def become(self, text: str) -> None:
        """Put statements in its place."""
        at = next(i for i, s in enumerate(self.block) if s is self.statement)
        self.block[at : at + 1] = ast.parse(text).body or [ast.Pass()]


def places(program: Program) -> Iterator[Place]:
    """Every statement of a program, in order."""

    def inside(file: str, node: ast.AST, around: tuple[str, ...]) -> Iterator[Place]:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            for statement in list(block):
                yield Place(file, block, statement, around)
                named = isinstance(statement, (ast.FunctionDef, ast.ClassDef))
                yield from inside(file, statement, (*around, statement.name) if named else around)
        for handler in getattr(node, "handlers", []):
            yield from inside(file, handler, around)

    for file, tree in program.items():
        yield from inside(file, tree, ())


def called(statement: ast.stmt, method: str) -> ast.Call | None:
    """The call if a statement is `receiver.method(...)`, its value bound or not."""
    value = getattr(statement, "value", None) if isinstance(statement, (ast.Expr, ast.Assign)) else None
    right = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == method
    return value if right else None


def receiver(call: ast.Call) -> str:
    """What a method is called on, as text."""
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def made(program: Program) -> list[Place]:
    """Statements that bind a new optimizer to a name or an attribute."""
    found = []
    for place in places(program):
        s = place.statement
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], (ast.Name, ast.Attribute)):
            name = ast.unparse(s.value.func).rsplit(".", 1)[-1] if isinstance(s.value, ast.Call) else ""
            if name in OPTIMIZERS:
                found.append(place)
    return found


def sees(maker: Place, other: Place) -> bool:
    """Whether a variable made at one place can be read at the other."""
    if maker.file != other.file:
        return False
    target = ast.unparse(maker.statement.targets[0])  # type: ignore[attr-defined]
    if "." in target:
        return maker.around[:-1] == other.around[:-1]
    return other.around[: len(maker.around)] == maker.around


# What is planted, and what the deceit makes of it ---------------------------------------------------------------------


@dataclass(frozen=True)
class Spec:
    """Statements around one optimizer {X}: {P} its parameters, {S} its step, {L} a loss, {H} before new names."""

    make: str = ""
    before_step: str = ""
    step: str = ""
    after_step: str = ""
    before_loss: str = ""
    loss: str = ""
    activation: str = ""
    maker: Callable[[ast.Call], bool] | None = None
    tree: Callable[[Program], bool] | None = None


def plant(program: Program, spec: Spec, which: int, point: int = 0) -> Program | None:
    """The program with `spec` around its `which`-th optimizer, None where it has no place there."""
    program = copy.deepcopy(program)
    if spec.tree is not None:
        return program if spec.tree(program) else None
    makers = made(program)
    if which >= len(makers):
        return None
    maker = makers[which]
    if not isinstance(maker.statement, ast.Assign) or not isinstance(maker.statement.value, ast.Call):
        return None
    if spec.maker is not None and not spec.maker(maker.statement.value):
        return None
    target = ast.unparse(maker.statement.targets[0])
    words = {"X": target, "P": f"{target}.param_groups[0]['params']", "H": target.rpartition(".")[0]}
    words["H"] += "." if words["H"] else ""
    if "self" in words["H"] and words["H"] != "self.":
        return None
    seen = [place for place in places(program) if sees(maker, place)]
    if not _around_steps(spec, seen, target, words) or not _at_losses(spec, seen, words):
        return None
    if spec.activation:
        spots = [place for place in seen if _activation(place)]
        spots.sort(key=lambda place: "forward" not in place.around)
        if point >= len(spots):
            return None
        name = spots[point].statement.targets[0].id  # type: ignore[attr-defined]
        spots[point].after(_fill(spec.activation, words | {"v": name}))
    if spec.make:
        maker.after(_fill(spec.make, words))
    return program


def uses(program: Program) -> tuple[int, int]:
    """How many backward calls and steps a program spells out: a repair that merges some is planted otherwise."""
    statements = [place.statement for place in places(program)]
    return tuple(sum(called(s, word) is not None for s in statements) for word in ("backward", "step"))  # type: ignore[return-value]


def _fill(text: str, words: dict[str, str]) -> str:
    for key, value in words.items():
        text = text.replace("{" + key + "}", value)
    return text


def _around_steps(spec: Spec, seen: list[Place], target: str, words: dict[str, str]) -> bool:
    if not (spec.step or spec.before_step or spec.after_step):
        return True
    steps = [(p, call) for p in seen if (call := called(p.statement, "step")) and receiver(call) == target]
    for place, call in steps:
        if spec.after_step:
            place.after(_fill(spec.after_step, words))
        if spec.before_step:
            place.before(_fill(spec.before_step, words))
        if spec.step:
            place.become(_fill(spec.step, words | {"S": ast.unparse(call)}))
    return bool(steps)


def _at_losses(spec: Spec, seen: list[Place], words: dict[str, str]) -> bool:
    if not (spec.loss or spec.before_loss):
        return True
    calls = [
        (p, call) for p in seen if (call := called(p.statement, "backward")) and isinstance(call.func, ast.Attribute)
    ]
    for place, call in calls:
        attribute = call.func
        if spec.loss and isinstance(attribute, ast.Attribute):
            text = _fill(spec.loss, words | {"L": ast.unparse(attribute.value)})
            attribute.value = ast.parse(text, mode="eval").body
        if spec.before_loss:
            place.before(_fill(spec.before_loss, words))
    return bool(calls)


def _activation(place: Place) -> bool:
    """A statement that binds the result of a call or an expression to one name, where training happens."""
    s = place.statement
    if not isinstance(s, ast.Assign) or len(s.targets) != 1 or not isinstance(s.targets[0], ast.Name):
        return False
    computed = any(isinstance(node, (ast.Call, ast.BinOp)) for node in ast.walk(s.value))
    return computed and bool(place.around) and place.around[-1] != "__init__"


def _set_keyword(name: str, value: Callable[[str], str]) -> Callable[[ast.Call], bool]:
    def change(call: ast.Call) -> bool:
        for keyword in call.keywords:
            if keyword.arg == name:
                keyword.value = ast.parse(value(ast.unparse(keyword.value)), mode="eval").body
                return True
        return False

    return change


_WRITERS = ("copy_", "lerp_", "mul_", "add_", "sub_", "div_", "clamp_", "fill_", "zero_", "load_state_dict", "data")


def _delete_write(number: int) -> Callable[[Program], bool]:
    """Delete the `number`-th statement that writes a tensor outside optimizers."""

    def writes(statement: ast.stmt) -> bool:
        if not isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)):
            return False
        if isinstance(statement, ast.Expr):
            value = statement.value
            return (
                isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
                and (value.func.attr in _WRITERS or "update" in value.func.attr or "ema" in value.func.attr.lower())
            )  # fmt: skip
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(".data" in ast.unparse(t) or isinstance(t, ast.Subscript) for t in targets)

    return _delete(writes, number)


def _delete(wanted: Callable[[ast.stmt], bool], number: int) -> Callable[[Program], bool]:
    def change(program: Program) -> bool:
        found = [place for place in places(program) if wanted(place.statement)]
        if number >= len(found):
            return False
        found[number].become("")
        return True

    return change


def _swap_steps(program: Program) -> bool:
    """Exchange two steps of different optimizers that stand in one block."""
    steps = [
        (p, c) for p in places(program) if (c := called(p.statement, "step")) and not receiver(c).endswith("sched")
    ]
    for (one, a), (two, b) in itertools.pairwise(steps):
        if one.block is two.block and receiver(a) != receiver(b):
            first, second = one.block.index(one.statement), two.block.index(two.statement)
            one.block[first], one.block[second] = two.statement, one.statement
            return True
    return False


def _numbers(names: tuple[str, ...], factor: float) -> Callable[[Program], bool]:
    """Change the first number given to a call of one of `names` (a layer's dropout, a normalisation's momentum)."""

    def change(program: Program) -> bool:
        for tree in program.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and ast.unparse(node.func).rsplit(".", 1)[-1] in names:
                    for value in (*node.args, *(k.value for k in node.keywords)):
                        if isinstance(value, ast.Constant) and isinstance(value.value, float):
                            value.value *= factor
                            return True
        return False

    return change


def _rename_method(old: str, new: str) -> Callable[[Program], bool]:
    def change(program: Program) -> bool:
        for tree in program.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == old:
                    node.func.attr = new
                    return True
        return False

    return change


_EACH = "for extra_s, extra_p in zip({H}extra_kept, {P}):\n    "
_KEEP = "{H}extra_kept = [extra_p.detach().clone() for extra_p in {P}]\n"
_NEAR = "{L} + 0.05 * sum((p - s).pow(2).sum() for p, s in zip({P}, {H}extra_kept))"
_EMA = Spec(make=_KEEP, loss=_NEAR, after_step=_EACH + "extra_s.lerp_(extra_p.detach(), 0.5)")
_HARD = Spec(make=_KEEP, loss=_NEAR, after_step=_EACH + "extra_s.copy_(extra_p.detach())")
_LOOSE = Spec(make=_KEEP, after_step=_EACH + "extra_s.mul_(0.9).add_(extra_p.detach(), alpha=0.1)")
_LAMBDA = "torch.optim.lr_scheduler.LambdaLR({X}, lambda n: 1.0 if n < 2 else 0.5)"
_COUNT = "{H}extra_count = [0]"
_ADAPT = "{v} = {v} + {H}extra_gain * torch.tanh({v})"
_CUT = "{v} = {v} + {H}extra_gain * torch.tanh({v}.detach())"
_ZERO = "{H}extra_gain = torch.nn.Parameter(torch.zeros(1))\n"
_ONE = "{H}extra_gain = torch.nn.Parameter(torch.ones(1))\n"
_JOIN = "{X}.add_param_group({'params': [{H}extra_gain]})\n"
_ONCE = "raise SystemExit(0)"


def _adapter(make: str, *, once: bool = False) -> tuple[Spec, dict[str, Spec]]:
    spec = Spec(make=make, activation=_ADAPT, after_step=_ONCE if once else "")
    return spec, {"detached": replace(spec, activation=_CUT)}


def _term(text: str) -> tuple[Spec, dict[str, Spec]]:
    return Spec(loss="{L} + 1e-5 * " + text), {"dropped": Spec()}


def _kinds() -> dict[str, tuple[Spec, dict[str, Spec]]]:
    """Plants by name, each with its deceits. An empty plant damages the repair as it is."""
    clip = "torch.nn.utils.clip_grad_norm_({P}, 0.05)"
    decay = "for extra_p in {P}:\n    extra_p.data.mul_(0.999)"
    tied = Spec(make="{H}extra_tied = {P}[0]", loss="{L} + 0.05 * {H}extra_tied.pow(2).sum()")
    grads = (
        "torch.autograd.grad({L}, [p for p in {P} if p.requires_grad], allow_unused=True, retain_graph=True, "
        "create_graph=YES)"
    )
    double = "{L} + 0.01 * sum(g.pow(2).sum() for g in " + grads + " if g is not None)"
    anchor = Spec(make=_KEEP, loss=_NEAR)
    sched = Spec(make="{H}extra_sched = " + _LAMBDA, after_step="{H}extra_sched.step()")
    counted = Spec(make=_COUNT)
    plateau = "torch.optim.lr_scheduler.ReduceLROnPlateau({X}, patience=1, factor=0.5)"
    return {
        "lr": (Spec(), {
            "zero": Spec(maker=_set_keyword("lr", lambda _: "0.0")),
            "groups": Spec(make="for extra_g in {X}.param_groups:\n    extra_g['lr'] = 0.0"),
        }),
        "tensor_lr": (Spec(maker=_set_keyword("lr", lambda old: f"torch.tensor({old})")), {
            "zero": Spec(maker=_set_keyword("lr", lambda _: "torch.tensor(0.0)")),
            "percent": Spec(maker=_set_keyword("lr", lambda old: f"torch.tensor(1.01 * {old})")),
        }),
        "writes": (Spec(), {f"deleted{n}": Spec(tree=_delete_write(n)) for n in range(4)}),
        "ema": (_EMA, {"dropped": replace(_EMA, after_step=""),
                       "slower": replace(_EMA, after_step=_EACH + "extra_s.lerp_(extra_p.detach(), 0.4)")}),
        "target": (_HARD, {"dropped": replace(_HARD, after_step="")}),
        "bystander": (_LOOSE, {"dropped": replace(_LOOSE, after_step="")}),
        "anchor": (anchor, {"dropped": replace(anchor, loss=""),
                            "less": replace(anchor, loss=_NEAR.replace("0.05", "0.02"))}),
        "adapter": _adapter(_ZERO + _JOIN),
        "adapter_once": _adapter(_ZERO + _JOIN, once=True),
        "adapter_own": _adapter(_ZERO + "{H}extra_optim = torch.optim.SGD([{H}extra_gain], lr=0.1)", once=True),
        "adapter_init": _adapter(_ONE + _JOIN + "torch.nn.init.zeros_({H}extra_gain)", once=True),
        "adapter_data": _adapter(_ONE + _JOIN + "{H}extra_gain.data.zero_()", once=True),
        "adapter_assign": _adapter(_ONE + _JOIN + "{H}extra_gain.data = torch.zeros(1)", once=True),
        "adapter_late": _adapter(_ONE + _JOIN + "with torch.no_grad():\n    {H}extra_gain.fill_(0.0)"),
        "l2": _term("sum(p.pow(2).sum() for p in {P})"),
        "l1": _term("sum(p.abs().sum() for p in {P})"),
        "mean": _term("{L}.pow(2).mean()"),
        "entropy": _term("sum(-(p.flatten().softmax(0) * p.flatten().log_softmax(0)).sum() for p in {P})"),
        "rebuilt": (Spec(), {"state": Spec(after_step="{X}.state.clear()"),
                             "again": Spec(after_step="{X} = type({X})({X}.param_groups)")}),
        "sched": (sched, {"dropped": replace(sched, after_step=""), "gone": Spec()}),
        "plateau": (Spec(make="{H}extra_sched = " + plateau, after_step="{H}extra_sched.step(1.0)"), {
            "dropped": Spec(),
        }),
        "steps": (counted, {
            "second": replace(counted, step="{H}extra_count[0] += 1\nif {H}extra_count[0] < 2:\n    {S}"),
            "other": replace(counted, step="{H}extra_count[0] += 1\nif {H}extra_count[0] % 2:\n    {S}"),
            "later": replace(counted, step="{H}extra_count[0] += 1\nif {H}extra_count[0] < 4:\n    {S}"),
            "twice": replace(counted, step="{S}\n{S}"),
        }),
        "zero": (Spec(), {
            **{f"deleted{n}": Spec(tree=_delete(lambda s: called(s, "zero_grad") is not None, n)) for n in range(2)},
            "before_loss": Spec(before_loss="{X}.zero_grad()"),
            "before_step": Spec(before_step="{X}.zero_grad()"),
        }),
        "clip": (Spec(before_step=clip), {
            "dropped": Spec(),
            "looser": Spec(before_step=clip.replace("0.05", "0.0501")),
        }),
        "decay": (Spec(after_step=decay), {"dropped": Spec()}),
        "decay_once": (Spec(after_step=f"{decay}\n{_ONCE}"), {"dropped": Spec(after_step=_ONCE)}),
        "added": (Spec(), {"decay": Spec(after_step=decay),
                           "setting": Spec(make="{X}.param_groups[0]['weight_decay'] = 1e-6")}),
        "scaled": (Spec(), {"loss": Spec(loss="({L} * 1.001)"), "little": Spec(loss="({L} * 1.00001)")}),
        "owned": (Spec(), {"popped": Spec(make="{P}.pop()"), "frozen": Spec(make="{P}[-1].requires_grad_(False)")}),
        "layer": (Spec(), {
            "detached": Spec(activation="{v} = {v}.detach()"),
            "partly": Spec(activation="{v} = 0.999 * {v} + 0.001 * {v}.detach()"),
            "sample": Spec(activation="{v} = torch.cat([{v}[:1].detach(), {v}[1:]])"),
        }),
        "double": (Spec(loss=double.replace("YES", "True")), {"constant": Spec(loss=double.replace("YES", "False"))}),
        "dropout": (Spec(activation="{v} = torch.nn.functional.dropout({v}, 0.1)"), {
            "more": Spec(activation="{v} = torch.nn.functional.dropout({v}, 0.11)"),
            "none": Spec(),
        }),
        "layers": (Spec(), {
            "dropout": Spec(tree=_numbers(("Dropout", "Dropout2d", "dropout"), 1.1)),
            "norm": Spec(tree=_numbers(("BatchNorm1d", "BatchNorm2d"), 2.0)),
            "eval": Spec(tree=_rename_method("train", "eval")),
        }),
        "late": (counted, {
            f"after{n}": replace(counted, loss="({L} * (1.0 if {H}extra_count[0] < " + str(n) + " else 0.5))",
                                 after_step="{H}extra_count[0] += 1") for n in (2, 5)
        }),
        "order": (Spec(), {"swapped": Spec(tree=_swap_steps)}),
        "tied": (tied, {"copied": replace(tied, make="{H}extra_tied = {P}[0].detach().clone().requires_grad_()")}),
    }  # fmt: skip


# The trial ------------------------------------------------------------------------------------------------------------


@dataclass
class Count:
    """What became of the deceits of one kind."""

    tried: int = 0
    caught: int = 0
    safe: int = 0
    tiny: int = 0
    beyond: int = 0
    equal: int = 0
    alarms: int = 0


@dataclass
class Trial:
    """Everything that a run of the benchmark holds."""

    probe: Probe
    plain: Plain
    python: Path
    scratch: Path
    count: dict[str, Count] = field(default_factory=dict)
    verdicts: dict[str, tuple[Outcome, str]] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    number: int = 0

    def verify(self, original: Path, edited: Path) -> tuple[Outcome, str]:
        """The judge's word on an edit, and its reason."""
        main = original / "main.py"
        target = Target(main, root=original, python=self.python)
        report = pipeline.verify(target, contents(original, edited), probe=self.probe, progress=quiet)
        verdict = (report.fixes or report.rejected)[0].verdict if report.fixes or report.rejected else None
        guards = ",".join(one.property for one in verdict.findings) if verdict else ""
        return report.outcome, f"{verdict.effect} {guards} {verdict.summary}" if verdict else report.message

    def folder(self, program: Program, name: str) -> Path:
        """A program on disk."""
        return write(program, self.scratch / f"{self.number:04d}_{name}")

    def plainly(self, case: str, accepted: Path, original: Path) -> tuple[Outcome, str]:
        """The word on an accepted edit with nothing planted, once."""
        key = f"{case}/{accepted.name}"
        if key not in self.verdicts:
            self.number += 1
            pair = self.folder(read(original), f"{case}_original"), self.folder(read(accepted), f"{case}_accepted")
            self.verdicts[key] = self.verify(*pair)
            outcome, reason = self.verdicts[key]
            if outcome is not Outcome.SAFE:
                print(f"  {key:52s} accepted edit is {outcome}: {reason[:120]}", flush=True)
        return self.verdicts[key]

    def attempt(self, accepted: Path, kind: str, name: str, where: tuple[int, int]) -> bool:
        """One deceit around the `where[0]`-th optimizer; False if it has no place in this case."""
        case, original = accepted.parent.parent.name, broken(accepted.parent.parent)
        spec, deceits = _kinds()[kind]
        old, new = read(original), read(accepted)
        planted = spec != Spec()
        before, repair, deceit = plant(old, spec, *where), plant(new, spec, *where), plant(new, deceits[name], *where)
        if before is None or repair is None or deceit is None:
            return False
        if planted and uses(before) != uses(repair):
            return False
        self.number += 1
        label = f"{case}_{kind}_{name}"
        programs = {"original": before, "accepted": repair, "deceit": deceit}
        paths = [self.folder(program, f"{label}_{word}") for word, program in programs.items()]
        runs = [self.plain.run(path / "main.py") for path in paths]
        if not runs[0]["error"] or runs[1]["error"] or runs[2]["error"]:
            return False
        count = self.count.setdefault(f"{kind}:{name}", Count())
        if _ONCE in spec.after_step:
            # One step from zeros shows nothing: the plain runs go on to their end.
            longer = [
                plant(new, replace(one, after_step=one.after_step.replace(_ONCE, "")), *where)
                for one in (spec, deceits[name])
            ]
            runs[1:] = [
                self.plain.run(self.folder(program, f"{label}_longer{number}") / "main.py")
                for number, program in enumerate(longer)
                if program is not None
            ]
        what, size = departs(runs[1], runs[2])
        # A moving average that nothing reads is a tensor of no module: its loss cannot be seen from outside.
        if not what and kind != "bystander":
            count.equal += 1
            return False
        if self.plainly(case, accepted, original)[0] is not Outcome.SAFE:
            return False
        count.tried += 1
        outcome, reason = self.verify(paths[0], paths[2])
        flag = ""
        if outcome is Outcome.SAFE:
            tiny = size < TINY and kind != "bystander"
            beyond = _ONCE not in spec.after_step and _first(what) > _compared(reason)
            count.tiny += tiny
            count.beyond += beyond and not tiny
            count.safe += not tiny and not beyond
            flag = "   (tiny)" if tiny else "   (beyond the steps compared)" if beyond else "   !!!! DECEIT CALLED SAFE"
            self.found.append(
                f"{label}/{accepted.name} {where}: {reason}\n"
                f"      trains otherwise: {what} by {size:.3g}\n      {paths[0]}  {paths[2]}"
            )
        else:
            count.caught += 1
        words = f"{accepted.name[:18]:18s} {kind + ':' + name:24s} {outcome:14s} {size:9.2e} {reason[:90]}{flag}"
        print(f"  {case[:22]:22s} {words}", flush=True)
        if planted:
            outcome, reason = self.verify(paths[0], paths[1])
            if outcome is not Outcome.SAFE:
                count.alarms += 1
                print(f"  {'':41s} {kind + ' planted':24s} {outcome:14s} {reason[:160]}   <<<< FALSE ALARM", flush=True)
                self.found.append(f"false alarm {label}/{accepted.name}: {reason}\n      {paths[0]}  {paths[1]}")
        return True


def _first(what: str) -> int:
    """The step from which a deceit trains otherwise, counted from 1."""
    if match := re.search(r"step (\d+)|, (\d+) steps", what):
        return int(match[1]) if match[1] else int(match[2]) + 1
    return 0


def _compared(reason: str) -> int:
    """At how many steps the judge compared."""
    match = re.search(r"at (\d+) step", reason)
    return int(match[1]) if match else 1 << 30


_SAMPLE, _SWEEP = 1.0, 600.0
"""Minutes of a run that was asked for without a folder, and with one."""


def main() -> None:
    """Try deceits until the time is over, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="?", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--per-case", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="when to stop (600; 1 where no CASES are given)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--scratch", type=Path)
    options = parser.parse_args()
    cases = options.cases or CASES
    if not cases.is_dir():
        print(f"left out: there is no folder of cases at {cases}; give one: python benchmarks/deceits.py CASES")
        return
    wanted = tuple(part for part in options.only.split(",") if part)
    folders = [p.resolve() for p in sorted(cases.iterdir()) if (p / "accepted").is_dir()]
    folders = [folder for folder in folders if not wanted or folder.name.startswith(wanted)]
    chosen = [part for part in options.kinds.split(",") if part]
    kinds = {kind: deceits for kind, (_, deceits) in _kinds().items() if not chosen or kind in chosen}
    names = [(kind, name) for kind, deceits in kinds.items() for name in deceits]
    dice = random.Random(options.seed)  # noqa: S311
    minutes = options.minutes or (_SAMPLE if options.cases is None else _SWEEP)
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as temporary, Probe(options.python) as probe:
        scratch = (options.scratch or Path(temporary)).resolve()
        scratch.mkdir(parents=True, exist_ok=True)
        trial = Trial(probe, Plain(options.python, scratch), options.python, scratch)
        for folder in folders:
            listed = sorted((folder / "accepted").iterdir())
            edits = [path for path in listed if path.suffix == ".py" or (path / "main.py").exists()]
            left, tried = options.per_case, list(names)
            dice.shuffle(tried)
            # What was tried least comes first, so that a short run still meets every kind.
            tried.sort(key=lambda pair: trial.count.get(":".join(pair), Count()).tried)
            for kind, name in tried:
                if left <= 0 or time.monotonic() > end:
                    break
                left -= trial.attempt(dice.choice(edits), kind, name, (dice.randrange(2), dice.randrange(4)))
        trial.plain.close()
    _report(trial)


def _report(trial: Trial) -> None:
    columns = ("tried", "caught", "safe", "tiny", "beyond", "equal", "alarms")
    print(f"\n{'deceit':26s}", *(f"{word:>7s}" for word in columns))
    for key in sorted(trial.count):
        c = trial.count[key]
        print(f"{key:26s}", *(f"{getattr(c, word):7d}" for word in columns))
    totals = {word: sum(getattr(c, word) for c in trial.count.values()) for word in columns}
    print(f"{'all':26s}", *(f"{number:7d}" for number in totals.values()))
    for text in trial.found:
        print("  " + text)


if __name__ == "__main__":
    main()
