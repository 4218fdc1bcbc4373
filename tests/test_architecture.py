"""The house rules that a machine can check: who imports whom, what ships, how a rule file is made."""

from __future__ import annotations

import ast
import inspect
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autofix.audit.fault import faults
from autofix.check import check
from autofix.search import registry
from autofix.verdict.property import properties

ROOT = Path(__file__).resolve().parent.parent
HOST = sorted((ROOT / "autofix").rglob("*.py"))
PROBE = sorted((ROOT / "autofix" / "probe").rglob("*.py"))
RULES = sorted(path for path in (ROOT / "rules").glob("*.py") if path.name != "__init__.py")
OTHERS = sorted([*(ROOT / "rules").glob("__init__.py"), *(ROOT / "tests").rglob("*.py")])

RULE_FLOOR = {
    *(f"autofix.core.{name}" for name in ("edit", "model")),
    *(
        f"autofix.search.{name}"
        for name in ("anew", "asleep", "attributes", "collecting", "cutting", "early_use", "handed")
    ),
    *(
        f"autofix.search.{name}"
        for name in ("keeping", "leaves", "owning", "postponing", "records", "repeating", "rule")
    ),
    *(f"autofix.search.{name}" for name in ("spelled", "targets", "uncached")),
    *(f"autofix.{name}" for name in ("diagnosis.scenes", "diagnosis.unread", "probe.wire", "syntax")),
} | {"libcst"}
SLOW_TO_IMPORT = {"libcst", "nbformat", "numpy", "pygls", "ray", "torch"}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported_modules(rule_file: Path) -> set[str]:
    """Every module that a rule names in an import; `from autofix.probe import b` counts as `autofix.probe.b`."""
    found = set()
    for node in ast.walk(ast.parse(rule_file.read_bytes())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            rooms = ("autofix", "autofix.diagnosis", "autofix.probe", "autofix.search")
            found.update(f"{module}.{alias.name}" if module in rooms else module for alias in node.names)
    return found


def run_python(code: str, *, cwd: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_import_contracts_hold() -> None:
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(is_debug_mode=True))"
    run_python(code, cwd=ROOT)


def test_the_command_line_starts_light(tmp_path: Path) -> None:
    code = "import autofix.cli, json, sys; print(json.dumps([*sys.modules]))"
    loaded = json.loads(run_python(code, cwd=tmp_path))
    heavy = {name for name in loaded if name.split(".")[0] in SLOW_TO_IMPORT}
    assert not heavy
    assert not [name for name in loaded if name.startswith("autofix.rules.")]


def test_the_probe_parses_on_the_oldest_python() -> None:
    for path in PROBE:
        ast.parse(path.read_bytes(), path.name, feature_version=(3, 11))


def test_the_probe_names_its_siblings_relatively() -> None:
    # It answers to a private name in the user's process, where `autofix` may be the user's own module.
    known = {*sys.stdlib_module_names, "torch"}
    assert not [(relative(path), strange) for path in PROBE if (strange := _roots(path) - known)]


def _roots(path: Path) -> set[str]:
    """The packages that a module names from the top."""
    nodes = [*ast.walk(ast.parse(path.read_bytes()))]
    absolute = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {name.split(".")[0] for name in (*absolute, *plain)}


def test_a_module_says_what_it_owns() -> None:
    silent = [path for path in (*HOST, *RULES, *OTHERS) if not ast.get_docstring(ast.parse(path.read_bytes()))]
    assert not silent


@pytest.mark.parametrize("path", RULES, ids=relative)
def test_a_rule_imports_only_what_lies_below_it(path: Path) -> None:
    names = imported_modules(path)
    strange = {name for name in names if not any(name == floor or name.startswith(f"{floor}.") for floor in RULE_FLOOR)}
    assert {name for name in strange if name.split(".")[0] not in sys.stdlib_module_names} == set()


def test_rooms_are_small_enough_to_be_looked_over() -> None:
    """A module that does not fit finds a room below the first floor, or makes one."""
    assert len([*(ROOT / "autofix").glob("*.py")]) <= 8
    assert len([*(ROOT / "autofix" / "probe").glob("*.py")]) <= 14
    large = {path.parent.name for path in HOST if len([*path.parent.glob("*.py")]) > 20}
    assert large <= {"faults", "finders", "laws", "properties"}


KINDS = {
    "rules": (registry.rules(), ["## What it does", "## Why autograd fails", "## Fix safety"]),
    "autofix/check/finders": (check.finders(), ["## What it does", "## Why it matters", "## What it cannot tell"]),
    "autofix/audit/faults": (faults(), ["## What it finds", "## Why it matters", "## What it cannot tell"]),
    "autofix/verdict/properties": (properties(), ["## What it finds", "## Why it matters"]),
}
"""What is found without registration, one a file, and the headings of its page."""


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_in_a_file_is_found_under_one_name_in_three_spellings_and_has_a_page(kind: str) -> None:
    found, headings = KINDS[kind]
    names = {(type(one).__module__.rpartition(".")[2], one.name, type(one).__name__) for one in found}
    files = [path.stem for path in (ROOT / kind).glob("*.py") if path.stem != "__init__"]
    assert names == {(file, file.replace("_", "-"), file.title().replace("_", "")) for file in files}
    for one in found:
        assert re.findall(r"^## .*", inspect.getdoc(inspect.getmodule(type(one))) or "", re.MULTILINE) == headings


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"autofix/verdict/properties"}))
def test_each_has_a_code_of_its_own(kind: str) -> None:
    codes = [one.code for one in KINDS[kind][0]]
    assert len(codes) == len({*codes})
    assert all(re.fullmatch(r"AG[1-9]\d\d", code) for code in codes)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names inside a wheel, built from a copy so that the tree stays clean."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("autofix", "rules"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, tree)
    code = "import setuptools.build_meta as b; print(b.build_wheel('.'))"
    built = run_python(code, cwd=tree).splitlines()[-1]
    return zipfile.ZipFile(tree / built).namelist()


def test_the_wheel_holds_every_module(wheel: list[str]) -> None:
    modules = {relative(path) for path in HOST}
    rules = {f"autofix/rules/{path.name}" for path in (ROOT / "rules").glob("*.py")}
    missing = (modules | rules | {"autofix/py.typed"}) - set(wheel)
    assert not missing, "a new package is listed in pyproject.toml under [tool.setuptools]"


def test_the_wheel_adds_one_name_to_site_packages(wheel: list[str]) -> None:
    assert {name.split("/")[0] for name in wheel if ".dist-info/" not in name} == {"autofix"}
