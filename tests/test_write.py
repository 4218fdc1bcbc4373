"""Files change together or not at all, keep what they are, and survive a kill at any moment."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import autofix.core.write
from autofix.core.write import JOURNAL, WriteRefused, write

OLD, NEW = b"x = 1\r\n", b"x = 2\r\n"


def files(root: Path) -> list[Path]:
    """Two files in different folders, as they were read."""
    found = [root / "a.py", root / "包" / "b.py"]
    for path in found:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(OLD)
    return found


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_files_change_together(tmp_path: Path) -> None:
    paths = files(tmp_path)
    write(dict.fromkeys(paths, (OLD, NEW)), tmp_path)
    assert tree(tmp_path) == {"a.py": NEW, "包/b.py": NEW}


def test_what_does_not_change_is_not_written(tmp_path: Path) -> None:
    path, _ = files(tmp_path)
    before = path.stat()
    write({path: (OLD, OLD)}, tmp_path)
    write({}, tmp_path)
    assert path.stat() == before


def test_mode_and_attributes_stay(tmp_path: Path) -> None:
    path, _ = files(tmp_path)
    path.chmod(0o2751)
    with_attribute = True
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        with_attribute = False
    if os.geteuid() == 0:
        os.chown(path, 1234, 2345)
        path.chmod(0o2751)
    before = path.stat()
    write({path: (OLD, NEW)}, tmp_path)
    after = path.stat()
    assert stat.S_IMODE(after.st_mode) == 0o2751
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert not with_attribute or os.getxattr(path, "user.note") == b"kept"


def test_a_link_stays_and_its_target_changes(tmp_path: Path) -> None:
    path, _ = files(tmp_path)
    link = tmp_path / "link.py"
    link.symlink_to("a.py")
    write({link: (OLD, NEW), path: (OLD, NEW)}, tmp_path)
    assert link.is_symlink()
    assert path.read_bytes() == NEW


def test_a_hard_link_is_parted(tmp_path: Path) -> None:
    path, _ = files(tmp_path)
    os.link(path, tmp_path / "shared.py")
    write({path: (OLD, NEW)}, tmp_path)
    assert path.read_bytes() == NEW
    assert (tmp_path / "shared.py").read_bytes() == OLD


def test_the_root_may_be_reached_through_a_link(tmp_path: Path) -> None:
    root = tmp_path / "real"
    root.mkdir()
    files(root)
    (tmp_path / "link").symlink_to(root)
    write({tmp_path / "link" / "a.py": (OLD, NEW)}, tmp_path / "link")
    assert (root / "a.py").read_bytes() == NEW


def outside(root: Path) -> Path:
    path = root.parent / f"{root.name}-outside.py"
    path.write_bytes(OLD)
    return path


def link_to_outside(root: Path) -> Path:
    (root / "link.py").symlink_to(outside(root))
    return root / "link.py"


def linked_folder(root: Path) -> Path:
    (root / "folder").symlink_to(outside(root).parent)
    return root / "folder" / outside(root).name


def dotted(root: Path) -> Path:
    return root / ".." / outside(root).name


def installed(root: Path) -> Path:
    path = root / ".venv" / "lib" / "site-packages" / "m.py"
    path.parent.mkdir(parents=True)
    path.write_bytes(OLD)
    return path


def link_to_installed(root: Path) -> Path:
    (root / "link.py").symlink_to(installed(root))
    return root / "link.py"


def read_only(root: Path) -> Path:
    path = root / "r.py"
    path.write_bytes(OLD)
    path.chmod(0o444)
    return path


def changed(root: Path) -> Path:
    path = root / "c.py"
    path.write_bytes(OLD + b"# since\n")
    return path


def folder(root: Path) -> Path:
    (root / "d.py").mkdir()
    return root / "d.py"


def pipe(root: Path) -> Path:
    os.mkfifo(root / "p.py")
    return root / "p.py"


def loop(root: Path) -> Path:
    (root / "l.py").symlink_to("l.py")
    return root / "l.py"


def missing(root: Path) -> Path:
    return root / "no\n\x1b[31m.py"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (outside, "outside"),
        (link_to_outside, "outside"),
        (linked_folder, "outside"),
        (dotted, "outside"),
        (installed, "installed package"),
        (link_to_installed, "installed package"),
        (read_only, "read-only"),
        (changed, "changed since it was read"),
        (folder, "no regular file"),
        (pipe, "no regular file"),
        (loop, "symbolic links|Symlink loop"),
        (missing, "No such file"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_must_not_change_is_refused_and_so_is_the_rest(tmp_path: Path, make, reason: str) -> None:  # noqa: ANN001
    paths = files(tmp_path)
    bad = make(tmp_path)
    outsider = bad.read_bytes() if bad.is_file() else None
    with pytest.raises(WriteRefused, match=reason) as caught:
        write({paths[0]: (OLD, NEW), bad: (OLD, NEW), paths[1]: (OLD, NEW)}, tmp_path)
    assert str(caught.value).isprintable()
    assert [path.read_bytes() for path in paths] == [OLD, OLD]
    assert outsider is None or bad.read_bytes() == outsider
    assert not [name for name in tree(tmp_path) if ".autofix" in name]


def test_one_file_under_two_names_must_become_one_thing(tmp_path: Path) -> None:
    path, _ = files(tmp_path)
    link = tmp_path / "link.py"
    link.symlink_to("a.py")
    with pytest.raises(WriteRefused, match="named twice"):
        write({path: (OLD, NEW), link: (OLD, b"y\n")}, tmp_path)
    assert path.read_bytes() == OLD


def test_a_missing_root_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteRefused, match="No such file"):
        write({}, tmp_path / "none")


def test_two_programs_do_not_write_at_once(tmp_path: Path) -> None:
    path, _ = files(tmp_path)
    with autofix.core.write._journal(tmp_path), pytest.raises(WriteRefused, match="another autofix"):
        write({path: (OLD, NEW)}, tmp_path)
    write({path: (OLD, NEW)}, tmp_path)
    assert path.read_bytes() == NEW


# --- failures on the way -------------------------------------------------------------------


class FailingRenames:
    """Path.replace that fails from some call on, or does something else first."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fail_at: int, error: BaseException) -> None:
        self.calls = 0
        original = Path.replace

        def replace(path: Path, target: Path) -> Path:
            self.calls += 1
            if self.calls == fail_at:
                raise error
            return original(path, target)

        monkeypatch.setattr(Path, "replace", replace)


@pytest.mark.parametrize("fail_at", [1, 2])
def test_a_rename_that_fails_takes_the_others_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail_at: int
) -> None:
    paths = files(tmp_path)
    FailingRenames(monkeypatch, fail_at, PermissionError(1, "Operation not permitted"))
    with pytest.raises(WriteRefused, match="not permitted"):
        write(dict.fromkeys(paths, (OLD, NEW)), tmp_path)
    assert tree(tmp_path) == {"a.py": OLD, "包/b.py": OLD}


def test_an_interrupt_between_renames_finishes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = files(tmp_path)
    FailingRenames(monkeypatch, 2, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        write(dict.fromkeys(paths, (OLD, NEW)), tmp_path)
    assert tree(tmp_path) == {"a.py": NEW, "包/b.py": NEW}


def test_a_file_changed_between_check_and_rename_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = files(tmp_path)
    original = Path.replace

    def replace(path: Path, target: Path) -> Path:
        paths[1].write_bytes(b"theirs\n")
        return original(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(WriteRefused, match="changed since"):
        write(dict.fromkeys(paths, (OLD, NEW)), tmp_path)
    assert tree(tmp_path) == {"a.py": OLD, "包/b.py": b"theirs\n"}


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = files(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(autofix.core.write, "_dress", full)
    with pytest.raises(WriteRefused, match="No space left"):
        write(dict.fromkeys(paths, (OLD, NEW)), tmp_path)
    assert tree(tmp_path) == {"a.py": OLD, "包/b.py": OLD}


@pytest.mark.parametrize(
    "text",
    [
        b"nonsense\n",
        b'[{"target": "../x.py"}]\ncommit\n',
        b'[{"target":"../o.py","temporary":"../.autofix-0123456789abcdef.tmp","undo":"../.autofix-0123456789abcdef.tmp","old":"","new":""}]\ncommit\n',
        b'[{"target":"a.py","temporary":"important.py","undo":".autofix-0123456789abcdef.tmp","old":"","new":""}]\n',
        b'[{"target":"none/a.py","temporary":"none/.autofix-0123456789abcdef.tmp","undo":"none/.autofix-0123456789abcdef.tmp","old":"","new":""}]\n',
    ],
    ids=["text", "fields", "outside", "names", "no folder"],
)
def test_a_journal_that_came_with_the_project_is_not_obeyed(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "important.py").write_bytes(OLD)
    (tmp_path / JOURNAL).write_bytes(text)
    with pytest.raises(WriteRefused, match="not a journal of ours"):
        write({}, tmp_path)
    assert tree(tmp_path) == {"important.py": OLD, JOURNAL: text}


def test_a_journal_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    path, other = files(tmp_path)
    (tmp_path / JOURNAL).symlink_to(other)
    with pytest.raises(WriteRefused):
        write({path: (OLD, NEW)}, tmp_path)
    assert other.read_bytes() == OLD


def test_a_journal_that_was_not_written_to_its_end_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_bytes(b'[{"tar')  # killed while it was written
    write({}, tmp_path)
    assert tree(tmp_path) == {}


# --- kills ---------------------------------------------------------------------------------

STEPS = {
    "write": os.write,
    "fsync": os.fsync,
    "open": os.open,
    "ftruncate": os.ftruncate,
    "chmod": os.chmod,
    "replace": os.replace,
    "rename": os.rename,
    "unlink": os.unlink,
}


def killed_after(step: int, root: Path, *, broken: bool) -> bool:
    """Write in a child that kills itself before its nth system call; False when it had fewer."""
    child = os.fork()
    if child == 0:
        count = 0

        def counted(name: str):  # noqa: ANN202 - a stand-in for whatever it wraps
            def call(*arguments: object, **named: object) -> object:
                nonlocal count
                count += 1
                if count > step:
                    os.kill(os.getpid(), signal.SIGKILL)
                if broken and name in {"replace", "rename"} and str(arguments[1]).endswith("b.py"):
                    raise PermissionError(1, "Operation not permitted")
                return STEPS[name](*arguments, **named)  # type: ignore[operator]

            return call

        for name in STEPS:
            setattr(os, name, counted(name))
        try:
            write(dict.fromkeys([root / "a.py", root / "包" / "b.py"], (OLD, NEW)), root)
        except WriteRefused:
            pass
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("broken", [False, True], ids=["forth", "and back"])
def test_a_kill_before_any_step_leaves_all_old_or_all_new(tmp_path: Path, broken: bool) -> None:
    seen = set()
    for step in range(200):
        root = tmp_path / str(step)
        root.mkdir()
        files(root)
        killed = killed_after(step, root, broken=broken)
        for name in ("a.py", "包/b.py"):
            assert (root / name).read_bytes() in {OLD, NEW}
        write({}, root)
        found = tree(root)
        assert found in ({"a.py": OLD, "包/b.py": OLD}, {"a.py": NEW, "包/b.py": NEW})
        seen.add(found["a.py"])
        if not killed:
            break
    assert not killed
    assert step > 15
    assert seen == {OLD, NEW}


WRITER = """
import sys
from pathlib import Path
from autofix.core.write import write
root = Path(sys.argv[1])
paths = [root / name for name in ("a.py", "b.py", "c.py")]
sys.stdout.write("ready")
sys.stdout.flush()
while True:
    now = paths[0].read_bytes()
    new = b"%d\\n" % (int(now) + 1) * 1
    write({path: (now, new) for path in paths}, root)
"""


@pytest.mark.slow
@pytest.mark.apart("long")
def test_200_kills_lose_nothing(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    for path in paths:
        path.write_bytes(b"0\n")
    moments = random.Random(7)  # noqa: S311 - moments, not secrets
    interrupted = 0
    for _ in range(200):
        command = [sys.executable, "-c", WRITER, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.read(5) == b"ready"
            time.sleep(moments.uniform(0, 0.02))
            assert child.poll() is None, child.communicate()
            child.kill()
        for path in paths:
            assert path.read_bytes().endswith(b"\n")
            assert int(path.read_bytes()) >= 0
        interrupted += (tmp_path / JOURNAL).exists()
        write({}, tmp_path)
        assert len({path.read_bytes() for path in paths}) == 1
        assert sorted(tree(tmp_path)) == ["a.py", "b.py", "c.py"]
    assert interrupted > 50
    assert int(paths[0].read_bytes()) > 0
