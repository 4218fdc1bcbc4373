"""A server that is killed leaves nothing behind, and its modules can be imported where there is nothing of Linux."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autofix.core.model import Target
from autofix.experiments.client import Probe, run
from autofix.experiments.requests import plain

LASTING = "import time\ntime.sleep(600)\n"
FOREIGN = """
import selectors, shutil, signal, socket, subprocess, sys, tempfile
sys.platform = {platform!r}
if sys.platform == "win32":
    for name in ("SIGKILL", "SIGSTOP", "SIGCHLD", "SIGALRM", "SIGPIPE"):
        delattr(signal, name)
    sys.modules["resource"] = sys.modules["fcntl"] = None
import autofix.probe.server
"""


@pytest.mark.torch
@pytest.mark.skipif(sys.platform != "linux", reason="the keeper is a Linux thing")
@pytest.mark.parametrize(("isolation", "fresh"), [("overlay", False), ("overlay", True), ("copy", False)])
def test_a_server_that_is_killed_leaves_no_scratch_folder(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, isolation: str, fresh: bool
) -> None:
    temporary, project = tmp_path / "temporary", tmp_path / "project"
    temporary.mkdir()
    project.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (project / "train.py").write_text(LASTING)
    (project / "short.py").write_text("")
    asked = replace(plain(Target(project / "train.py", root=project), "baseline"), isolation=isolation)
    with Probe(python, fresh=fresh) as probe:
        first = run(probe, replace(asked, script=str(project / "short.py")))
        if first.outcome == "cannot_run":
            pytest.skip(first.detail)
        probe.submit(asked)
        _until(lambda: any(temporary.glob("*/*")))
        os.kill(probe.pid, signal.SIGKILL)
        _until(lambda: not any(temporary.iterdir()))


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_the_probe_can_be_imported_without_linux(platform: str) -> None:
    subprocess.run([sys.executable, "-c", FOREIGN.format(platform=platform)], check=True)


def test_what_the_user_has_tuned_of_glibc_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$GLIBC_TUNABLES" > {tmp_path}/tunables\n')
    python.chmod(0o755)
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=2000")
    with Probe(python) as probe:
        probe._process.wait()
    assert (tmp_path / "tunables").read_text().strip().endswith(":glibc.rtld.optional_static_tls=2000")


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
