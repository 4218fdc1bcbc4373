"""What a run may write, reach and leave behind: ordinary damage, and a folder full of hostile scripts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from autofix.probe.fence import copies, isolate, usage

if sys.platform != "linux":
    pytest.skip("fences are made of Linux calls", allow_module_level=True)

HOSTILE = Path(__file__).parent / "hostile"
TRICKS = sorted(path.name for path in HOSTILE.glob("[a-z]*.py"))
NOBODY = 23456  # nobody in the user database, and not the number that stands for unmapped owners
SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 -- that they stay clean is what is tested
# What Landlock leaves open, by the trick that goes there; docs/reliability.md says the same. All else it promises.
OPEN_TO_LANDLOCK = {
    "attributes.py": "attributes",  # it has no say in chmod, chown, utime and extended attributes
    "setuid.py": "attributes",
    "symlinks.py": "attributes",
    "ipc.py": "ipc",  # System V objects belong to no process and need an IPC namespace
    "limits.py": "neighbours",  # limits and priorities of one's own other processes need a PID namespace
    "network.py": "sockets",  # those in the file system need a mount to cover them
    "fork_bomb.py": "processes",  # the builder counts them, which landlock has not; the server does instead
    "fill_disk.py": "disk",  # the private copy lies on a disk without a quota
}


def old_interpreter() -> str | None:
    """Return an interpreter that any user may run: the tests' own often lies in a private home."""
    for name in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            command = [name, "-c", "import sys; print(sys.version_info >= (3, 11))"]
            told = subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], check=True, capture_output=True)
            if told.stdout.strip() == b"True":
                return name
    return None


ROOT = os.geteuid() == 0
ANYBODYS = old_interpreter() if ROOT else None
AVAILABLE = isolate.available()


@dataclass
class World:
    """A small machine's worth of files, and servers and a process outside the fence."""

    base: Path
    hostile: Path
    user: int
    token: str
    port: int
    victim: subprocess.Popen[bytes]
    sockets: list[socket.socket]
    connected: list[str] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def project(self) -> Path:
        return self.home / "project"

    def run(self, script: str | Path, rung: str, *, within: Sequence[str] = (), **request: Any) -> dict[str, Any]:
        """Run a script behind a fence and return what the driver tells."""
        request = {"rung": rung, "project": str(self.project), "cwd": str(self.project), **request}
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HOSTILE_PROJECT": str(self.project),
            "HOSTILE_HOME": str(self.home),
            "HOSTILE_TOKEN": self.token,
            "HOSTILE_VICTIM": str(self.victim.pid),
            "HOSTILE_PORT": str(self.port),
            "HOSTILE_SOCKET": str(self.base / "near.sock"),
            "HOSTILE_FAR_SOCKET": str(far_folder(self) / "far.sock"),
            **request.pop("environment", {}),
        }
        other = self.user != os.geteuid()
        command = [ANYBODYS if other and ANYBODYS else sys.executable, "-B", str(self.hostile / "_driver.py")]
        who: dict[str, Any] = {"user": self.user, "group": self.user, "extra_groups": []} if other else {}
        done = subprocess.run(
            [*within, *command, json.dumps({**request, "script": str(script)})],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, **who,
        )  # fmt: skip
        assert done.stdout.strip(), done.stderr.decode()
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        told["output"] = done.stdout.decode(errors="replace")
        told["error"] = done.stderr.decode(errors="replace")
        return told


def far_folder(world: World) -> Path:
    """Return a folder outside everything that is overlaid."""
    return Path("/opt" if ROOT else str(Path(__file__).parent)) / f".autofix-{world.token}"


def snapshot(*roots: Path) -> dict[str, tuple[Any, ...]]:
    """Return everything below some folders that a run could have changed."""
    found: dict[str, tuple[Any, ...]] = {}
    for root in roots:
        for path in (root, *root.rglob("*")):
            info = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(info.st_mode) else ""
            names = os.listxattr(path, follow_symlinks=False)
            kind = (info.st_mode, info.st_uid, info.st_gid, info.st_nlink, info.st_size, info.st_mtime_ns)
            found[str(path)] = (*kind, content, tuple(names))
    return found


def contents(found: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    """Return the same without modes, owners, times and attributes."""
    return {path: (stat.S_IFMT(facts[0]), facts[3], facts[-2]) for path, facts in found.items()}


def marked(token: str) -> list[int]:
    """Return the processes that were started with this run's token in their environment."""
    found = []
    for name in (path.name for path in Path("/proc").iterdir()):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                state = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[0]
                if token.encode() in Path(f"/proc/{name}/environ").read_bytes() and state != b"Z":
                    found.append(int(name))
    return found


def traces(token: str) -> list[str]:
    """Return what bears this run's token where everybody may write, and among what outlives processes."""
    found = [
        f"{root}/{name}"
        for root in (*SHARED, "/", "/etc", "/run")
        for name in (path.name for path in Path(root).iterdir())
        if token in name
    ]
    key = str(int(token[-7:], 16))
    for table in ("shm", "sem", "msg"):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/sysvipc/{table}").read_text().splitlines()[1:]
            found += [f"sysvipc {table}" for line in lines if line.split()[0] == key]
    return found


def listen(world: World, server: socket.socket, name: str) -> None:
    """Accept connections for as long as the server lives, and note each."""
    server.listen()
    world.sockets.append(server)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                server.accept()[0].close()
                world.connected.append(name)

    threading.Thread(target=serve, daemon=True).start()


def open_servers(world: World, tcp: socket.socket) -> None:
    listen(world, tcp, "tcp")
    for address in (str(world.base / "near.sock"), str(far_folder(world) / "far.sock"), "\0" + world.token):
        server = socket.socket(socket.AF_UNIX)
        server.bind(address)
        if not address.startswith("\0"):
            Path(address).chmod(0o777)
        listen(world, server, address)


def fill(root: Path) -> None:
    (root / "runs" / "old").mkdir(parents=True)
    (root / "data").mkdir()
    for name in ("best_model.pt", "log.txt", "delete_me.txt", "runs/old/events", "data/train.csv"):
        (root / name).write_text(f"{name} as it was\n" * 20)
        os.utime(root / name, (1_600_000_000, 1_600_000_000))


@pytest.fixture(scope="module")
def hostile() -> Iterator[Path]:
    """Yield the hostile scripts in a checkout that every user can read: the real one may lie in a private home."""
    source = HOSTILE.parent.parent
    with tempfile.TemporaryDirectory(prefix="autofix-checkout-") as folder:
        checkout = Path(folder)
        for name in ("autofix/__init__.py", "autofix/probe", "tests/hostile"):
            (checkout / name).parent.mkdir(exist_ok=True)
            copy = shutil.copytree if (source / name).is_dir() else shutil.copy
            copy(source / name, checkout / name)
        for path in (checkout, *checkout.rglob("*")):
            path.chmod(0o755)
        yield checkout / "tests" / "hostile"


def make_world(user: int, hostile: Path) -> World:
    token = f"hostile-{secrets.token_hex(6)}"
    base = Path(tempfile.mkdtemp(prefix="autofix-world-"))
    tcp = socket.create_server(("127.0.0.1", 0))
    victim = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True, user=user if ROOT else None)
    world = World(base, hostile, user, token, tcp.getsockname()[1], victim, [])
    far_folder(world).mkdir()
    for root in (world.project, world.home):
        fill(root)
    base.chmod(0o755)
    if ROOT:
        for path in (world.home, *world.home.rglob("*")):
            os.chown(path, user, user)
    open_servers(world, tcp)
    return world


@contextlib.contextmanager
def a_world(user: int, hostile: Path) -> Iterator[World]:
    made = make_world(user, hostile)
    try:
        yield made
    finally:
        made.victim.kill()
        made.victim.wait()
        for server in made.sockets:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        shutil.rmtree(made.base)
        shutil.rmtree(far_folder(made))


@pytest.fixture(params=["self", "nobody"])
def world(request: pytest.FixtureRequest, hostile: Path) -> Iterator[World]:
    if request.param == "nobody" and not (ROOT and ANYBODYS):
        pytest.skip("needs root, and an interpreter that every user may run, to run as another user")
    with a_world(NOBODY if request.param == "nobody" else os.geteuid(), hostile) as made:
        yield made


def need(rung: str) -> None:
    if rung not in AVAILABLE:
        pytest.skip(f"this machine refuses the rung {rung!r}; it offers {AVAILABLE}")


def script(world: World, source: str) -> Path:
    path = world.base / "script.py"
    path.write_text(source)
    path.chmod(0o644)
    return path


def told_apart(world: World, is_open: str) -> None:
    """Take away what Landlock lets a script leave: in shared memory always, among System V objects where it tried."""
    for path in Path("/dev/shm").glob(f"{world.token}*"):  # noqa: S108
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    if is_open == "ipc":
        key = str(int(world.token[-7:], 16))
        subprocess.run(["/usr/bin/ipcrm", "-M", key, "-S", key, "-Q", key], check=True)


def assert_untouched(world: World, before: dict[str, tuple[Any, ...]], is_open: str = "") -> None:
    for _ in range(100):  # what was killed may take a moment to be gone
        if not marked(world.token):
            break
        time.sleep(0.01)
    assert marked(world.token) == []
    after = snapshot(world.base)
    if is_open == "attributes":
        assert contents(after) == contents(before)
    else:
        assert after == before
    assert traces(world.token) == []
    assert world.victim.poll() is None
    state = Path(f"/proc/{world.victim.pid}/stat").read_bytes().rpartition(b")")[2].split()
    assert state[0] == b"S", "the process outside was stopped"
    as_before = int(state[16]) == os.getpriority(os.PRIO_PROCESS, 0)  # as its parent, this process
    assert as_before or is_open == "neighbours", "the process outside was made nicer"
    assert world.connected == [] or (is_open == "sockets" and "tcp" not in world.connected)


@pytest.mark.parametrize(
    ("rung", "trick"),
    [
        pytest.param(rung, trick, marks=[pytest.mark.apart("long")] * bool((at + (rung == "landlock")) % 2))
        for rung in ("overlay", "landlock")
        for at, trick in enumerate(TRICKS)
    ],
)
def test_a_hostile_script_neither_escapes_nor_survives(world: World, trick: str, rung: str) -> None:
    need(rung)
    if rung == "landlock" and trick == "kill_all.py" and isolate._linux.landlock_abi() < 6:
        pytest.skip("Landlock keeps signals inside from its version 6 on")
    is_open = OPEN_TO_LANDLOCK.get(trick, "") if rung == "landlock" else ""
    limits = {"stubborn.py": 1, "terminal.py": 5, **({"fork_bomb.py": 1} if is_open else {})}
    before = snapshot(world.base)
    told = world.run(world.hostile / trick, rung, limit=limits.get(trick, 20), processes=60, disk=8 << 20)
    assert told["report"].startswith(f"{rung}\n"), told
    assert "ESCAPED" not in told["output"] or is_open in {"neighbours", "sockets"}
    assert "ESCAPED 127.0.0.1" not in told["output"]
    assert "UNBOUNDED" not in told["output"] or is_open == "disk"
    assert "Traceback" not in told["error"], told["error"]
    assert told["clean"]
    assert not told["scratch_left"]
    assert told["timed_out"] == (trick in {"stubborn.py", "fork_bomb.py"} and limits.get(trick) == 1)
    if rung == "landlock":
        told_apart(world, is_open)
    assert_untouched(world, before, is_open)


def test_there_are_twenty_tricks() -> None:
    assert len(TRICKS) >= 20


@pytest.mark.parametrize("rung", ["overlay", "landlock", "copy"])
def test_an_honest_script_that_saves_by_relative_paths_leaves_nothing(world: World, rung: str) -> None:
    need(rung)
    before = snapshot(world.base / "home")
    source = (
        "import os, shutil, tempfile\n"
        "open('best_model.pt', 'wb').write(b'new')\n"
        "open('log.txt', 'a').write('more')\n"
        "shutil.rmtree('runs'); os.makedirs('runs/new'); shutil.move('data', 'moved'); os.unlink('delete_me.txt')\n"
        "tempfile.NamedTemporaryFile(delete=False).close()\n"
        "open(os.path.expanduser('~/cache'), 'w').close()\n"
    )
    told = world.run(script(world, source), rung)
    assert (told["status"], told["error"]) == (0, "")
    assert snapshot(world.base / "home") == before
    assert traces(world.token) == []
    assert [f"{world.project}/best_model.pt", "changed", 3] in told["writes"]


def test_what_it_tried_to_write_is_told(world: World) -> None:
    need("overlay")
    told = world.run(world.hostile / "overwrite.py", "overlay")
    kinds = {
        Path(path).relative_to(world.base).as_posix(): kind
        for path, kind, _ in told["writes"]
        if "hostile-" not in path
    }
    assert kinds["home/best_model.pt"] == "changed"
    assert kinds["home/project/delete_me.txt"] == "deleted"
    assert kinds["home/project/relative.txt"] == "created"
    if world.user == 0:  # others cannot rename a folder that was there before: an overlay needs root's marks for it
        assert kinds["home/project/moved"] == "created"
    assert "home/.bashrc" not in kinds


@pytest.mark.parametrize("rung", ["overlay", "landlock", "copy"])
@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("raise SystemExit(7)", 7),
        ("import os; os._exit(3)", 3),
        ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM),
        ("import os; os.abort()", -signal.SIGABRT),
        ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
    ],
    ids=["exit code", "hard exit", "own signal", "abort", "segmentation fault"],
)
def test_it_ends_as_the_script_ended(world: World, rung: str, ending: str, status: int) -> None:
    need(rung)
    assert world.run(script(world, ending), rung)["status"] == status


def test_the_script_sees_its_own_world(world: World) -> None:
    need("overlay")
    source = (
        "import json, multiprocessing, os, socket, sys\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname(), 2)\n"
        "multiprocessing.Lock(); open('/dev/null', 'w').write('x'); open('/dev/urandom', 'rb').read(1)\n"
        "os.openpty()\n"
        "assert os.getpid() > 1 and str(os.getpid()) in os.listdir('/proc')\n"
        "assert open('best_model.pt').read().startswith('best_model.pt as it was')\n"
        "print('SEEN', json.dumps([os.getuid(), os.getgid(), os.getcwd(), os.stat('log.txt').st_uid]))\n"
    )
    told = world.run(script(world, source), "overlay")
    assert told["status"] == 0, told["error"]
    seen = next(line for line in told["output"].splitlines() if line.startswith("SEEN "))
    assert json.loads(seen[5:]) == [world.user, world.user, str(world.project), world.user]


@pytest.mark.parametrize("rung", ["overlay", "landlock", "copy"])
def test_a_script_may_name_its_threads(world: World, rung: str) -> None:
    need(rung)
    source = (
        "import threading\n"
        "def rename():\n"
        "    path = f'/proc/self/task/{threading.get_native_id()}/comm'\n"
        "    open(path, 'w').write('worker')\n"
        "    print('NAMED', open(path).read())\n"
        "for _ in range(2):\n"
        "    thread = threading.Thread(target=rename); thread.start(); thread.join()\n"
    )
    told = world.run(script(world, source), rung)
    assert told["output"].count("NAMED worker") == 2, told["error"]


def test_the_network_opens_on_demand(world: World) -> None:
    need("overlay")
    source = f"import socket; socket.create_connection(('127.0.0.1', {world.port}), 2)"
    assert world.run(script(world, source), "overlay")["status"] == 1
    assert world.connected == []
    assert world.run(script(world, source), "overlay", network=True)["status"] == 0


def test_too_many_processes_end_the_run_and_are_named(world: World) -> None:
    need("overlay")
    told = world.run(world.hostile / "fork_bomb.py", "overlay", processes=30)
    assert (told["stopped"], told["status"]) == ("processes", -signal.SIGKILL)


def test_nothing_survives_the_death_of_the_waiter(world: World) -> None:
    need("overlay")
    told = world.run(script(world, "import os, time\nos.fork()\ntime.sleep(60)"), "overlay", limit=0.3)
    assert (told["timed_out"], told["status"]) == (True, -signal.SIGKILL)
    assert_untouched(world, snapshot(world.base))


def test_nothing_survives_the_death_of_the_parent(world: World) -> None:
    need("overlay")
    source = "import os, signal, time\nos.fork()\ntime.sleep(60)"
    request = {
        "rung": "overlay",
        "project": str(world.project),
        "cwd": str(world.project),
        "script": str(script(world, source)),
    }
    environment = {**os.environ, "HOME": str(world.home), "HOSTILE_TOKEN": world.token, "TMPDIR": str(world.base)}
    command = [sys.executable, "-B", str(world.hostile / "_driver.py"), json.dumps(request)]
    driver = subprocess.Popen(command, env=environment)
    for _ in range(500):
        if len(marked(world.token)) >= 5:  # driver, waiter, init, script and its child
            break
        time.sleep(0.01)
    assert len(marked(world.token)) >= 5
    driver.kill()
    driver.wait()
    for _ in range(200):
        if not marked(world.token):
            break
        time.sleep(0.01)
    assert marked(world.token) == []


@pytest.mark.skipif(not ROOT, reason="mounting something inside a project needs root")
@pytest.mark.parametrize("user", ["self", "nobody"])
def test_a_mount_inside_the_project_is_covered_too(user: str, hostile: Path) -> None:
    need("overlay")
    if user == "nobody" and not ANYBODYS:
        pytest.skip("needs an interpreter that every user may run")
    with a_world(NOBODY if user == "nobody" else 0, hostile) as world:
        inner = world.project / "data"
        subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "mode=777", "none", str(inner)], check=True)
        try:
            (inner / "mounted.csv").write_text("as it was")
            os.chown(inner / "mounted.csv", world.user, world.user)
            before = snapshot(world.base)
            source = (
                "import os; from pathlib import Path\n"
                "assert Path('data/mounted.csv').read_text() == 'as it was'\n"
                "assert Path('runs/old/events').read_text() and Path('best_model.pt').read_text()\n"
                "Path('data/mounted.csv').write_text('new'); Path('data/more').touch()\n"
                "Path('best_model.pt').write_text('new'); Path('runs/old/events').unlink(); Path('top').touch()\n"
            )
            told = world.run(script(world, source), "overlay")
            (world.base / "script.py").unlink()
            assert (told["status"], told["report"]) == (0, "overlay\n"), told
            after = snapshot(world.base)
            assert {k: v for k, v in after.items() if k != str(world.base)} == {
                k: v for k, v in before.items() if k != str(world.base)
            }
        finally:
            subprocess.run(["/bin/umount", str(inner)], check=True)


def test_awkward_names_and_nested_folders(world: World) -> None:
    need("overlay")
    project = world.home / "a,b:c\\d é" / "project"
    project.mkdir(parents=True)
    os.chown(project, world.user, world.user)
    source = "from pathlib import Path; Path('x').write_text('x'); Path('../y').exists()"
    told = world.run(script(world, source), "overlay", project=str(project), cwd=str(project))
    assert (told["status"], told["report"]) == (0, "overlay\n"), told
    assert list(project.iterdir()) == []
    assert [f"{project}/x", "created", 1] in told["writes"], told


@pytest.mark.parametrize("kept", [True, False], ids=["forked", "by itself"])
@pytest.mark.parametrize("trick", ["overwrite.py", "umount.py", "daemon.py"])
def test_it_also_works_inside_a_container(world: World, trick: str, kept: bool) -> None:
    need("overlay")
    container = ["/usr/bin/unshare", "-Urmpf", "--mount-proc"]
    if subprocess.run([*container, "/bin/true"], check=False, capture_output=True).returncode:
        pytest.skip("no unshare(1) to make a container with")
    if world.user == os.geteuid() and ROOT:
        Path(world.base).chmod(0o711)
    before = snapshot(world.base)
    told = world.run(world.hostile / trick, "overlay", within=container, kept=kept)
    assert told["report"] == "overlay\n"
    assert_untouched(world, before)


def test_without_namespaces_the_overlay_is_refused_and_the_rest_is_left(world: World) -> None:
    need("overlay")
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    within = ["/usr/bin/unshare", "-Urmpf", "--mount-proc", "/bin/sh", "-c", forbid, "sh"]
    told = world.run(script(world, "print('ESCAPED')"), "overlay", within=within)
    assert told["status"] == 99
    assert told["report"].startswith("refused: ")
    assert "ESCAPED" not in told["output"]
    if "landlock" in AVAILABLE:
        assert world.run(script(world, ""), "landlock", within=within)["status"] == 0


def test_a_refused_fence_changes_nothing(world: World) -> None:
    need("overlay")
    told = world.run(script(world, ""), "overlay", cwd=str(world.base / "absent"))
    assert told["status"] == 99
    assert told["report"].startswith("refused: ")


def test_available_is_best_first() -> None:
    found = isolate.available()
    assert found == [rung for rung in isolate.LADDER if rung in found]
    assert found[-2:] == ["copy", "none"]


def test_a_project_is_copied_where_the_system_has_none_of_the_linux_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    for name in ("project", "scratch"):
        (tmp_path / name).mkdir()
    (tmp_path / "project" / "small.txt").write_text("small")
    monkeypatch.setattr(sys, "platform", "other")
    monkeypatch.delattr(copies, "_linux")
    monkeypatch.delattr(os, "sched_getaffinity")
    copy = isolate.prepare_copy(str(tmp_path / "project"), str(tmp_path / "scratch"), link_large=False)
    assert (Path(copy) / "small.txt").read_text() == "small"
    assert usage.cores() == os.cpu_count()


def test_large_files_are_linked_only_where_the_link_cannot_be_written(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "large.bin").write_bytes(b"\0" * (9 << 20))
    (project / "small.txt").write_text("small")
    (project / "link.txt").symlink_to("small.txt")
    for link_large in (False, True):
        scratch = tmp_path / f"scratch{link_large}"
        scratch.mkdir()
        copy = Path(isolate.prepare_copy(str(project), str(scratch), link_large=link_large))
        assert (copy / "large.bin").read_bytes() == (project / "large.bin").read_bytes()
        assert (copy / "small.txt").stat().st_ino != (project / "small.txt").stat().st_ino
        assert (copy / "link.txt").resolve() == copy / "small.txt"
        assert link_large or not (copy / "large.bin").is_symlink()
