"""Checking without running: every finder on its own examples, which files are read, what silences a finding, output."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from schemas import SARIF, schema

from autofix import cli
from autofix.check import baseline, check, walk
from autofix.check.finder import Finder
from autofix.core.kinds import MARK
from autofix.syntax.source import SourceError
from autofix.syntax.survey import survey

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
FINDERS = check.finders()
GIT = shutil.which("git") or ""

LEAK = """\
import torch

def train(model, batches, opt):
    total = 0
    for x in batches:
        loss = model(x).mean()
        loss.backward()
        opt.step()
        total += loss
    return total
"""
LEAK_LINE = LEAK.splitlines().index("        total += loss") + 1


def name_of(finder: Finder) -> str:
    return finder.name


def lines_found(source: str, finder: Finder) -> list[int]:
    return [found.line for found in check.check_bytes(Path("x.py"), source.encode(), [finder])]


def marked(source: str) -> list[int]:
    return [number for number, line in enumerate(source.splitlines(), start=1) if line.endswith(MARK)]


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    status = cli.main(["check", *map(str, words)])
    return status, *capsys.readouterr()


# --- finders ---------------------------------------------------------------------------------


@pytest.mark.parametrize("finder", FINDERS, ids=name_of)
def test_a_finder_finds_the_marked_lines_of_its_examples(finder: Finder) -> None:
    assert finder.finds
    for example in finder.finds:
        assert marked(example)
        assert lines_found(example, finder) == marked(example)


@pytest.mark.parametrize("finder", FINDERS, ids=name_of)
def test_a_finder_passes_over_what_looks_alike(finder: Finder) -> None:
    assert len(finder.passes) >= 2
    for example in finder.passes:
        assert lines_found(example, finder) == []


@pytest.mark.parametrize("finder", FINDERS, ids=name_of)
def test_every_finder_reads_every_example(finder: Finder) -> None:
    for example in (*finder.finds, *finder.passes):
        ast.parse(example)
        for other in FINDERS:
            check.check_bytes(Path("x.py"), example.encode(), [other])


def test_a_finder_with_a_rules_code_is_about_that_rule() -> None:
    from autofix.search import registry  # noqa: PLC0415  the rules are not needed for a check

    rules = {rule.code: rule.name for rule in registry.rules()}
    for finder in FINDERS:
        assert rules.get(finder.code, finder.name) == finder.name


def test_nothing_is_found_in_what_is_fixed() -> None:
    fixed = [path for path in FIXTURES.rglob("*.py") if {"fixed", "fixed.py"} & set(path.relative_to(FIXTURES).parts)]
    assert fixed
    assert [found[:2] for found in check.check(fixed, FINDERS, jobs=1).findings] == []


def test_the_classic_failures_are_found_without_a_run() -> None:
    broken = [FIXTURES / "first" / name / "broken.py" for name in ("manual_sgd", "two_losses_one_output")]
    assert {found.code for found in check.check(broken, FINDERS, jobs=1).findings} == {"AG201", "AG301"}


# --- facts -----------------------------------------------------------------------------------


def test_arguments_come_before_their_call_and_values_before_their_name() -> None:
    source = "a = f(g(x))\n"
    events = survey(ast.parse(source), source.encode()).top.events
    assert [event.name for event in events] == ["g", "f", "a"]


def test_with_opens_no_block_and_no_grad_is_quiet() -> None:
    source = "import torch\nwith torch.no_grad():\n    a = 1\nb = 2\n"
    top = survey(ast.parse(source), source.encode()).top
    quiet, loud = top.binds["a"][0], top.binds["b"][0]
    assert quiet.block is loud.block
    assert (quiet.quiet, loud.quiet) == (True, False)


@pytest.mark.parametrize(
    ("source", "how"),
    [
        ("h = 1", "="),
        ("h, c = f()", "unpacked"),
        ("h, c = 1, 2", "="),
        ("h += 1", "augmented"),
        ("h[0] = 1", "item"),
        ("h[0] += 1", "item"),
        ("for h in x: pass", "other"),
        ("with x as h: pass", "other"),
        ("(h := 1)", "="),
        ("h: int = 1", "="),
    ],
)
def test_a_binding_says_how(source: str, how: str) -> None:
    assert survey(ast.parse(source), source.encode()).top.binds["h"][0].how == how


def test_every_kind_of_statement_is_walked() -> None:
    path = Path(ast.__file__).parent / "test" / "test_grammar.py"
    data = path.read_bytes() if path.exists() else Path(ast.__file__).read_bytes()
    assert survey(ast.parse(data), data).top.events


# --- plays -----------------------------------------------------------------------------------

CARRIED = """\
import torch
from net import Net

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(5, 4, 2):
    loss = net(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
NET = """\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.state = torch.nn.Linear(2, 3), torch.zeros(4, 3)

    def forward(self, x):
        self.state = 0.5 * self.state + self.fc(x).tanh()
        return self.state
"""


def project_of(folder: Path, net: str) -> Path:
    (folder / "net.py").write_text(net)
    (folder / "train.py").write_text(CARRIED)
    return folder / "train.py"


def test_a_play_follows_calls_into_another_file(tmp_path: Path) -> None:
    (found,) = check.check_bytes(project_of(tmp_path, NET), CARRIED.encode(), FINDERS)
    assert (Path(found.path).name, found.line, found.code) == ("net.py", 9, "AG203")
    assert [(Path(note.path).name, note.line) for note in found.notes] == [("train.py", 7), ("train.py", 9)]
    assert Path(found.script).name == "train.py"


def test_a_comment_in_the_other_file_silences_it(tmp_path: Path) -> None:
    net = NET.replace(".tanh()", ".tanh()  # autofix: ignore[AG203]")
    assert check.check_bytes(project_of(tmp_path, net), CARRIED.encode(), FINDERS) == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("self.state + ", "self.state.detach() + "), ("self.state = 0.5 * self.state + ", "self.state = ")],
)
def test_what_is_repaired_in_the_other_file_is_silent(tmp_path: Path, wrong: str, right: str) -> None:
    net = NET.replace(wrong, right)
    assert net != NET
    assert check.check_bytes(project_of(tmp_path, net), CARRIED.encode(), FINDERS) == []


def test_a_finding_of_two_files_is_told_once(tmp_path: Path) -> None:
    script = project_of(tmp_path, NET)
    (tmp_path / "again.py").write_text(CARRIED)
    files = [script, tmp_path / "again.py", tmp_path / "net.py"]
    assert [found.code for found in check.check(files, FINDERS, jobs=1).findings] == ["AG203"]


MERGED = """\
import torch

def merge(layer):
    w = torch.ones(2, requires_grad=True)
    w.add_(layer)
"""
UNUSED = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.extra = nn.Linear(2, 2), None
        self.second = nn.Linear(2, 2)

    def forward(self, x):
        return self.first(x)
"""


@pytest.mark.parametrize(
    ("file", "other", "left"),
    [
        (MERGED, "import torch\nfrom mine import merge\nmerge(torch.zeros(2))\n", ["AG301"]),
        (MERGED, "import torch\nfrom mine import merge\nwith torch.no_grad():\n    merge(torch.zeros(2))\n", []),
        (MERGED, "import torch\nfrom mine import merge\n", ["AG301"]),
        (UNUSED, "import torch\nfrom mine import Net\nnet = Net()\nnet.second(net(torch.ones(2)))\n", []),
        (UNUSED, "import torch\nfrom mine import Net\nnet = Net()\nnet.second = None\n", ["AG509"]),
    ],
)
def test_another_file_says_how_a_function_is_called_and_what_is_used(
    file: str, other: str, left: list[str], tmp_path: Path
) -> None:
    files = [tmp_path / "mine.py", tmp_path / "main.py"]
    for path, text in zip(files, (file, other), strict=True):
        path.write_text(text)
    assert [one.code for one in check.check(files, FINDERS, jobs=1).findings] == left


@pytest.mark.parametrize(
    ("condition", "lines"),
    [("flag", [8]), ("not flag", []), ("True", [8]), ("False", [])],
)
def test_a_condition_that_nobody_can_decide_is_taken(condition: str, lines: list[int]) -> None:
    source = f"""\
import torch

def train(flag, x):
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    loss = net(x).mean()
    if {condition}:
        loss.backward()
    loss.backward()
"""
    found = check.check_bytes(Path("x.py"), source.encode(), FINDERS)
    assert [one.line for one in found] == lines


def test_a_script_that_never_ends_is_played_for_a_while() -> None:
    source = "import torch\ndef f(x):\n    return f(x) + f(x)\nwhile True:\n    f(torch.zeros(1)).backward()\n"
    assert check.check_bytes(Path("x.py"), source.encode(), FINDERS) == []


def test_files_that_import_each_other_are_played(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nfrom b import g\ndef f(x):\n    return g(x)\nf(1)\nx.backward()\n")
    (tmp_path / "b.py").write_text("import torch\nfrom a import f\ndef g(x):\n    return f(x)\n")
    file = tmp_path / "a.py"
    assert check.check_bytes(file, file.read_bytes(), FINDERS) == []


def test_every_kind_of_statement_is_played() -> None:
    path = Path(ast.__file__).parent / "test" / "test_grammar.py"
    data = (
        b"import torch.nn\ndef forward(): x.backward()\n" + (path if path.exists() else Path(ast.__file__)).read_bytes()
    )
    assert check.check_bytes(Path("x.py"), data.replace(b"from __future__", b"# "), FINDERS) == []


# --- one file --------------------------------------------------------------------------------


def test_columns_count_characters_from_one() -> None:
    source = LEAK.replace("total += loss", "名 = '名'; total += loss")
    (found,) = check.check_bytes(Path("x.py"), source.encode(), FINDERS)
    line = source.splitlines()[found.line - 1]
    assert line[found.column - 1 : found.end_column - 1] == "total += loss"


def test_a_file_in_another_encoding_is_read() -> None:
    source = "# -*- coding: latin-1 -*-\n# é\n" + LEAK
    assert len(check.check_bytes(Path("x.py"), source.encode("latin-1"), FINDERS)) == 1


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("# autofix: ignore", 0),
        ("# autofix: ignore[AG503]", 0),
        ("# why not; autofix: ignore[AG101, AG503]", 1),
        ("# why not # autofix: ignore[AG101, AG503]", 0),
        ("# autofix:ignore[graph-kept-for-logging]", 0),
        ("# autofix: ignore[AG101]", 1),
        ("; '# autofix: ignore'", 1),
    ],
)
def test_a_comment_silences_its_line(comment: str, left: int) -> None:
    source = LEAK.replace("total += loss", f"total += loss  {comment}")
    assert len(check.check_bytes(Path("x.py"), source.encode(), FINDERS)) == left


def test_a_comment_silences_no_other_line() -> None:
    source = LEAK.replace("opt.step()", "opt.step()  # autofix: ignore")
    assert len(check.check_bytes(Path("x.py"), source.encode(), FINDERS)) == 1


def test_a_file_that_does_not_mention_torch_is_not_parsed() -> None:
    assert check.check_bytes(Path("x.py"), b"this is (no Python", FINDERS) == []


@pytest.mark.parametrize("data", [b"import torch\nloss.backward(\n", b"torch.backward()\0", b"\xff torch"])
def test_what_is_no_python_is_said_in_one_line(data: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        check.check_bytes(Path("x.py"), data, FINDERS)
    assert "\n" not in str(caught.value)


def test_a_tree_too_deep_to_walk_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    deep = tmp_path / "deep.py"
    deep.write_text("import torch\nx = " + "+".join(["loss.backward()"] * 20_000))
    (problem,) = check.check([deep], FINDERS, jobs=1).problems
    assert "cannot be parsed" in problem.reason


# --- which files -----------------------------------------------------------------------------


def tree(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(LEAK)


def names(folder: Path, *exclude: str) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in walk.python_files([str(folder)], exclude)]


def test_a_folder_without_git_is_walked(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "b/c.pyi", "b/d.txt", ".venv/e.py", "b/__pycache__/f.py", "lib/site-packages/g.py")
    assert names(tmp_path) == ["a.py", "b/c.pyi"]


def test_a_path_that_is_named_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    tree(tmp_path, "script", ".venv/e.py")
    given = [str(tmp_path / "script"), str(tmp_path / ".venv")]
    assert walk.python_files(given) == [tmp_path / "script", tmp_path / ".venv" / "e.py"]


@pytest.mark.parametrize("pattern", ["b", "b/", "b/*", "c.py", "*/c.py", "b/c.py"])
def test_a_pattern_excludes(tmp_path: Path, pattern: str) -> None:
    tree(tmp_path, "a.py", "b/c.py")
    assert names(tmp_path, pattern) == ["a.py"]


@pytest.mark.skipif(not GIT, reason="there is no git")
def test_what_git_ignores_is_not_read(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "new/b.py", "built/c.py", "one.py", "名.py")
    (tmp_path / ".gitignore").write_text("built/\none.py\n")
    (tmp_path / "link.py").symlink_to("a.py")
    subprocess.run([GIT, "init", "-q", tmp_path], check=True)
    assert names(tmp_path) == ["a.py", "new/b.py", "名.py"]
    assert names(tmp_path / "new") == ["b.py"]
    assert names(tmp_path / "built") == ["c.py"]


@pytest.mark.skipif(not GIT, reason="there is no git")
def test_a_repository_cannot_make_git_run_a_program(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    subprocess.run([GIT, "init", "-q", tmp_path], check=True)
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    spy.chmod(0o755)
    subprocess.run([GIT, "-C", tmp_path, "config", "core.fsmonitor", str(spy)], check=True)
    assert names(tmp_path) == ["a.py"]
    assert not (tmp_path / "ran").exists()


def test_a_path_that_does_not_exist_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, tmp_path / "nowhere")
    assert (status, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("content", [b"def (:\n", b"\x7fELF\0\0", b"\xff\xfe"])
def test_a_file_that_is_named_and_is_no_python_is_a_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    tree(tmp_path, "fine.py")
    (tmp_path / "broken.py").write_bytes(content)
    status, _, err = run(capsys, tmp_path / "broken.py")
    assert status == 2
    assert f"{tmp_path}/broken.py: " in err
    assert run(capsys, tmp_path)[0] == run(capsys, tmp_path / "fine.py")[0]  # nobody named it


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert walk.python_files([str(tmp_path)]) == []


def test_processes_find_what_one_process_finds(tmp_path: Path) -> None:
    tree(tmp_path, *(f"{number}.py" for number in range(70)))
    files = walk.python_files([str(tmp_path)])
    assert check.check(files, FINDERS, jobs=2) == check.check(files, FINDERS, jobs=1)


# --- the command -----------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tree(tmp_path, "train.py")
    return tmp_path


def test_a_finding_is_a_line_that_says_it_is_unverified(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "train.py")
    assert status == 1
    assert out.startswith(f"train.py:{LEAK_LINE}:9: AG503 ")
    assert out.endswith(" (unverified; to prove a cure: autofix fix train.py)\n")
    assert err == "autofix: 1 file read, 1 found in 1\n"
    assert (project / "train.py").read_text() == LEAK


@pytest.mark.usefixtures("project")
def test_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--exit-zero")[0] == 0
    assert run(capsys, "--ignore", "AG503")[0] == 0
    assert run(capsys, "--select", "AG5")[0] == 1
    assert run(capsys, "--select", "graph-kept-for-logging,AG101")[0] == 1
    assert run(capsys, "--select", "AG999")[0] == 2
    assert run(capsys, "--output-format", "xml")[0] == 2
    assert run(capsys, "--write-baseline")[0] == 2


def test_a_broken_file_is_told_and_only_fatal_when_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "old.py").write_text("import torch\nprint loss.backward()\n")
    status, _, err = run(capsys)
    assert status == 1
    assert "old.py: line 2:" in err
    assert run(capsys, "old.py")[0] == 2


def test_a_baseline_accepts_what_was_there(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--baseline", "known.json", "--write-baseline")[0] == 0
    assert run(capsys, "--baseline", "known.json")[:2] == (0, "")
    (project / "train.py").write_text("# a line above\n" + LEAK)
    assert run(capsys, "--baseline", "known.json")[0] == 0
    tree(project, "other.py")
    status, out, _ = run(capsys, "--baseline", "known.json")
    assert (status, out.partition(":")[0]) == (1, "other.py")


@pytest.mark.parametrize("text", ["", "[]", '{"version": 7}', '{"version": 1, "findings": [1]}'])
def test_a_baseline_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "known.json"
    file.write_text(text)
    with pytest.raises(baseline.BaselineError, match=r"known\.json"):
        baseline.without_accepted(file, ())


def test_settings_stand_in_the_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pyproject.toml").write_text('[tool.autofix.check]\nignore = ["AG503"]\n')
    assert run(capsys)[0] == 0
    assert run(capsys, "--ignore", "AG101")[0] == 1
    (project / "pyproject.toml").write_text("[tool.autofix.check]\nselekt = []\n")
    assert run(capsys)[0] == 2
    (project / "pyproject.toml").write_text('[tool.autofix.check]\nignore = "AG503"\n')
    assert run(capsys)[0] == 2


@pytest.mark.usefixtures("project")
def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, "--output-format", "json")[1])
    assert document["files"] == 1
    (found,) = document["findings"]
    assert (found["code"], found["file"], found["line"], found["column"]) == ("AG503", "train.py", LEAK_LINE, 9)
    assert found["verified"] is False


@pytest.mark.usefixtures("project")
def test_sarif_has_each_finding_with_its_rule(capsys: pytest.CaptureFixture[str]) -> None:
    document: dict[str, Any] = json.loads(run(capsys, "--output-format", "sarif")[1])
    jsonschema.Draft7Validator(schema(SARIF)).validate(document)
    (log,) = document["runs"]
    (result,) = log["results"]
    assert log["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "AG503"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "train.py", "uriBaseId": "SRCROOT"}
    assert location["region"]["startLine"] == LEAK_LINE


@pytest.mark.usefixtures("project")
def test_github_gets_workflow_commands(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "--output-format", "github")[1]
    assert out.startswith(
        f"::warning file=train.py,line={LEAK_LINE},col=9,endColumn=22,endLine={LEAK_LINE},title=autofix AG503::"
    )


def test_notes_are_told_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = project_of(tmp_path, NET)
    out = run(capsys, script)[1]
    assert f"{script}:9:5: note this backward frees its graph\n" in out
    assert f"(unverified; to prove a cure: autofix fix {script})\n" in out
    (found,) = json.loads(run(capsys, "--output-format", "json", script)[1])["findings"]
    assert [note["line"] for note in found["notes"]] == [7, 9]
    assert found["proof"] == f"autofix fix {script}"
    document = json.loads(run(capsys, "--output-format", "sarif", script)[1])
    jsonschema.Draft7Validator(schema(SARIF)).validate(document)
    assert len(document["runs"][0]["results"][0]["relatedLocations"]) == 2


def test_a_finder_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "ag501"]) == 0
    assert "# AG501 missing-zero-grad" in capsys.readouterr().out
    assert cli.main(["explain", "AG201"]) == 0
    assert "Fix safety" in capsys.readouterr().out


def test_a_check_imports_neither_torch_nor_the_pipeline(tmp_path: Path) -> None:
    code = "import sys, autofix.commands.check; print([m for m in sys.modules if m in {'torch', 'autofix.pipeline'}])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_json_is_what_its_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.loads((ROOT / "docs" / "check.schema.json").read_text("utf-8"))
    (tmp_path / "leak.py").write_text(LEAK)
    (tmp_path / "broken.py").write_text("import torch\n(")
    assert cli.main(["check", "--output-format", "json", str(tmp_path)]) == 1
    found = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema).validate(found)
    assert found["findings"]
    assert found["problems"]
    assert found.keys() == schema["properties"].keys()
    assert found["findings"][0].keys() == schema["$defs"]["finding"]["properties"].keys()
