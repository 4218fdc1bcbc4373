"""Diffs that git and patch take as they are, and diffs of others read strictly."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autofix.core.diff import unified_diff
from autofix.target.patch import PatchError, apply_patch

ROOT = Path("/project")
Changes = dict[str, tuple[bytes, bytes]]


def diff(changes: Changes) -> bytes:
    return unified_diff({ROOT / name: change for name, change in changes.items()}, ROOT)


def with_git(folder: Path, patch: Path) -> None:
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", str(patch)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def with_patch(folder: Path, patch: Path) -> None:
    command = ["patch", "-p1", "--binary", "-s", "-f", "-i", str(patch)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def with_us(folder: Path, patch: Path) -> None:
    changed = apply_patch(patch.read_bytes(), lambda name: (folder / name).read_bytes())
    for name, data in changed.items():
        (folder / name).write_bytes(data)


APPLIERS = pytest.mark.parametrize("applied", [with_git, with_patch, with_us])
LONG = b"".join(b"line %d\n" % number for number in range(60))


@APPLIERS
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"a.py": (b"a\nb\nc\n", b"a\nB\nc\n")}, id="plain"),
        pytest.param({"a.py": (b"a\nb", b"a\nB")}, id="no last newline"),
        pytest.param({"a.py": (b"a\nb", b"a\nb\n")}, id="newline added"),
        pytest.param({"a.py": (b"a\nb\n", b"a\nb")}, id="newline removed"),
        pytest.param({"a.py": (b"a", b"a\nb")}, id="longer without newline"),
        pytest.param({"a.py": (b"", b"a\n")}, id="from empty"),
        pytest.param({"a.py": (b"a\n", b"")}, id="to empty"),
        pytest.param({"a.py": (b"a\r\nb\r\n\r\n", b"a\r\nx\r\nb\r\n\r\n")}, id="crlf"),
        pytest.param({"a.py": (b"a\r\nb\nc\rd\n", b"a\r\nb\nc\rD\r\n")}, id="mixed newlines"),
        pytest.param({"a.py": (b"# coding: gbk\n\xcb\xf0 = 1\n", b"# coding: gbk\n\xcb\xf0 = 2\n")}, id="gbk"),
        pytest.param({"a.py": (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n")}, id="byte order mark"),
        pytest.param({"a.py": (b"\x0c\na\n", b"\x0c\n-- b\n")}, id="form feed"),
        pytest.param({"a.py": (b"-- a\n++ b\n", b"++ a\n")}, id="lines like headers"),
        pytest.param(
            {"a.py": (LONG, LONG.replace(b"line 3\n", b"x\n").replace(b"line 50\n", b"").replace(b"9\n", b"9\ny\n"))},
            id="several hunks",
        ),
        pytest.param({"my file.py": (b"a\n", b"b\n"), "sub dir/b.py": (b"a\n", b"b\n")}, id="spaces"),
        pytest.param({"损失/训练.py": (b"a\n", b"b\n")}, id="not ascii"),
        pytest.param({'a"b\\c.py': (b"a\n", b"b\n"), "tab\there.py": (b"a\n", b"b\n")}, id="quoted"),
        pytest.param({"é 1.py": (b"a\n", b"b\n"), "same.py": (b"a\n", b"a\n")}, id="unchanged file"),
    ],
)
def test_a_diff_applies(tmp_path: Path, changes: Changes, applied: Callable[[Path, Path], None]) -> None:
    for name, (before, _) in changes.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(before)
    patch = tmp_path / "changes.diff"
    patch.write_bytes(diff(changes))
    applied(tmp_path, patch)
    for name, (_, after) in changes.items():
        # patch takes a file that ends up empty for one that is to be removed
        if after or applied is not with_patch:
            assert (tmp_path / name).read_bytes() == after


def test_what_does_not_change_leaves_no_trace() -> None:
    assert diff({"a.py": (b"a\n", b"a\n")}) == b""


def test_a_diff_looks_like_one_of_git() -> None:
    text = diff({"a.py": (b"a\nb\n", b"a\nc")})
    assert text == b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"


def test_a_long_file_is_compared_quickly() -> None:
    before = b"\n".join(b"x = %d\n\n" % (number % 50) for number in range(60_000))
    after = before.replace(b"x = 7", b"y", 1).replace(b"x = 9", b"z", 1)
    text = diff({"a.py": (before, after)})
    assert apply_patch(text, lambda _: before) == {"a.py": after}
    assert len(text) < 400


LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"\r", b"- x", b"\xe6\x80", b"@@ -1 +1 @@"]), max_size=12)


@given(LINES, LINES, st.booleans(), st.booleans())
@settings(max_examples=3 * settings.default.max_examples)
def test_any_diff_leads_from_one_file_to_the_other(
    before: list[bytes], after: list[bytes], ended: bool, also: bool
) -> None:
    old = b"\n".join(before) + (b"\n" if ended else b"")
    new = b"\n".join(after) + (b"\n" if also else b"")
    if old != new:
        assert apply_patch(diff({"a b.py": (old, new)}), lambda _: old) == {"a b.py": new}


@given(st.lists(st.tuples(LINES, LINES), min_size=1, max_size=2))
@settings(max_examples=settings.default.max_examples // 4)
def test_git_agrees_on_any_diff(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[list[bytes], list[bytes]]]
) -> None:
    changes = {f"{place}.py": (b"\n".join(old), b"\n".join(new)) for place, (old, new) in enumerate(files)}
    text = diff(changes)
    if not text:
        return
    folder = tmp_path_factory.mktemp("git")
    for name, (before, _) in changes.items():
        (folder / name).write_bytes(before)
    (folder / "changes.diff").write_bytes(text)
    with_git(folder, folder / "changes.diff")
    for name, (_, after) in changes.items():
        assert (folder / name).read_bytes() == after


# --- diffs of others -----------------------------------------------------------------------

FILE = b"".join(b"line %d\n" % number for number in range(1, 20))
HUNK = b"@@ -4,3 +4,3 @@\n line 4\n-line 5\n+LINE 5\n line 6\n"
AFTER = FILE.replace(b"line 5\n", b"LINE 5\n")


def patched(text: bytes, before: bytes = FILE) -> bytes:
    (data,) = apply_patch(text, lambda _: before).values()
    return data


@pytest.mark.parametrize(
    "text",
    [
        b"--- a/t.py\n+++ b/t.py\n" + HUNK,
        b"--- t.py\n+++ t.py\n" + HUNK,
        b"--- a/t.py\t2024-01-01 10:00:00\n+++ b/t.py\t2024-01-02\n" + HUNK,
        b"From: x\n\nHello\n---\n t.py | 2 +-\n\ndiff --git a/t.py b/t.py\nindex 1..2 100644\n--- a/t.py\n+++ b/t.py\n"
        + HUNK
        + b"-- \n2.40\n",
        b"```diff\n--- a/t.py\n+++ b/t.py\n" + HUNK + b"```\n",
        b"--- a/t.py\n+++ b/t.py\n" + HUNK.replace(b"-4,3 +4,3", b"-9,3 +9,3"),
        b"--- a/t.py\n+++ b/t.py\n" + HUNK.replace(b"-4,3 +4,3", b"-1,3 +1,3"),
        b"--- a/t.py\n+++ b/t.py\n@@ -5 +5 @@ def f():\n-line 5\n+LINE 5\n",
        b'--- "a/t.py"\n+++ "b/t\\056py"\n' + HUNK,
    ],
    ids=["git", "no prefix", "times", "mail", "fence", "moved up", "moved down", "no context", "quoted"],
)
def test_a_diff_is_read_however_it_is_wrapped(text: bytes) -> None:
    assert patched(text) == AFTER


def test_hunks_without_context_insert_where_they_say() -> None:
    assert patched(b"--- a/t\n+++ b/t\n@@ -2,0 +3 @@\n+new\n", b"a\nb\nc\n") == b"a\nb\nnew\nc\n"
    assert patched(b"--- a/t\n+++ b/t\n@@ -0,0 +1 @@\n+new\n", b"a\n") == b"new\na\n"


def test_an_empty_line_may_have_lost_its_space() -> None:
    text = b"--- a/t\n+++ b/t\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"
    assert patched(text, b"a\n\nb\n") == b"a\n\nc\n"


def test_a_file_that_comes_twice_is_changed_twice() -> None:
    one = b"--- a/t\n+++ b/t\n@@ -1 +1 @@\n-a\n+b\n"
    two = b"--- a/t\n+++ b/t\n@@ -1 +1 @@\n-b\n+c\n"
    assert patched(one + two, b"a\n") == b"c\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "no unified diff"),
        (b"hello\n", "no unified diff"),
        (HUNK, "line 1: a hunk without a file name"),
        (b"--- a/t.py\n+++ b/t.py\n", "no hunk"),
        (b"--- /dev/null\n+++ b/t.py\n" + HUNK, "creates or deletes"),
        (b"--- a/t.py\n+++ b/u.py\n" + HUNK, "renames"),
        (b"rename from t.py\n", "only changes of text files"),
        (b"GIT binary patch\n", "only changes of text files"),
        (b"--- a/../t.py\n+++ b/../t.py\n" + HUNK, "no path inside"),
        (b"--- /etc/t.py\n+++ /etc/t.py\n" + HUNK, "no path inside"),
        (b"--- a/t.py\n+++ b/t.py\n" + HUNK[:-9], "ends too early"),
        (b"--- a/t.py\n+++ b/t.py\n" + HUNK.replace(b"4,3 @@", b"4,2 @@"), "more lines|too early"),
        (b"--- a/t.py\n+++ b/t.py\n" + HUNK.replace(b"line 4", b"line x"), "t.py: hunk 1 does not match .* line 4"),
        (b"--- a/t.py\n+++ b/t.py\n" + HUNK.replace(b"4\n", b"4\r\n"), "other line endings"),
        (b"--- a/t.py\n+++ b/t.py\n@@ -99,0 +99 @@\n+x\n", "does not match"),
        (b"--- a/t.py\n+++ b/t.py\n" + HUNK + HUNK, "hunk 2 does not match"),
    ],
)
def test_a_diff_that_cannot_be_applied_says_why(text: bytes, message: str) -> None:
    with pytest.raises(PatchError, match=message) as caught:
        patched(text)
    assert "\n" not in str(caught.value)


def test_a_hunk_that_fits_two_places_equally_is_refused() -> None:
    text = b"--- a/t\n+++ b/t\n@@ -3 +3 @@\n-a\n+b\n"
    with pytest.raises(PatchError, match="fits two places"):
        patched(text, b"x\na\nx\na\nx\n")


PIECES = (
    b"--- a/t\n",
    b"+++ b/t\n",
    b"@@ -1 +1 @@\n",
    b"@@ -1,9 +0,0 @@\n",
    b"-a\n",
    b"+b\n",
    b" a\n",
    b"\\ No\n",
    b"\n",
)


@given(st.lists(st.sampled_from(PIECES), max_size=9).map(b"".join) | st.binary(max_size=60))
def test_no_diff_makes_it_stumble(text: bytes) -> None:
    try:
        apply_patch(text, lambda _: b"a\n")
    except PatchError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either it applies, or it says why
