"""Notebooks: run as one program, reported by cell and line, changed in those lines of the file and no other byte."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from training import CURE, NETS, STEP, added, repair, safe, written

from autofix import cli, render
from autofix.core.model import Outcome, Report, Suspicion, Target
from autofix.experiments.client import Probe
from autofix.probe.wire import Frame
from autofix.render import audit
from autofix.target import cells, notebook
from autofix.target.cells import Cell, CellError
from autofix.target.targets import TargetError

SHELL = "%matplotlib inline\n!pip install nothing \\\n    more\nfiles = !ls\nfor _ in range(1):\n    %time x = 1\nx?"
CELLS = [SHELL, NETS, "%%bash\necho hi", "%%writefile made.py\nvalue = 3\n", f"%%time\nimport made  # 中文\n{STEP}"]


def book(folder: Path, sources: list[str] = CELLS, name: str = "train.ipynb") -> Path:
    """A notebook as Jupyter writes it, with text, outputs and metadata."""
    made = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "P", "language": "python"}}
    )
    made.cells = [nbformat.v4.new_markdown_cell("# Übung\n")]
    made.cells += [nbformat.v4.new_code_cell(source) for source in sources]
    made.cells[-1].outputs = [nbformat.v4.new_output("stream", text="0.1\n")]
    path = folder / name
    nbformat.write(made, path)
    return path


@pytest.mark.torch
def test_a_fix_changes_the_line_in_its_cell_and_no_other_byte(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = book(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = path.read_bytes()
    report = repair(probe, "train.ipynb")
    fix = safe(report)
    new = fix.candidate.files[path]
    assert new == before.replace(b"b = model2(a)", b"b = model2(a.detach())")
    nbformat.validate(nbformat.reads(new.decode(), 4))
    snapshot = render.Snapshot(report)
    render.show(report, snapshot, render.Look(), sys.stdout)
    shown = capsys.readouterr().out
    assert "train.ipynb:cell 5:9:1: AG202" in shown
    assert "--- a/train.ipynb cell 5\n" in shown
    assert json.loads(render.as_json(report, snapshot))["failure"]["cell"] == {"number": 5, "line": 9}
    (tmp_path / ".git").mkdir()
    subprocess.run([shutil.which("git") or "git", "apply", "-"], input=fix.diff, cwd=tmp_path, check=True)
    assert path.read_bytes() == new


GAN = """\
import torch
from torch import nn
torch.manual_seed(0)
class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, 8), nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(8, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 6))
    def forward(self, z):
        return self.net(z)
"""
JUDGE = """\
class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 1))
    def forward(self, x):
        return self.net(x)
"""
TRAINED = """\
G, D = G(), D()
of_g, of_d = (torch.optim.SGD(net.parameters(), 0.05) for net in (G, D))
for _ in range(4):
    fake = G(torch.randn(8, 4))
    of_d.zero_grad()
    D(fake.detach()).square().mean().backward()
    of_d.step()
    of_g.zero_grad()
    (D(fake) - 1).square().mean().backward()
    of_g.step()
"""


@pytest.mark.torch
def test_the_first_offer_changes_no_cell_but_that_of_the_fault(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book(tmp_path, [GAN, JUDGE, TRAINED])
    monkeypatch.chdir(tmp_path)
    report = repair(probe, "train.ipynb", select=["AG101"])
    shown = safe(report).shown.decode()
    assert shown.count("\n+++ ") == 1
    assert "nn.Tanh(), nn.LeakyReLU(0.2, inplace=False)" in shown
    render.show(report, render.Snapshot(report), render.Look(), sys.stdout)
    assert "(also at line 9 and line 4 of cell 2)" in capsys.readouterr().out


@pytest.mark.torch
@pytest.mark.slow
def test_write_and_verify_work_on_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path, [NETS, STEP])
    copy = book(tmp_path, [NETS, STEP.replace("b = model2(a)", CURE)], "colleague.ipynb")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["verify", "--fixed", copy.name, "--isolation", "none", "train.ipynb"]) == 0
    assert cli.main(["fix", "-q", "--select", "AG202", "--write", path.name]) == 0
    assert CURE in path.read_text("utf-8")
    assert cli.main(["fix", "-q", path.name]) == 0


@pytest.mark.torch
def test_a_script_in_cells_keeps_its_magics(probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"# %%\n%load_ext nothing\n{NETS}# %% [markdown]\n# words\n# %%\n{STEP}"
    written(tmp_path, {"train.py": text})
    monkeypatch.chdir(tmp_path)
    report = repair(probe, "train.py")
    fix = safe(report)
    assert fix.candidate.files[tmp_path / "train.py"].decode() == text.replace("b = model2(a)", CURE)
    assert added(fix) == [CURE]
    assert report.diagnosis is not None
    place = render.Snapshot(report).place(report.diagnosis.failure.stack[0])
    assert render.Snapshot(report).cell(place) == (3, 7)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"{}", "old format"),
        (b"not json", "no notebook"),
        (b'{"cells": 3}', "no list"),
        (b'{"cells": [], "metadata": {"language_info": {"name": "R"}}}', "not Python"),
    ],
)
def test_what_is_no_python_notebook_is_refused(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, word: str
) -> None:
    (tmp_path / "x.ipynb").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError, match=rf"^x\.ipynb: [^\n]*{word}"):
        repair(probe, "x.ipynb")


LINES = st.lists(st.sampled_from(["x = 1\n", "y = '中'\n", "# é\n", "\n", "%magic\n", "!ls\n"]), max_size=6)


@given(st.lists(LINES, min_size=1, max_size=4), st.sampled_from([1, 2, None]), st.booleans(), st.booleans())
def test_only_the_changed_lines_of_any_spelling_of_a_notebook_change(
    sources: list[list[str]], indent: int | None, ascii_only: bool, strings: bool
) -> None:
    def document(every: list[list[str]]) -> bytes:
        made: list[dict[str, Any]] = [
            {"source": "".join(lines) if strings else lines, "cell_type": "code", "outputs": [{"text": ['[]{}\\"']}]}
            for lines in every
        ]
        return json.dumps({"cells": [{"cell_type": "markdown"}, *made], "nbformat": 4}, indent=indent,
                          ensure_ascii=ascii_only).encode()  # fmt: skip

    data = document(sources)
    parsed = notebook.parse(Path("a.ipynb"), data)
    assert parsed.edited(parsed.text) == data
    new = [[("x = 2\n" if line == "x = 1\n" else line) for line in lines] for lines in sources]
    assert parsed.edited(parsed.text.replace(b"x = 1", b"x = 2")) == document(new)


def test_an_edit_of_a_magic_is_not_placed() -> None:
    with pytest.raises(CellError, match="touches a magic in cell 1"):
        cells.changed([Cell(1, "%magic\nx = 1\n")], b"# %% [cell 1]\nprint()\nx = 1\n")


def test_a_cell_that_is_no_python_fails_only_when_it_is_reached() -> None:
    plain = cells.plain(Cell(4, "this is prose\nand more"))
    assert plain == ['raise SyntaxError("cell 4 is not valid Python")\n', "#\n"]


@pytest.mark.apart("long")
@pytest.mark.torch
@pytest.mark.slow
def test_the_extension_shows_a_fix_below_a_cell_that_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / ".ipython"))
    shell = InteractiveShell.instance()
    offered: list[str] = []
    monkeypatch.setattr(shell, "set_next_input", offered.append)
    try:
        shell.run_cell("%load_ext autofix", store_history=True)
        shell.run_cell(NETS, store_history=True)
        shell.run_cell("1 + 'a'", store_history=True)
        assert "autofix" not in capsys.readouterr().out
        shell.run_cell(STEP, store_history=True)
        assert f"+{CURE}" in capsys.readouterr().out
        assert offered == [STEP.replace("b = model2(a)", CURE)]
        shell.run_cell("%unload_ext autofix", store_history=True)
    finally:
        InteractiveShell.clear_instance()


def test_code_hosts_are_pointed_at_the_lines_of_the_file(tmp_path: Path) -> None:
    path = book(tmp_path, ["import torch\n", "x = 1\ny = 2\n"])
    code = cells.text([Cell(1, "import torch\n"), Cell(2, "x = 1\ny = 2\n")])
    line = code.decode().splitlines().index("y = 2") + 1
    fault = Suspicion("AG524", "graph-cut", "said", Frame(str(path), line, 0, line, 1, "<module>"))
    report = Report(Target(path, root=tmp_path, buffers={path: code}), Outcome.CLEAN, suspicions=(fault,))
    snapshot = render.Snapshot(report)
    at = path.read_text("utf-8").splitlines().index('    "y = 2\\n"') + 1
    (result,) = json.loads(render.as_sarif(report, snapshot))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == at
    assert f",line={at}," in render.as_github(report, snapshot)
    assert json.loads(audit.as_json(report, snapshot))["findings"][0]["cell"] == {"number": 2, "line": 2}
