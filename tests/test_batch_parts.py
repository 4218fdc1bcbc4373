"""The parts of a batch that need no torch: what was typed, what is found, copies, patches, the journal, the pages."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from farms import CHROMIUM, FARM, browsed

from autofix.batch import discover, driver, manifest, patches, results, ways, worker, worktree
from autofix.batch.cores import Core
from autofix.batch.driver import Plan
from autofix.batch.journal import Journal
from autofix.batch.records import Change, Entry, Found, Replacement, Repository, Result, Terms, target_key
from autofix.batch.results import Shown
from autofix.core import git
from autofix.core.config import ConfigError
from autofix.core.model import Outcome, Report, Target
from autofix.experiments.client import Probe
from autofix.experiments.warm import Warm

NOTEBOOK = (
    '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": '
    '"%%matplotlib inline\\nimport torch\\n%s"}]}'
)
OWN = "from its own folder"
PARSER = """\
parser.add_argument("mode", choices=["fast", "slow"])
parser.add_argument("--size", type=int, required=True)
parser.add_argument("--config", required=True)
parser.add_argument("--name", required=True)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("rest", nargs="*")
"""


def names(paths: list[str]) -> list[str]:
    return [one.name for one in manifest.repositories(paths, Terms())]


def test_folders_globs_lists_and_scripts_name_repositories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("clones/a/train.py", "clones/b/src/x.py", "hand-ins/anna.py", "hand-ins/bob.py", "one/pyproject.toml"):
        FARM.put(tmp_path, name, "")
    (tmp_path / "clones/.hidden").mkdir()
    FARM.put(tmp_path, "list.txt", "# some\nclones/b\n\nhttps://example.org/c.git\n")
    monkeypatch.chdir(tmp_path)
    assert names(["clones"]) == ["clones/a", "clones/b"]
    assert names(["clones/a", "clones/*", "one/"]) == ["clones/a", "clones/b", "one"]
    assert names(["list.txt"]) == ["clones/b", "https://example.org/c.git"]
    (one,) = manifest.repositories(["hand-ins/*.py"], Terms())
    assert (one.name, one.options.commands) == ("hand-ins", ("anna.py", "bob.py"))
    assert len(names(["hand-ins"])) == 1  # scripts lie in it, so it is one itself


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "no table 'x'"),
        ("[[repository]]\npath = 'a'\nurl = 'b'", "give it a path or a url"),
        ("[[repository]]\npath = 'a'\ncomands = []", "no option 'comands'"),
        ("[[repository]]\npath = 'a'\ntime-limit = -1", "not a number of seconds"),
        ("[[repository]]\npath = 'a'\ncommands = 'x'", "'x' is not a list of texts"),
        ("[defaults]", "write a [[repository]] for each"),
        ("[[repository", "Expected"),
    ],
)
def test_a_manifest_that_cannot_be_meant_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    FARM.put(tmp_path, "all.toml", text)
    with pytest.raises((manifest.ManifestError, ConfigError)) as refused:
        names([str(tmp_path / "all.toml")])
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_sample_is_ever_the_same_and_grows_with_its_share() -> None:
    every = [Repository(f"r{number}", "") for number in range(200)]
    small, large = manifest.chosen(every, 0, "5%"), manifest.chosen(every, 0, "0.2")
    assert (len(small), len(large)) == (10, 40)
    assert set(map(str, small)) < set(map(str, large))
    assert manifest.chosen(every, 3, "5%") == small[:3]
    with pytest.raises(manifest.ManifestError):
        manifest.chosen(every, 0, "lots")


def test_scripts_that_train_are_found_and_libraries_are_not(tmp_path: Path) -> None:
    files = {
        "guarded.py": "import trainer\nif __name__ == '__main__':\n    trainer.train()\n",
        "trainer.py": "import torch\ndef train():\n    torch.ones(1).backward()\n",
        "deep/loop.py": "import torch\nfor x in range(3):\n    x.backward()\n",
        "deep/pkg/run.py": "from .core import go\ngo()\nif __name__ == '__main__':\n    go()\n",
        "deep/pkg/core.py": "import torch\ndef go(x):\n    x.backward()\n",
        "plain.py": "for x in range(3):\n    print(x)\n",
        "setup.py": "import torch\nfor backward in ():\n    pass\n",
        "tests/test_it.py": "import torch\nfor x in ():\n    x.backward()\n",
        "node_modules/x.py": "import torch\nfor x in ():\n    x.backward()\n",
        "broken.py": "import torch\nfor x in (:\n    x.backward()\n",
        "deep/pkg/table.py": "import torch\nfrom .core import go\nROWS = torch.ones(3)\n",
        "deep/pkg/other.py": "from .table import ROWS\n",
        "print.py": "import torch\ndef go():\n    torch.ones(1).backward()\nprint(go())\n",
        "copy_test.py": "import torch\nfor x in ():\n    x.backward()\n",
        "unit_test.py": "import torch\ndef test_it():\n    torch.ones(1).backward()\nfor x in ():\n    pass\n",
        "show.ipynb": NOTEBOOK % "loss.backward()",
        "plot.ipynb": NOTEBOOK % "plot()",
        "guarded.ipynb": NOTEBOOK % "loss.backward()",
    }
    for name, text in files.items():
        FARM.put(tmp_path, name, text)
    found = ["copy_test.py", "guarded.py", "print.py", "deep/loop.py", "deep/pkg/run.py", "show.ipynb"]
    assert discover.commands(tmp_path, (), pytest=False) == found
    assert discover.commands(tmp_path, (), pytest=True)[-1] == "pytest tests/test_it.py"
    FARM.put(tmp_path, "pyproject.toml", "[tool.autofix]\nrun = 'python guarded.py --fast'\n")
    assert discover.commands(tmp_path, (), pytest=False) == ["python guarded.py --fast"]
    assert discover.commands(tmp_path, ("mine.py",), pytest=False) == ["mine.py"]


def test_a_script_is_tried_as_its_pages_call_it_then_elsewhere_then_with_what_it_requires(tmp_path: Path) -> None:
    files = {
        "README.md": "Run `python tools/train.py`, `python3 tools/train.py --help` or\n\n"
        "    $ python -u tools/train.py \\\n        --epochs 3 > log.txt\n"
        "    $ python tools/train.py --data <your data>\n",
        "tools/README.md": "CUDA_VISIBLE_DEVICES=0 python train.py --small && echo done\n",
        "scripts/go.sh": "python -m tools.train --as module\npython $HERE/tools/train.py --no\n",
        "tools/train.py": PARSER, "configs/a.yaml": "",
    }  # fmt: skip
    for name, text in files.items():
        FARM.put(tmp_path, name, text)
    named = [
        ("cd tools && python train.py --small", "tools/README.md"),
        ("python -u tools/train.py --epochs 3", "README.md"),
        ("python -m tools.train --as module", "scripts/go.sh"),
    ]
    assert ways.others(tmp_path, "tools/train.py", usage=False) == [*named, ("cd tools && python train.py", OWN)]
    required = "tools/train.py fast --size 1 --config configs/a.yaml --name name"
    assert ways.others(tmp_path, "tools/train.py", usage=True) == [*named, (required, "its parser requires that")]
    assert ways.others(tmp_path, "main.py", usage=False) == []
    assert ways.others(tmp_path, "deep/show.ipynb", usage=False) == []


def test_a_copy_holds_what_lies_there_and_a_revision_what_was_committed(tmp_path: Path) -> None:
    at = tmp_path / "project"
    at.mkdir()
    FARM.submodule(at)
    (at / "checkpoints").mkdir()
    FARM.put(at, "train.py", "print('not committed')\n")
    FARM.put(at, ".venv/bin/python", "trap")
    before = FARM.digest(at)
    lying = Repository("x", str(at))
    with worktree.copied(lying, worktree.look(lying)) as copy:
        assert (copy / "train.py").read_text() == "print('not committed')\n"
        assert (copy / "library/gates.py").is_file()
        assert (copy / "checkpoints").is_dir()
        assert not (copy / ".git").exists()
        assert not (copy / ".venv").exists()
    assert not copy.exists()
    committed = replace(lying, revision="HEAD")
    with worktree.copied(committed, worktree.look(committed)) as copy:
        assert "library.gates" in (copy / "train.py").read_text()
        assert (copy / "library/gates.py").is_file()
    assert FARM.digest(at) == before
    with pytest.raises(worktree.Unusable, match="no revision nowhere"):
        worktree.look(replace(lying, revision="nowhere"))


def test_an_address_is_fetched_at_the_revision_that_it_names(tmp_path: Path) -> None:
    at = tmp_path / "project"
    FARM.put(at, "train.py", "first\n")
    FARM.commit(at)
    git.git("tag", "v1", at=at)
    FARM.put(at, "train.py", "second\n")
    FARM.commit(at)
    for revision, text in (("v1", "first\n"), ("", "second\n")):
        one = Repository("x", at.as_uri(), revision)
        with worktree.copied(one, worktree.look(one)) as copy:
            assert (copy / "train.py").read_text() == text


def fixed(command: str, file: str, before: str, *edits: tuple[int, int, str]) -> Result:
    after = before
    for start, end, text in sorted(edits, reverse=True):
        after = after[:start] + text + after[end:]
    change = Change(file, before, after, tuple(Replacement(*edit) for edit in edits))
    return Result(
        command, target_key("", command), "available", file=command, rules=("AG101",), title="Title", why="Why.",
        applicability="safe", effect="identical", summary="identical", headline="RuntimeError: x", changes=(change,),
        cause="freed_graph", diff="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<b>\n+</script>\n",
    )  # fmt: skip


def test_fixes_of_one_repository_become_one_patch_and_those_that_disagree_stay_apart() -> None:
    text = "a = 1\nb = 2\nc = 3\n"
    one = fixed("one.py", "shared.py", text, (0, 1, "x"))
    same = fixed("same.py", "shared.py", text, (0, 1, "x"))
    other = fixed("other.py", "shared.py", text, (12, 13, "z"))
    against = fixed("against.py", "shared.py", text, (0, 5, "y = 9"))
    joined = patches.join([one, same, other, against], unsafe=False)
    assert joined.after == {"shared.py": b"x = 1\nb = 2\nz = 3\n"}
    assert [step.result.command for step in joined.steps] == ["one.py", "same.py", "other.py"]
    assert "does not go together" in joined.apart["against.py"]
    assert joined.patch.startswith(b"--- a/shared.py\n+++ b/shared.py\n@@ -1,3 +1,3 @@\n-a = 1\n+x = 1\n")
    assert patches.entangled([one, same]) == ()
    assert patches.entangled([one, same, other]) == (one, same, other)
    alone = fixed("one.py", "one.py", text, (0, 1, "x")), fixed("two.py", "two.py", text, (0, 1, "x"))
    assert patches.entangled(alone) == ()
    assert patches.join([replace(one, applicability="unsafe")], unsafe=False).steps == ()


def test_a_branch_is_refused_where_the_commit_is_not_what_was_run(tmp_path: Path) -> None:
    FARM.put(tmp_path, "train.py", "a = 1\n")
    FARM.put(tmp_path, "other.py", "b = 1\n")
    FARM.commit(tmp_path)
    joined = patches.join([fixed("train.py", "train.py", "a = 1\n", (0, 1, "x"))], unsafe=False)
    one = Repository("x", str(tmp_path))
    FARM.put(tmp_path, "other.py", "b = 2\n")
    with pytest.raises(git.GitError, match=r"other\.py has changes"):
        patches.make_branch(one, joined, git.head(tmp_path), "repair", ("a", "a@b"))
    FARM.put(tmp_path, "other.py", "b = 1\n")
    for _ in range(2):  # the second time it is there already, and the same
        patches.make_branch(one, joined, git.head(tmp_path), "repair", ("a", "a@b"))
    assert git.git("show", "repair:train.py", at=tmp_path) == b"x = 1\n"
    assert git.git("status", "--porcelain", at=tmp_path) == b""
    with pytest.raises(git.GitError, match="there is a branch main already"):
        patches.make_branch(one, joined, git.head(tmp_path), "main", ("a", "a@b"))


def test_the_journal_drops_what_is_stale_and_keeps_the_order(tmp_path: Path) -> None:
    entries = tuple(Entry(f"{name}.py", f"key-{name}") for name in "ba")
    with Journal(tmp_path) as journal:
        journal.found("r\udce9", Found("k", entries=entries))
        for name, outcome in (("a", "crashed"), ("b", "clean")):
            journal.add("r\udce9", Result(f"{name}.py", f"key-{name}", outcome))
        journal.complete("r\udce9")
    with Journal(tmp_path) as journal:
        row = journal.row("r\udce9")
        assert row is not None
        assert [result.command for result in row.results] == ["b.py", "a.py"]
        assert row.complete
        journal.forget("r\udce9", results.RETRIED)
        assert journal.known("r\udce9") == ("key-b",)
        journal.found("r\udce9", Found("k2", entries=(Entry("b.py", "key-new"),)))
        assert journal.known("r\udce9") == ()


def test_without_a_strong_fence_nothing_is_run() -> None:
    tried = []

    def refused(target: Target, _probe: Probe) -> Report:
        tried.append(target.isolation)
        return Report(target, Outcome.CANNOT_RUN, message=f"isolation {target.isolation}: not here")

    class NoProbes(Warm[Probe]):
        def probe(self, target: Target, environment: Mapping[str, str] | None = None) -> Probe:  # noqa: ARG002
            return None  # type: ignore[return-value]

    none = NoProbes(Probe)
    report = worker._fenced(Target(Path("x.py")), Terms(), none, refused)
    assert tried == ["overlay", "landlock"]
    assert report.outcome is Outcome.CANNOT_RUN
    assert "--isolation copy" in report.message
    worker._fenced(Target(Path("x.py"), isolation="copy"), Terms(isolation="copy"), none, refused)
    assert tried[2:] == ["copy"]


def test_no_two_workers_have_the_same_core() -> None:
    first, second = Core(), Core()
    try:
        assert first.number is None or first.number != second.number
        with first.bound():
            inside = []
            thread = threading.Thread(target=lambda: inside.append(Core()))
            thread.start()
            thread.join()
            inside[0].close()
    finally:
        first.close()
        second.close()


@pytest.mark.apart("long")
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium")
@pytest.mark.slow
def test_ten_thousand_targets_are_readable_in_a_browser(tmp_path: Path) -> None:
    fix = fixed("train.py", "train.py", "a = 1\n", (0, 1, "x"))
    shown = [
        Shown(
            Repository(f"<i>repository</i> {number}", "/nowhere"), "", "", "", tuple(fix for _ in range(4)), page=page
        )
        for number in range(2500)
        for page in (f"repositories/{number}.html",)
    ]
    driver.render(Plan((), tmp_path), shown)
    index = browsed(tmp_path / "index.html")
    assert "2500 repositories, 10000 targets" in index
    assert index.count('<td class="name">') == 2500
    assert ">2500 of 2500</output>" in index
    assert "<i>repository" not in index
    page = (tmp_path / "repositories/7.html").read_text()
    assert "&lt;/script&gt;" in page
    assert page.count("</script>") == 1


def test_what_xml_cannot_say_does_not_spoil_the_results() -> None:
    shown = [Shown(Repository("r\x00\x1b[1m\udce9", "/r"), "", "", "bad \x08 news\ufffe", ())]
    told = results.junit(shown).decode()
    assert "news" in told
    assert "\x1b" not in told
    assert driver.status(shown) == 0
