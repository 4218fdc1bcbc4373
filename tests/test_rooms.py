"""A room is used again only by runs of one burst, and only as long as no run has left anything in it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autofix.core.model import Target
from autofix.experiments.client import JOBS, Probe, run
from autofix.experiments.requests import plain
from autofix.probe import wire
from autofix.probe.fence import builder, isolate, room

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(sys.platform != "linux", reason="rooms are a Linux thing"),
    pytest.mark.skipif("overlay" not in isolate.available(), reason="this machine has no overlays to run in"),
]

ROOM = "import os\nat = os.stat('/dev')\nprint(at.st_dev, at.st_ctime_ns)\n"
LOOK = """
import ctypes, os, socket, subprocess

libc = ctypes.CDLL(None)
with socket.socket() as server:
    server.bind(("127.0.0.1", 29500))
with socket.socket(socket.AF_UNIX) as server:
    server.bind("\\0autofix-room")
print(
    sorted(os.listdir(".")), sorted(os.listdir("data")), oct(os.stat(".").st_mode), os.path.exists("/dev/shm/left"),
    os.path.exists("/dev/left"), libc.shmget(4711, 1, 0), [pid for pid in os.listdir("/proc") if pid.isdigit()][1:-1],
)
"""
TRICKS = {
    "nothing": "",
    "a file": "open('left', 'w').close()",
    "a file that was there": "open('data/old', 'a').write('more')",
    "a file that is gone": "import os\nos.unlink('data/old')",
    "a file for a while": "import os\nopen('left', 'w').close()\nos.unlink('left')",
    "a mode": "import os\nos.chmod('.', 0o700)",
    "shared memory": "open('/dev/shm/left', 'w').close()",
    "a device": "import contextlib\nwith contextlib.suppress(OSError):\n    open('/dev/left', 'w').close()",
    "an object of System V": "import ctypes\nctypes.CDLL(None).shmget(4711, 1, 0o1600)",
    "a process": "import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)",
    "a connection": """
import socket
with socket.socket() as server:
    server.bind(("127.0.0.1", 29500))
    server.listen()
    with socket.create_connection(("127.0.0.1", 29500)) as client:
        server.accept()[0].close()
        client.recv(1)
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a script that looks around, one that does something, and a file in a folder."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "old").write_text("old")
    tmp_path.chmod(0o755)
    (tmp_path / "look.py").write_text(LOOK)
    (tmp_path / "room.py").write_text(ROOM)
    (tmp_path / "trick.py").write_text("")
    return tmp_path


def asked(project: Path, name: str) -> wire.Request:
    return replace(plain(Target(project / name, root=project), "baseline"), isolation="overlay")


def together(probe: Probe, requests: list[wire.Request]) -> list[wire.Trace]:
    numbers = [probe.submit(one) for one in requests]
    return [probe.wait(number, 60.0) for number in numbers]


@pytest.mark.parametrize("trick", TRICKS)
def test_what_a_run_leaves_no_later_one_finds(probe: Probe, project: Path, trick: str) -> None:
    plain = run(probe, asked(project, "look.py"))
    assert plain.outcome == "finished", plain.detail
    (project / "trick.py").write_text(TRICKS[trick])
    traces = together(probe, [asked(project, name) for name in ("trick.py", "trick.py", "look.py") * 4])
    assert {trace.outcome for trace in traces} == {"finished"}, [trace.detail for trace in traces]
    assert {trace.stdout for trace in traces[2::3]} == {plain.stdout}
    assert all(not trace.wrote for trace in traces[2::3])
    assert len({trace.wrote for trace in traces[:1] + traces[1::3]}) == 1


def test_runs_that_leave_nothing_share_rooms_until_none_is_left_to_do(probe: Probe, project: Path) -> None:
    run(probe, asked(project, "room.py"))
    bursts = [together(probe, [asked(project, "room.py")] * 16) for _ in range(2)]
    rooms = [{trace.stdout for trace in burst} for burst in bursts]
    assert all(1 <= len(those) < 16 for those in rooms)
    assert not rooms[0] & rooms[1], "between them the files beneath may have changed"


def test_the_runs_of_one_repair_share_rooms_and_those_of_the_next_do_not(probe: Probe, project: Path) -> None:
    first = asked(project, "room.py")
    later = replace(first, mode="candidate")
    rooms = [[run(probe, one).stdout for one in (first, *[later] * 8)] for _ in range(2)]
    assert all(len(set(those)) < len(those) for those in rooms)
    assert not set(rooms[0]) & set(rooms[1]), "between them the files beneath may have changed"


def test_other_folders_and_other_rights_have_other_rooms(probe: Probe, project: Path) -> None:
    run(probe, asked(project, "room.py"))
    one = asked(project, "room.py")
    other = replace(one, network=True)
    traces = together(probe, [one, other] * 6)
    assert not {trace.stdout for trace in traces[::2]} & {trace.stdout for trace in traces[1::2]}


def test_files_held_in_memory_are_bounded_as_memory_is(probe: Probe, project: Path) -> None:
    (project / "trick.py").write_text(
        "import os\nfile = os.open('/dev/shm/big', os.O_CREAT | os.O_WRONLY)\nos.posix_fallocate(file, 0, 800 << 20)\n"
    )
    first = run(probe, asked(project, "room.py"))
    assert first.outcome == "finished", first.detail
    full = run(probe, replace(asked(project, "trick.py"), memory_limit=700 << 20))
    assert full.failure is not None
    assert "No space left" in full.failure.message


@pytest.mark.skipif(JOBS < 2, reason="this machine has one core, and makes one run at a time")
def test_who_gives_up_a_run_may_have_changed_files_meanwhile(probe: Probe, project: Path) -> None:
    (project / "trick.py").write_text("import time\ntime.sleep(60)\n")
    run(probe, asked(project, "room.py"))
    lasting = probe.submit(asked(project, "trick.py"))

    def rooms() -> set[str]:
        return {trace.stdout for trace in together(probe, [asked(project, "room.py")] * 4)}

    before, still = rooms(), rooms()
    assert before & still
    probe.drop(lasting)
    assert not rooms() & (before | still)


def children(process: int) -> list[int]:
    """The processes that a process has started, and that live."""
    living = []
    for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        with contextlib.suppress(OSError):
            if ") Z " not in Path(f"/proc/{pid}/stat").read_text():
                living.append(int(pid))
    return living


@pytest.mark.slow
@pytest.mark.apart("long")
def test_runs_in_fresh_processes_leave_no_dead_ones(python: Path, project: Path) -> None:
    with Probe(python, fresh=True) as fresh:
        for _ in range(4):
            assert run(fresh, asked(project, "room.py")).outcome == "finished"
        started = Path(f"/proc/{fresh.pid}/task/{fresh.pid}/children").read_text().split()
    assert len(started) <= 3, "the keeper, and what the last run has left"


@pytest.mark.skipif(JOBS < 2, reason="this machine has one core, and makes one run at a time")
def test_a_room_prepared_before_a_run_was_given_up_has_one_run(python: Path, project: Path) -> None:
    (project / "trick.py").write_text("import time\ntime.sleep(60)\n")
    with Probe(python) as fresh:
        run(fresh, asked(project, "room.py"))
        keeper = children(fresh.pid)[0]
        while children(keeper):  # until the first room is gone
            time.sleep(0.01)
        lasting = [fresh.submit(asked(project, "trick.py")) for _ in range(JOBS)]
        waits = fresh.submit(asked(project, "room.py"))
        while len(children(keeper)) <= JOBS:  # until its room is prepared
            time.sleep(0.01)
        fresh.drop(lasting[0])
        rooms = {fresh.wait(waits, 60.0).stdout}
        assert not rooms & {trace.stdout for trace in together(fresh, [asked(project, "room.py")] * 2)}
        fresh.drop(lasting[1])


@pytest.mark.skipif(JOBS < 2, reason="this machine has one core, and makes one run at a time")
def test_a_room_that_was_killed_while_it_waited_ends_no_server(python: Path, project: Path) -> None:
    (project / "trick.py").write_text("import time\ntime.sleep(60)\n")
    with Probe(python) as fresh:
        run(fresh, asked(project, "room.py"))
        keeper = children(fresh.pid)[0]
        lasting = fresh.submit(asked(project, "trick.py"))
        used = run(fresh, asked(project, "room.py"))
        assert run(fresh, asked(project, "room.py")).stdout == used.stdout
        waits = children(keeper)[-1]  # the last that was built
        os.kill(waits, signal.SIGKILL)
        while waits in children(keeper):
            time.sleep(0.01)
        again = run(fresh, asked(project, "room.py"))
        assert (again.outcome, again.stdout != used.stdout) == ("finished", True), again.detail
        fresh.drop(lasting)


def test_a_room_that_still_ends_a_run_is_not_as_new_whatever_was_said_before(project: Path, tmp_path: Path) -> None:
    """A run that was killed before it joined has not read what the room said when it was as new the last time."""
    (tmp_path / "scratch").mkdir()
    fence = isolate.Fence("overlay", str(project), str(project), str(tmp_path / "scratch"))
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os._exit(_uses_a_room_twice(fence))
        os._exit(70)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _uses_a_room_twice(fence: isolate.Fence) -> int:
    """The second run joins nothing; 0 if the room was then never taken for one that is as new."""
    builder.own_user_namespace()
    door, inner = room.socket.socketpair(room.socket.AF_UNIX, room.socket.SOCK_SEQPACKET)
    with inner:
        builder.answer(fence, inner, privileged=False)
    one = room.Room(fence, door)
    one.wait()
    said = []
    for joins in (True, False):
        if (run := one.fork()) == 0:
            with contextlib.suppress(BaseException):
                if joins:
                    one.join(None)
            os._exit(0)
        os.waitpid(run, 0)
        one.leave()
        end = time.monotonic() + 10 * joins
        while not one.as_new() and time.monotonic() < end:
            time.sleep(0.01)
        said.append(one.as_new())
    return 0 if said == [True, False] else 1
