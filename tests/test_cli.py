"""The command line: what is ours and what is the script's, statuses, settings, and one line for bad input."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import Typed, autofix
from reports import report

from autofix import api, cli, pipeline
from autofix.commands import ending
from autofix.core import config
from autofix.core.model import Applicability, Outcome, Report, Target
from autofix.core.write import WriteRefused
from autofix.target.offered import OfferError, offered

FIXTURES = Path(__file__).parent.parent / "fixtures" / "first"


class Pipeline:
    """Stands where the pipeline would run the script: keeps what it was asked, gives what it was told to."""

    def __init__(self, made: Report) -> None:
        self.made = made
        self.target: Target | None = None
        self.rules: list[str] = []
        self.files: dict[Path, bytes] = {}
        self.unsafe: bool | None = None
        self.refuses = ""

    def fix(self, target: Target, rules: Any, **_: Any) -> Report:
        self.target, self.rules = target, [rule.code for rule in rules]
        return self.made

    def verify(self, target: Target, files: dict[Path, bytes], **_: Any) -> Report:
        self.target, self.files = target, files
        return self.made

    def apply(self, report: Report, *, unsafe: bool, index: int | None = None) -> Report:
        self.unsafe = unsafe
        if self.refuses:
            raise WriteRefused(self.refuses)
        if not unsafe and report.fixes[index or 0].verdict.applicability is not Applicability.SAFE:
            return report
        return replace(report, applied=0, outcome=Outcome.FIXED)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    monkeypatch.chdir(tmp_path)
    made = Pipeline(report(tmp_path))
    for name in ("fix", "verify", "apply"):
        monkeypatch.setattr(pipeline, name, getattr(made, name), raising=False)
    return made


def one_line(captured: pytest.CaptureFixture[str]) -> str:
    out, err = captured.readouterr()
    assert not out
    assert err.startswith("autofix: ")
    assert err.count("\n") == 1
    return err


# --- whose words -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "argv"),
    [
        ("train.py", ()),
        ("--passes 2 train.py --write --lr 0.1 -v", ("--write", "--lr", "0.1", "-v")),
        ("train.py -- --epochs", ("--", "--epochs")),
        ("-- train.py --epochs", ("--epochs",)),
        ("-v train.py --help", ("--help",)),
    ],
)
def test_what_stands_behind_the_script_is_the_scripts(fake: Pipeline, typed: str, argv: tuple[str, ...]) -> None:
    assert cli.main(["fix", *typed.split()]) == 1
    assert fake.target is not None
    assert fake.target.argv == argv
    assert fake.target.script == Path.cwd() / "train.py"
    assert fake.target.module is None


@pytest.mark.parametrize(
    "typed", ["-m pkg.main", "--module pkg.main", "--module=pkg.main", "-mpkg.main", "-v -m pkg.main"]
)
def test_what_stands_behind_a_module_is_the_modules(fake: Pipeline, tmp_path: Path, typed: str) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "main.py").touch()
    assert cli.main(["fix", *typed.split(), "--write", "-m", "x"]) == 1
    assert fake.target is not None
    assert (fake.target.module, fake.target.argv) == ("pkg.main", ("--write", "-m", "x"))
    assert fake.target.script == tmp_path / "pkg" / "main.py"


def test_verify_reads_its_options_before_the_script_as_fix_does(fake: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "new.py").write_bytes(b"x = 1\n")
    fake.made = replace(fake.made, outcome=Outcome.SAFE)
    typed = "verify --fixed new.py --output-format=json --network train.py --lr 0.1 -v --device cuda --fixed other"
    assert cli.main(typed.split()) == 0
    assert fake.target is not None
    assert fake.target.argv == ("--lr", "0.1", "-v", "--device", "cuda", "--fixed", "other")
    assert (fake.target.network, fake.target.device) == (True, "auto")
    assert fake.files == {tmp_path / "train.py": b"x = 1\n"}


def test_an_edit_named_behind_the_script_is_asked_for_before_it(
    fake: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path.cwd() / "new.py").write_bytes(b"x = 1\n")
    assert cli.main(["verify", "train.py", "--fixed", "new.py"]) == 2
    assert "before the script: `verify --fixed FILE SCRIPT`" in one_line(capsys)
    assert fake.target is None


@pytest.mark.usefixtures("fake")
def test_the_next_command_repeats_what_was_typed(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["fix", "--passes", "2", "train.py", "--name", "a b"])
    assert "autofix fix --write --passes 2 train.py --name 'a b'" in capsys.readouterr().out


def test_limits_and_rules_reach_the_pipeline(fake: Pipeline) -> None:
    typed = "fix --time-limit 1.5 --memory-limit 4G --output-limit 512k --isolation none --ignore AG201 train.py"
    cli.main(typed.split())
    target = fake.target
    assert target is not None
    assert (target.time_limit, target.memory_limit, target.output_limit) == (1.5, 4 << 30, 512 << 10)
    assert (target.isolation, target.python, target.root) == ("none", Path(sys.executable), Path.cwd())
    assert fake.rules
    assert "AG201" not in fake.rules


# --- statuses and streams --------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [*Outcome])
def test_each_outcome_has_its_status(fake: Pipeline, outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    fake.made = replace(fake.made, outcome=outcome, diagnosis=None, fixes=())
    expected = {"fixed": 0, "clean": 0, "available": 1, "unfixed": 3, "safe": 0, "unsafe": 1, "still_failing": 3}
    assert cli.main(["fix", "train.py"]) == expected.get(outcome, 2)
    if outcome not in expected:
        assert one_line(capsys).startswith("autofix: train.py: ")


def test_verify_of_a_script_that_does_not_fail_cannot_judge(fake: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    fake.made = replace(fake.made, outcome=Outcome.CLEAN, diagnosis=None, fixes=())
    assert cli.main(["verify", "--fixed", "train.py", "train.py"]) == 2
    assert "nothing to verify" in one_line(capsys)


def test_write_applies_the_best_safe_fix(fake: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fix", "--write", "train.py"]) == 0
    assert fake.unsafe is False
    assert "The fix was written." in capsys.readouterr().out


def test_write_with_only_unsafe_fixes_writes_nothing(fake: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    fake.made = replace(fake.made, fixes=fake.made.fixes[1:])
    assert cli.main(["fix", "--write", "train.py"]) == 1
    assert "--unsafe-fixes" in capsys.readouterr().err
    assert cli.main(["fix", "--write", "--unsafe-fixes", "train.py"]) == 0


def test_a_refused_write_is_told(fake: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    fake.refuses = "train.py: it is read-only"
    assert cli.main(["fix", "--write", "--output-format", "json", "train.py"]) == 1
    out, err = capsys.readouterr()
    assert err == "autofix: nothing was written: train.py: it is read-only\n"
    assert json.loads(out)["applied"] is None


def test_diff_is_the_patch_and_nothing_else(fake: Pipeline, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.main(["fix", "--diff", "train.py"]) == 1
    assert capfdbinary.readouterr() == (fake.made.fixes[0].diff, b"")


def test_diff_of_an_unsafe_fix_is_asked_for(fake: Pipeline, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    fake.made = replace(fake.made, fixes=fake.made.fixes[1:])
    assert cli.main(["fix", "--diff", "train.py"]) == 1
    out, err = capfdbinary.readouterr()
    assert (out, err.count(b"\n")) == (b"", 1)
    assert cli.main(["fix", "--diff", "--unsafe-fixes", "train.py"]) == 1
    assert capfdbinary.readouterr().out == fake.made.fixes[0].diff


def test_diff_without_a_fix_is_empty_and_says_why(fake: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    fake.made = replace(fake.made, outcome=Outcome.CLEAN, diagnosis=None, fixes=())
    assert cli.main(["fix", "--diff", "train.py"]) == 0
    assert "nothing to fix" in one_line(capsys)


@pytest.mark.parametrize(("name", "start"), [("json", "{\n"), ("sarif", "{\n"), ("github", "::error ")])
@pytest.mark.usefixtures("fake")
def test_other_formats(capsys: pytest.CaptureFixture[str], name: str, start: str) -> None:
    assert cli.main(["fix", "--output-format", name, "train.py"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith(start)
    assert not err


def test_a_program_gets_its_object_even_when_nothing_can_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["fix", "--output-format", "json", "missing.py"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["outcome"] == "cannot_run"
    assert err == "autofix: missing.py: there is no such file\n"


def test_what_is_missing_in_the_words_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "train.py").touch()
    monkeypatch.chdir(tmp_path)
    for words, told in (
        (["audit"], "name a script, or a module with -m; --help shows how"),
        (["fix", "own.train"], "own.train: there is no such file; it is a module: -m own.train"),
        (["fix", "own.other"], "own.other: there is no such file"),
    ):
        assert cli.main(words) == 2
        assert capsys.readouterr().err == f"autofix: {told}\n"


@pytest.mark.usefixtures("fake")
def test_colour_follows_the_terminal_the_environment_and_the_option(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def coloured(*options: str) -> bool:
        cli.main(["fix", *options, "train.py"])
        return "\x1b[" in capsys.readouterr().out

    assert not coloured()
    assert coloured("--color", "always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert coloured()
    assert not coloured("--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not coloured()


def test_an_option_behind_a_script_that_fails_is_pointed_out(
    fake: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.made = replace(fake.made, outcome=Outcome.OTHER_FAILURE, diagnosis=None, fixes=(), message="SystemExit: 2")
    fake.made = replace(fake.made, target=replace(fake.made.target, argv=("--write",)))
    assert cli.main(["fix", "train.py", "--write"]) == 2
    assert "--write stands behind the script" in one_line(capsys)
    fake.made = replace(fake.made, target=replace(fake.made.target, argv=("--", "--epochs", "1")))
    assert cli.main(["fix", "train.py", "--", "--epochs", "1"]) == 2
    assert "so is this --: leave it out" in one_line(capsys)


def test_an_option_behind_a_script_that_ignores_it_is_pointed_out_below_the_fix(
    fake: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.made = replace(fake.made, target=replace(fake.made.target, argv=("--write",)))
    assert cli.main(["fix", "train.py", "--write"]) == 1
    shown = capsys.readouterr()
    assert shown.out.endswith("To apply it: autofix fix --write train.py --write\n")
    assert "--write stands behind the script" in shown.err
    fake.made.target.buffers[fake.made.target.script] = b'parser.add_argument("--write")'
    assert cli.main(["fix", "train.py", "--write"]) == 1
    assert not capsys.readouterr().err


def test_what_no_rule_is_called_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "AG999"]) == 2
    assert one_line(capsys) == "autofix: nothing is called AG999; `autofix explain` lists every code and name\n"


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed",
    [
        "fix",
        "fix --nonsense train.py",
        "fix --passes",
        "fix --passes 0 train.py",
        "fix --passes two train.py",
        "fix --time-limit -1 train.py",
        "fix --time-limit nan train.py",
        "fix --memory-limit 4X train.py",
        "fix --isolation jail train.py",
        "fix --output-format xml train.py",
        "fix --color sometimes train.py",
        "fix --select AG999 train.py",
        "fix --python no-such-python train.py",
        "fix --diff --write train.py",
        "fix --diff --output-format json train.py",
        "fix missing.py",
        "fix .",
        "fix -m not-a-module",
        "fix -m",
        "fixx train.py",
        "verify train.py",
        "verify --fixed missing.py train.py",
        "verify --fixed train.py --patch x train.py",
        "verify --fixed other.py=train.py train.py",
        "verify --fixed - --fixed train.py=- train.py",
        "verify --fixed train.py --fixed train.py train.py",
        "verify --patch train.py train.py",
        "explain AG999",
        "rules --output-format sarif",
    ],
)
def test_bad_input_is_one_line_and_status_2(fake: Pipeline, capsys: pytest.CaptureFixture[str], typed: str) -> None:
    assert cli.main(typed.split()) == 2
    assert fake.target is None
    assert "Traceback" not in one_line(capsys)


@pytest.mark.usefixtures("fake")
def test_a_name_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fix", "\x1b[31mx\n.py"]) == 2
    assert "\x1b" not in one_line(capsys)


@pytest.mark.usefixtures("fake")
def test_a_fault_of_ours_is_one_line_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise RuntimeError("a bug\nof ours")

    monkeypatch.setattr(pipeline, "fix", break_down)
    assert cli.main(["fix", "train.py"]) == 2
    assert "RuntimeError: a bug of ours" in one_line(capsys)
    monkeypatch.setenv("AUTOFIX_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        cli.main(["fix", "train.py"])


@pytest.mark.usefixtures("fake")
def test_an_interrupt_ends_with_its_status(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "fix", interrupt)
    assert cli.main(["fix", "train.py"]) == 130
    assert one_line(capsys) == "autofix: interrupted\n"


# --- settings --------------------------------------------------------------------------------


def test_defaults_come_from_the_nearest_pyproject(fake: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.autofix]\npasses = 5\nmemory-limit = "2G"\nselect = ["AG201"]\n[tool.autofix.batch]\nx = 1\n'
    )
    cli.main(["fix", "--passes", "4", "train.py"])
    assert fake.target is not None
    assert (fake.target.passes, fake.target.memory_limit, fake.rules) == (4, 2 << 30, ["AG201"])


def test_a_repository_takes_no_settings_from_a_project_around_it(
    fake: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.autofix]\npasses = 5\n")
    inner = tmp_path / "other" / "scripts"
    inner.mkdir(parents=True)
    (inner / "train.py").write_text("")
    monkeypatch.chdir(inner)
    for made, passes in ((False, 5), (True, 3)):
        if made:
            (inner.parent / ".git").mkdir()
        cli.main(["fix", "train.py"])
        assert fake.target is not None
        assert fake.target.passes == passes


@pytest.mark.parametrize(
    "text",
    [
        "[tool.autofix]\nnonsense = 1\n",
        "[tool.autofix]\npasses = true\n",
        "[tool.autofix]\npasses = 1.5\n",
        '[tool.autofix]\nwrite = "yes"\n',
        "[tool.autofix]\nselect = 3\n",
        "[tool.autofix]\npython = 3.11\n",
        '[tool.autofix]\nisolation = ["none"]\n',
        "[tool.autofix]\nmemory-limit = true\n",
        "[tool]\nautofix = 3\n",
        "not toml at all",
    ],
)
@pytest.mark.usefixtures("fake")
def test_a_wrong_setting_names_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert cli.main(["fix", "train.py"]) == 2
    assert "pyproject.toml" in one_line(capsys)


def test_a_project_that_opens_its_own_fence_is_told_about(
    fake: Pipeline, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.autofix]\nnetwork = true\n")
    cli.main(["fix", "train.py"])
    assert "network = True" in capsys.readouterr().err
    cli.main(["fix", "--no-network", "train.py"])
    assert not capsys.readouterr().err
    assert fake.target is not None
    assert not fake.target.network


def test_every_option_of_fix_can_be_set() -> None:
    import typer  # noqa: PLC0415 - the command as typer sees it

    group: Any = typer.main.get_command(cli.app)
    typed = {"words", "module", "console", "pytest", "interactive", "report", "pin"}  # each time anew
    options = {param.name for param in group.commands["fix"].params} - typed
    assert options == set(config.NAMES) - {"run"}  # what to run is typed, or configured


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("1024", 1024), ("4G", 4 << 30), ("1.5 GiB", 3 << 29), ("2kb", 2048)]
)
def test_sizes(text: str, size: int) -> None:
    assert config.size(text) == size


# --- edits that somebody else made -----------------------------------------------------------


def target(folder: Path) -> Target:
    return Target(folder / "train.py", root=folder)


def test_a_copy_of_another_file_is_not_taken_for_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("agents", "edited/agents"):
        (tmp_path / "project" / folder if folder == "agents" else tmp_path / folder).mkdir(parents=True)
    (tmp_path / "project/train.py").write_text("a = 1\n")
    (tmp_path / "project/agents/sac.py").write_text("b = 1\n")
    (tmp_path / "edited/agents/sac.py").write_text("b = 2\n")
    (tmp_path / "edited/mine.py").write_text("a = 2\n")
    with pytest.raises(OfferError, match=r"Write --fixed agents/sac\.py=edited/agents"):
        offered(target(tmp_path / "project"), ["edited/agents/sac.py"], ())
    assert offered(target(tmp_path / "project"), ["edited/mine.py"], ()) == {tmp_path / "project/train.py": b"a = 2\n"}


@pytest.mark.usefixtures("fake")
def test_several_files_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_bytes(b"a = 1\n")
    (tmp_path / "lib2.py").write_bytes(b"a = 2\n")
    (tmp_path / "a=b.py").write_bytes(b"a = 3\n")
    found = offered(target(tmp_path), ["a=b.py", "lib.py=lib2.py"], ())
    assert found == {tmp_path / "train.py": b"a = 3\n", tmp_path / "lib.py": b"a = 2\n"}


@pytest.mark.usefixtures("fake")
def test_a_file_outside_the_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").touch()
    with pytest.raises(OfferError, match="outside the project"):
        offered(target(tmp_path / "project"), [f"{tmp_path}/train.py=train.py"], ())


@pytest.mark.usefixtures("fake")
def test_standard_input_may_be_a_file_or_a_patch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_bytes(b"a = 1\n")
    patch = b"--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    for data, options in ((b"a = 2\n", (["-"], ())), (patch, ((), ["-"]))):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert offered(target(tmp_path), *options) == {tmp_path / "train.py": b"a = 2\n"}


@pytest.mark.usefixtures("fake")
def test_a_diff_against_an_edited_copy_means_the_original(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(b"a = 1\n")
    body = b"@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    for header in (b"--- train.py\t2026-01-01\n+++ fixed.py\t2026-01-01\n", b"--- a/old.py\n+++ b/train.py\n"):
        (tmp_path / "x.diff").write_bytes(header + body)
        assert offered(target(tmp_path), (), ["x.diff"]) == {tmp_path / "train.py": b"a = 2\n"}


@pytest.mark.usefixtures("fake")
def test_patches_follow_each_other(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(b"a = 1\n")
    for number in (1, 2):
        header = b"--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n"
        (tmp_path / f"{number}.diff").write_bytes(header + b"-a = %d\n+a = %d\n" % (number, number + 1))
    assert offered(target(tmp_path), (), ["1.diff", "2.diff"]) == {tmp_path / "train.py": b"a = 3\n"}


# --- the program as installed ----------------------------------------------------------------


def test_help_and_version_and_the_catalogue(typed: Typed, tmp_path: Path) -> None:
    assert autofix("--version", cwd=tmp_path).stdout.startswith("autofix ")
    assert "fix" in typed("--help").stdout
    assert "--write" in typed("fix", "--help").stdout
    rows = json.loads(typed("rules", "--output-format", "json").stdout)
    for word in (rows[0]["code"], rows[0]["code"].lower(), rows[0]["name"]):
        assert "## Fix safety" in typed("explain", word).stdout


def test_every_code_that_is_told_is_listed_explained_and_selected_alike(typed: Typed, tmp_path: Path) -> None:
    rows = json.loads(typed("rules", "--output-format", "json").stdout)
    codes = [row["code"] for row in rows]
    assert {"AG201", "AG501", "AG509"} <= {*codes}
    assert len(codes) == len(set(codes))
    assert [line.split()[0] for line in typed("rules").stdout.splitlines()] == codes
    (tmp_path / "train.py").write_text("x = 1\n")
    for row in rows:
        assert api.explain(row["code"]).startswith(f"# {row['code']} {row['name']}")
        refused = typed("fix", "--ignore", row["code"], "--select", "AG201,AG202", "missing.py")
        assert (refused.returncode, refused.stderr) == (2, "autofix: missing.py: there is no such file\n")
    for words, said in (
        (
            ("fix", "--select", "AG501", "missing.py"),
            "AG501 missing-zero-grad is no rule: `autofix check --select AG501`",
        ),
        (("check", "--select", "AG302", str(tmp_path)), "`autofix rules`"),
    ):
        refused = typed(*words)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert said in refused.stderr


def test_the_page_of_a_rule_names_its_causes_in_words(typed: Typed) -> None:
    page = typed("explain", "AG202").stdout
    assert "- backward needs a graph that an earlier backward has freed\n" in page
    assert "freed_graph" not in page


@pytest.mark.parametrize("name", ["left-out-of-graph", "view-modified", "AG105", "write-to-leaf"])
def test_every_name_that_a_report_tells_is_explained_and_listed(typed: Typed, name: str) -> None:
    assert name in typed("explain", name).stdout.partition("\n")[0].replace("AG301 ", "")
    assert name in typed("explain").stdout


def test_help_offers_only_formats_that_work(typed: Typed) -> None:
    offered = typed("rules", "--help").stdout
    assert "text or json" in offered
    assert "sarif" not in offered


def test_importing_the_command_line_loads_no_other_module_of_ours(tmp_path: Path) -> None:
    code = "import sys, autofix.cli; print(sorted(m for m in sys.modules if m.split('.')[0] in ('autofix', 'rich')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "['autofix', 'autofix.cli', 'autofix.cli.launcher', 'autofix.cli.options']\n"


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.usefixtures("warm")
def test_a_real_script_is_shown_patched_fixed_and_judged(typed: Typed, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "two_losses_one_output" / "broken.py", tmp_path / "train.py")
    before = (tmp_path / "train.py").read_bytes()
    shown = typed("fix", "--output-format", "json", "train.py")
    assert shown.returncode == 1, shown.stderr
    found = json.loads(shown.stdout)
    assert (found["outcome"], found["failure"]["cause"]) == ("available", "freed_graph")
    assert (tmp_path / "train.py").read_bytes() == before
    patched = typed("fix", "--diff", "train.py")
    assert patched.returncode == 1
    git = shutil.which("git") or "git"
    subprocess.run([git, "apply", "--check", "-"], cwd=tmp_path, input=patched.stdout, text=True, check=True)
    (tmp_path / "x.diff").write_text(patched.stdout)
    assert typed("verify", "--patch", "x.diff", "train.py").returncode == 0
    assert typed("fix", "--write", "train.py").returncode == 0
    assert typed("fix", "train.py").returncode == 0


def test_a_program_that_is_no_interpreter_is_one_line(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    (tmp_path / "train.py").write_text("import torch\n")
    done = autofix("fix", "--python", str(program), "train.py", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--python" in done.stderr


def test_an_interpreter_without_torch_is_one_line(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / ".venv")], check=True)
    (tmp_path / "train.py").write_text("import torch\n")
    done = autofix("fix", "train.py", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--python" in done.stderr


def test_statuses_are_those_of_the_table() -> None:
    assert {outcome for outcome, status in ending.STATUS.items() if status == 0} == {
        Outcome.FIXED, Outcome.CLEAN, Outcome.SAFE,
    }  # fmt: skip


OTHER = """\
import torch


def load(name):
    return open(name)


load("weights.pt")
"""


@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_a_failure_that_is_not_autograds_is_shown_with_its_traceback(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OTHER)
    done = typed("fix", "train.py")
    assert (done.returncode, done.stdout) == (2, "")
    *traceback, last = done.stderr.splitlines()
    assert traceback[0] == "Traceback (most recent call last):"
    assert [line.strip() for line in traceback if line.startswith("  File")] == [
        f'File "{tmp_path}/train.py", line 8, in <module>', f'File "{tmp_path}/train.py", line 5, in load',
    ]  # fmt: skip
    assert traceback[-1] == "FileNotFoundError: [Errno 2] No such file or directory: 'weights.pt'"
    assert last.startswith("autofix: train.py:5:12: it fails for a reason that is not autograd's: FileNotFoundError")

    failure = json.loads(typed("fix", "--output-format", "json", "train.py").stdout)["failure"]
    assert (failure["cause"], failure["type"], failure["line"]) == ("other", "FileNotFoundError", 5)
    assert failure["traceback"].splitlines() == traceback
    assert typed("fix", "-q", "train.py").stderr == f"{last}\n"


@pytest.mark.torch
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sys.exit(3)", "SystemExit: 3"),
        ("print('no lr', file=sys.stderr), sys.exit(2)", "SystemExit: 2; the last that it printed: no lr"),
        ("1 +", "SyntaxError: invalid syntax"),
    ],
)
def test_an_exit_and_a_typo_have_their_line_too(typed: Typed, tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "train.py").write_text(f"import sys\n{line}\n")
    done = typed("fix", "train.py")
    assert done.returncode == 2
    assert f'File "{tmp_path}/train.py", line 2' in done.stderr
    assert said in done.stderr.splitlines()[-1]
