"""The house rules that a machine can check: who imports whom, what ships, how a rule file is made."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
HOST = sorted((ROOT / "autofix").rglob("*.py"))
PROBE = sorted((ROOT / "autofix" / "probe").rglob("*.py"))
RULES = sorted(path for path in (ROOT / "rules").glob("*.py") if path.name != "__init__.py")
OTHERS = sorted([*(ROOT / "rules").glob("__init__.py"), *(ROOT / "tests").rglob("*.py")])

RULE_FLOOR = {
    *(f"autofix.core.{name}" for name in ("edit", "model")),
    *(f"autofix.search.{name}" for name in ("collecting", "cutting", "rule")),
    *(f"autofix.{name}" for name in ("diagnosis.scenes", "probe.wire", "syntax")),
} | {"libcst"}
HEADINGS = ("## What it does", "## Why autograd fails", "## Fix safety")
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
            rooms = ("autofix", "autofix.diagnosis", "autofix.probe")
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


@pytest.mark.parametrize("path", PROBE, ids=relative)
def test_the_probe_parses_on_the_oldest_python(path: Path) -> None:
    ast.parse(path.read_bytes(), feature_version=(3, 11))


@pytest.mark.parametrize("path", PROBE, ids=relative)
def test_the_probe_names_its_siblings_relatively(path: Path) -> None:
    # It answers to a private name in the user's process, where `autofix` may be the user's own module.
    tree = ast.parse(path.read_bytes())
    absolute = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    roots = {str(name).split(".")[0] for name in (*absolute, *plain)}
    assert roots <= {*sys.stdlib_module_names, "torch"}


@pytest.mark.parametrize("path", [*HOST, *RULES, *OTHERS], ids=relative)
def test_a_module_says_what_it_owns(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_bytes()))
    assert docstring
    assert docstring.splitlines()[0].strip()


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
    assert large <= {"faults", "finders", "properties"}


def registered_rules() -> list[Any]:
    try:
        registry = importlib.import_module("autofix.search.registry")
    except ModuleNotFoundError:
        return []
    return list(registry.rules())


REGISTERED = registered_rules()


def class_of(rule: Any) -> type:
    return rule if isinstance(rule, type) else type(rule)


def name_of(rule: Any) -> str:
    return str(rule.name)


def file_of(rule: Any) -> str:
    return class_of(rule).__module__.rpartition(".")[2]


def test_every_rule_file_is_found() -> None:
    assert {path.stem for path in RULES} == {file_of(rule) for rule in REGISTERED}


@pytest.mark.parametrize("rule", REGISTERED, ids=name_of)
def test_a_rule_has_one_name_in_three_spellings(rule: Any) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert file_of(rule) == rule.name.replace("-", "_")
    assert class_of(rule).__name__ == "".join(word.capitalize() for word in rule.name.split("-"))


@pytest.mark.parametrize("rule", REGISTERED, ids=name_of)
def test_a_rule_has_a_code_and_complete_docs(rule: Any) -> None:
    assert re.fullmatch(r"AG[1-9]\d\d", rule.code)
    docstring = sys.modules[class_of(rule).__module__].__doc__ or ""
    places = [docstring.find(f"\n{heading}\n") for heading in HEADINGS]
    assert -1 not in places
    assert places == sorted(places)


def test_rule_codes_are_unique() -> None:
    codes = [rule.code for rule in REGISTERED]
    assert sorted(codes) == sorted(set(codes))


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
