"""A release: one version, what is shipped, the files around it; and, set apart, that people can install it."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from schemas import WORKFLOW, schema

import autofix

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE = ROOT / "docs" / "packaging" / "conda" / "recipe.yaml"
DIST = ROOT / "build" / "dist"
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
BROKEN = ROOT / "fixtures" / "first" / "two_losses_one_output" / "broken.py"
DOWNLOADED, INSTALLED = 10e6, 40e6
"""At most so many bytes are fetched for autofix and what it needs, and lie on the disk then, without torch."""


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def test_the_version_stands_in_one_place() -> None:
    assert "version" in PROJECT["dynamic"]
    assert read(RECIPE)["context"]["version"] == autofix.__version__


def test_the_changelog_has_a_heading_for_what_is_not_released() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    recipe = read(RECIPE)
    needed = [line.replace(" ", "") for line in recipe["requirements"]["run"] if not line.startswith("python ")]
    assert sorted(needed) == sorted(PROJECT["dependencies"])
    assert [f"{name} = {what}" for name, what in PROJECT["scripts"].items()] == recipe["build"]["python"][
        "entry_points"
    ]
    assert PROJECT["requires-python"] == f">={read(RECIPE.with_name('variants.yaml'))['python_min'][0]}"


def test_the_release_workflow_is_one() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    jsonschema.validate(yaml.load(text, yaml.BaseLoader), schema(WORKFLOW))  # noqa: S506  as GitHub reads `on`
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"make ([a-z]+)", text)) <= targets


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_for_an_issue_asks_for_the_version_and_the_report(form: Path) -> None:
    jsonschema.validate(read(form), schema("github-issue-forms.json"))
    asked = json.dumps(read(form))
    assert "autofix --version" in asked
    assert "--output-format json" in asked


def test_the_container_file_copies_what_there_is() -> None:
    text = (ROOT / "docs" / "packaging" / "Containerfile").read_text("utf-8")
    copied = [name for line in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE) for name in line.split()]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    extras = re.search(r"'\.\[(.+)\]'", text)
    assert extras is not None
    assert set(extras[1].split(",")) <= PROJECT["optional-dependencies"].keys()


# --- what `make dist` has built, installed ------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel() -> Path:
    (found,) = DIST.glob(f"autofix-{autofix.__version__}-*.whl")
    return found


@pytest.fixture(scope="module")
def sdist() -> Path:
    return DIST / f"autofix-{autofix.__version__}.tar.gz"


def run(*words: str | Path, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    done = subprocess.run(words, env=kept | variables, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout


def held(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


@pytest.mark.apart("release")
def test_the_sdist_holds_what_the_wheel_is_made_of_and_no_tests(sdist: Path, wheel: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"} <= names
    assert not any(name.startswith("tests") for name in names)
    modules = {name.replace("autofix/rules/", "rules/") for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in modules if ".dist-info/" not in name} <= names


@pytest.mark.apart("release")
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_installs_into_a_fresh_environment_and_repairs(
    kind: str, tmp_path: Path, python: Path, request: pytest.FixtureRequest
) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    binaries = tmp_path / "env" / "bin"
    (site,) = (tmp_path / "env" / "lib").glob("python3*/site-packages")
    before = held(site)
    shipped = request.getfixturevalue(kind)
    run(binaries / "pip", "wheel", "--quiet", "--wheel-dir", tmp_path / "wheels", shipped)
    run(binaries / "pip", "install", "--quiet", "--no-index", "--find-links", tmp_path / "wheels", "autofix")
    assert f"autofix {autofix.__version__}" in run(binaries / "autofix", "--version")
    report = json.loads(run(binaries / "autofix", "fix", "--python", python, "--output-format", "json", BROKEN))
    assert report["fixes"][0]["applicability"] == "safe"
    assert held(tmp_path / "wheels") < DOWNLOADED
    assert held(site) - before < INSTALLED


@pytest.mark.apart("release")
def test_pipx_installs_it(wheel: Path, tmp_path: Path, python: Path) -> None:
    homes = {"PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin"), "USE_EMOJI": "0"}
    run(sys.executable, "-m", "pipx", "install", f"{wheel}[mcp,lsp]", **homes)
    command = tmp_path / "bin" / "autofix"
    assert "(safe)" in run(command, "fix", "--python", python, BROKEN)
    assert "AG201" in run(command, "rules")


@pytest.mark.apart("release")
def test_the_conda_recipe_renders() -> None:
    rattler = importlib.import_module("rattler_build")
    variants = rattler.VariantConfig({"python_min": read(RECIPE.with_name("variants.yaml"))["python_min"]})
    (made,) = rattler.Stage0Recipe.from_file(str(RECIPE)).render(variants)
    assert made.recipe.to_dict()["package"] == {"name": "autofix", "version": autofix.__version__}
