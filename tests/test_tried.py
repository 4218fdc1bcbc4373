"""What a script tried to write and to reach is told to whoever asks, and what its fence left open to everybody."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autofix import pipeline, render
from autofix.core.model import Target
from autofix.experiments.client import Probe
from autofix.render.snapshot import Snapshot
from autofix.render.terminal import lines

SCRIPT = """\
import socket, urllib.request
from pathlib import Path

Path("best_model.pt").write_bytes(b"new")
Path("log.txt").unlink()
try:
    urllib.request.urlopen("http://192.0.2.1:8080/", timeout=1)
except OSError:
    pass
try:
    socket.getaddrinfo("a.test", 1)
except OSError:
    pass
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
import torch

w = torch.ones(2, requires_grad=True)
loss = (w * w).sum()
loss.backward()
loss.backward()
"""


def shown(report: pipeline.Report, look: render.Look) -> str:
    return "\n".join(line.plain for line in lines(report, Snapshot(report), look))


@pytest.mark.torch
def test_what_a_script_tried_is_told(probe: Probe, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    (tmp_path / "log.txt").write_text("as it was")
    target = Target(script, cwd=tmp_path, root=tmp_path, python=Path(sys.executable))
    report = pipeline.fix(target, (), probe=probe, progress=lambda _: None)
    assert report.reached == ("192.0.2.1:8080", "a.test:1")
    text = shown(report, render.Look(verbose=True))
    assert f"tried to write: created {tmp_path}/best_model.pt" in text
    assert "tried to reach: 192.0.2.1:8080" in text
    assert "tried to" not in shown(report, render.Look())
    if report.isolation == "overlay":
        assert f"tried to write: deleted {tmp_path}/log.txt" in text
        assert sorted(path.name for path in tmp_path.iterdir()) == ["log.txt", "train.py"]
    for rung in ("landlock", "copy", "none"):
        assert render.words.OPEN[rung] in shown(replace(report, isolation=rung), render.Look())
