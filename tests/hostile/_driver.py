"""Runs one hostile script behind a fence, as a fork server would, and prints what came of it as JSON."""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.dont_write_bytecode = True

from autofix.probe.fence import isolate
from autofix.probe.fence.keeper import Keeper


def script(fence: isolate.Fence, path: str, result: int, room: Any) -> int:
    """Enter, and be the user's process."""
    try:
        rung = isolate.enter(fence) if room is None else room.join(fence.keep) or fence.rung
    except isolate.Refused as reason:
        os.write(result, f"refused: {reason}".encode())
        return 99
    os.write(result, f"{rung}\n".encode())
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        runpy.run_path(isolate.moved(fence, path), run_name="__main__")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    except BaseException:
        os.write(2, traceback.format_exc().encode())
        return 1
    return 0


def main() -> None:
    """Run it, wait for it, and end what is left."""
    request = json.loads(sys.argv[1])
    path, limit = request.pop("script"), request.pop("limit", 20)
    keeper = Keeper() if request["rung"] == "overlay" and request.pop("kept", True) else None
    request.pop("kept", None)
    scratch = tempfile.mkdtemp(prefix="autofix-")
    told, result = os.pipe()
    fence = isolate.Fence(scratch=scratch, keep=(result,), **request)
    isolate.adopt_orphans()
    if fence.rung in {"landlock", "copy"}:
        isolate.prepare_copy(fence.project, scratch, link_large=fence.rung == "landlock")
    try:
        room = keeper.open(fence) if keeper is not None else None
    except isolate.Refused as reason:
        os.write(result, f"refused: {reason}".encode())
        room, keeper, path = None, None, os.devnull
    child = os.fork() if room is None else room.fork()
    if child == 0:
        code = script(fence, path, result, room)
        sys.stdout.flush()
        os._exit(code)
    os.close(result)
    end, status, timed_out = time.monotonic() + limit, None, False
    while status is None:
        pid, raw = os.waitpid(child, os.WNOHANG)
        if pid:
            status = os.waitstatus_to_exitcode(raw)
        elif not timed_out and time.monotonic() > end:
            timed_out = True
            isolate.kill_tree(child)
        time.sleep(0.002)
    if room is not None:
        room.finish()
    clean = isolate.sweep(scratch, keep=() if keeper is None else (keeper.pid,))
    writes, stopped = isolate.writes(scratch)
    isolate.clear(scratch)
    report = os.read(told, 4000).decode(errors="replace")
    found = [[w.path, w.kind, w.size] for w in writes]
    answer = {"status": status, "timed_out": timed_out, "clean": clean, "writes": found, "stopped": stopped}
    print(json.dumps({**answer, "report": report, "scratch_left": Path(scratch).exists()}))


if __name__ == "__main__":
    main()
