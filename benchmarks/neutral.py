"""A judge of repaired scripts that does not know how they were repaired, and shares no code with autofix.

    python benchmarks/neutral.py CASE CANDIDATE        judges a script, or a folder with main.py
    python benchmarks/neutral.py --selftest FOLDER     failing scripts fail, accepted pass, wrong are turned down;
                                                       scripts in FOLDER/healthy run to the end

It prints one line of JSON (case, verdict, matched, detail) and exits with 0 only for `pass`. A candidate passes if it
ends with status 0 and agrees with one of the case's accepted versions: each optimizer, in the order of their making,
used the same gradients at each of its steps (for a step with a closure: after each call of the closure), its parameters
ended alike, and standard output shows the same numbers. No gradient counts as a gradient of zeros; a gradient that was
cleared before a step is never seen; how the steps of two optimizers follow each other does not matter. A right
repair that draws other random numbers, or that trains as right but is not listed, is judged wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import pickle
import re
import runpy
import sys
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

RELATIVE, ABSOLUTE = 1e-4, 1e-6
PRINTED = 2e-6
"""Six printed decimals may differ by one unit in the last place."""
SECONDS = 60.0
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?|nan|inf)(?![\w.])")


Gradients = list[list[float] | None]
"""Per parameter of an optimizer: its gradient, None if there was none."""


@dataclass
class Witness:
    """What one run of a script did."""

    error: str | None = None
    """Why it did not end with status 0; None if it did."""
    steps: list[list[Gradients]] = field(default_factory=list)
    """Per optimizer, per step (or call of a closure)."""
    finals: list[list[list[float]]] = field(default_factory=list)
    """Per optimizer, per parameter: its value when the script ended."""
    numbers: list[float] = field(default_factory=list)
    """The numbers on standard output."""


def entry(path: Path) -> Path:
    """The script to run of a file or a folder."""
    return path / "main.py" if path.is_dir() else path


def broken(case: Path) -> Path:
    """The failing version."""
    return case / "broken.py" if (case / "broken.py").exists() else case / "broken"


def versions(case: Path, kind: str) -> list[Path]:
    """The edited versions of one kind, in order; a fixture calls the accepted ones fixed."""
    folder = case / kind if (case / kind).exists() or kind != "accepted" else case / "fixed"
    return sorted(p for p in folder.glob("*") if p.suffix == ".py" or (p / "main.py").exists())


# The run --------------------------------------------------------------------------------------------------------------


def flat(tensor: Any) -> list[float]:
    """A copy of a tensor's numbers."""
    dense = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    return [float(x) for x in dense.double().reshape(-1).tolist()]


def owned(optimizer: Any) -> list[Any]:
    """The parameters that an optimizer steps on."""
    return [p for group in optimizer.param_groups for p in group["params"]]


def watch() -> tuple[Witness, list[Any]]:
    """Makes every optimizer made from now on leave its gradients in the returned record, and itself in the list."""
    from torch.optim import optimizer as optimizers  # noqa: PLC0415 - only the process that runs the script needs torch

    seen = Witness()
    known: list[Any] = []
    make = optimizers.Optimizer.__init__

    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        known.append(self)
        seen.steps.append([])

    def record(optimizer: Any) -> None:
        place = next(i for i, other in enumerate(known) if other is optimizer)
        seen.steps[place].append([None if p.grad is None else flat(p.grad) for p in owned(optimizer)])

    def before(optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = [a for a in args if a is not optimizer]
        closure = kwargs.get("closure", given[0] if given else None)
        if closure is None:
            record(optimizer)
            return None

        def watched() -> Any:
            loss = closure()
            record(optimizer)
            return loss

        return ((optimizer, watched) if len(given) < len(args) else (watched,)), {}

    optimizers.Optimizer.__init__ = made
    optimizers.register_optimizer_step_pre_hook(before)
    return seen, known


def run(script: Path, out: Path) -> None:
    """Runs a script in this process, as `python script` would, and leaves its witness in a file."""
    import torch  # noqa: PLC0415 - see above

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True
    sys.argv = [str(script)]
    sys.path[0] = str(script.parent)
    seen, optimizers = watch()
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        seen.error = None if end.code in {None, 0} else f"SystemExit: {end.code}"
    except BaseException as died:  # noqa: BLE001 - whatever the script raises is the answer
        traceback.print_exc()
        seen.error = f"{type(died).__name__}: {died}"
    seen.finals = [[flat(p) for p in owned(optimizer)] for optimizer in optimizers]
    sys.stdout.flush()
    out.write_bytes(pickle.dumps(seen))


def child(script: Path, folder: Path) -> None:
    """Runs a script in a forked process, its output in a file."""
    handle = os.open(folder / "output", os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(handle, 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.chdir(folder)
    run(script, folder / "witness")


def forked(script: Path) -> Witness:
    """The witness of a script that runs in a fork of this process, which has imported torch once for all of them."""
    import torch  # noqa: PLC0415 - see above
    import torch._dynamo  # noqa: PLC0415 - what the first optimizer imports

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        process = get_context("fork").Process(target=child, args=(entry(script).resolve(), Path(name)))
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
            return Witness(error="timeout")
        return read(Path(name))


def read(folder: Path) -> Witness:
    """The witness that a run left, with the numbers that it printed."""
    if not (folder / "witness").exists():
        return Witness(error="the interpreter died")
    seen: Witness = pickle.loads((folder / "witness").read_bytes())  # noqa: S301 - written by our own child
    seen.numbers = [float(n) for n in NUMBER.findall((folder / "output").read_text(errors="replace"))]
    return seen


# The decision ---------------------------------------------------------------------------------------------------------


def near(a: float, b: float, absolute: float = ABSOLUTE) -> bool:
    """Whether two numbers agree."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= absolute + RELATIVE * max(abs(a), abs(b))


def alike(a: list[float] | None, b: list[float] | None) -> bool:
    """Whether two gradients or values agree; None is as good as zeros."""
    if a is None or b is None:
        return all(abs(x) <= ABSOLUTE for x in (a or b or []))
    return len(a) == len(b) and all(map(near, a, b))


def difference(candidate: Witness, accepted: Witness) -> str | None:
    """What differs first, or None."""
    if len(candidate.steps) != len(accepted.steps):
        return f"{len(candidate.steps)} optimizers instead of {len(accepted.steps)}"
    for number, (ours, theirs) in enumerate(zip(candidate.steps, accepted.steps, strict=True)):
        found = differing_steps(ours, theirs)
        if found is None:
            ends = zip(candidate.finals[number], accepted.finals[number], strict=True)
            found = next(
                (f"parameter {i} ends with another value" for i, (a, b) in enumerate(ends) if not alike(a, b)), None
            )
        if found is not None:
            return f"optimizer {number}: {found}"
    if len(candidate.numbers) != len(accepted.numbers):
        return f"{len(candidate.numbers)} numbers printed instead of {len(accepted.numbers)}"
    for place, (a, b) in enumerate(zip(candidate.numbers, accepted.numbers, strict=True)):
        if not near(a, b, PRINTED):
            return f"printed number {place} is {a}, not {b}"
    return None


def differing_steps(ours: list[Gradients], theirs: list[Gradients]) -> str | None:
    """What differs first in the gradients that one optimizer used, or None."""
    for step, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if len(mine) != len(other):
            return f"owns {len(mine)} parameters instead of {len(other)}"
        for place, (a, b) in enumerate(zip(mine, other, strict=True)):
            if not alike(a, b):
                return f"gradient of parameter {place} at step {step}: {norm(a)}, not {norm(b)}"
    return None if len(ours) == len(theirs) else f"steps {len(ours)} times, not {len(theirs)}"


def norm(values: list[float] | None) -> str:
    """A gradient in one word."""
    return "none" if values is None else f"norm {math.sqrt(sum(v * v for v in values)):.6g}"


def verdict(candidate: Witness, accepted: dict[str, Witness]) -> tuple[str, str | None, str]:
    """Verdict, the accepted version that it matched, and what differed from the others."""
    if candidate.error is not None:
        return ("timeout" if candidate.error == "timeout" else "crash"), None, candidate.error[:400]
    differences = {name: difference(candidate, witness) for name, witness in accepted.items()}
    matched = next((name for name, found in differences.items() if found is None), None)
    if matched is not None:
        return "pass", matched, ""
    return "wrong_gradients", None, "; ".join(f"{name}: {found}" for name, found in differences.items())[:600]


# The doors ------------------------------------------------------------------------------------------------------------


@cache
def reference(path: Path) -> Witness:
    """An accepted version's witness."""
    return forked(path)


def judge(case: Path, candidate: Path) -> dict[str, str | None]:
    """The line that is printed for one candidate."""
    accepted = {path.stem: reference(path) for path in versions(case, "accepted")}
    word, matched, detail = verdict(forked(candidate), accepted)
    return {"case": case.name, "verdict": word, "matched": matched, "detail": detail}


def faults(case: Path) -> list[str]:
    """What is wrong with a case itself."""
    meta = json.loads((case / "meta.json").read_text())
    found = []
    first = forked(broken(case))
    if first.error is None or meta["error"] not in first.error:
        found.append(f"the failing version ends with {first.error!r}")
    accepted = {path.stem: reference(path) for path in versions(case, "accepted")}
    wrong = {path.stem: forked(path) for path in versions(case, "wrong")}
    if not accepted or not wrong:
        found.append("accepted or wrong versions are missing")
    for name, witness in accepted.items():
        if witness.error is not None:
            found.append(f"accepted/{name} dies: {witness.error[:200]}")
        elif not any(witness.steps) and not witness.numbers:
            found.append(f"accepted/{name} neither steps nor prints a number")
    for name, witness in wrong.items():
        word, matched, detail = verdict(witness, accepted)
        if word == "pass":
            found.append(f"wrong/{name} trains as accepted/{matched}")
        elif (word == "crash") != name.endswith("_crash"):
            found.append(f"wrong/{name}: {word} {detail[:200]}")
    return found


def selftest(folder: Path, only: tuple[str, ...]) -> bool:
    """Prints what is wrong with the cases of a folder; whether all are right."""
    cases = [
        p for p in sorted(folder.iterdir()) if (p / "meta.json").exists() and (not only or p.name.startswith(only))
    ]
    bad = 0
    for case in cases:
        found = faults(case)
        bad += bool(found)
        for line in itertools.chain([f"FAIL {case.name}"] if found else [], (f"     {fault}" for fault in found)):
            print(line, flush=True)
        reference.cache_clear()
    print(f"selftest: {len(cases) - bad} of {len(cases)} cases are right")
    healthy = [p for p in sorted((folder / "healthy").glob("*.py")) if not only or p.name.startswith(only)]
    ill = {path.name: error for path in healthy if (error := forked(path).error) is not None}
    for name, error in ill.items():
        print(f"FAIL healthy/{name}: {error}")
    return not bad and not ill


def main() -> None:
    """Judge one candidate, or a folder of cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--selftest", action="store_true")
    parser.add_argument("--only", default="", help="with --selftest: beginnings of names, separated by commas")
    options = parser.parse_args()
    if options.selftest:
        only = tuple(part for part in options.only.split(",") if part)
        right = [selftest(folder, only) for folder in options.paths]
        sys.exit(not all(right))
    if len(options.paths) != 2:  # noqa: PLR2004 - a case and a candidate
        parser.error("give a CASE and a CANDIDATE")
    answer = judge(options.paths[0].resolve(), options.paths[1])
    print(json.dumps(answer))
    sys.exit(answer["verdict"] != "pass")


if __name__ == "__main__":
    main()
