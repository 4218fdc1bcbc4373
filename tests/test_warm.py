"""A warm probe serves one repair after another, and is replaced when what it has imported is no longer so."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from autofix import warm
from autofix.model import Target
from autofix.references import request
from autofix.run import Probe, run

pytestmark = pytest.mark.torch


@pytest.fixture
def target(tmp_path: Path) -> Target:
    """A script that needs nothing but torch."""
    script = tmp_path / "project" / "train.py"
    script.parent.mkdir()
    script.write_text("import torch\nimport helper_of_mine\n\nprint(torch.ones(2).sum().item())\n")
    (script.parent / "helper_of_mine.py").write_text("")
    return Target(script, root=script.parent, python=Path(sys.executable))


def test_one_probe_serves_until_its_packages_change_or_it_dies(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(packages))
    with warm.Warm(Probe) as kept:
        first = kept.probe(target)
        assert run(first, request(target, "baseline")).stdout == "2.0\n"
        assert kept.probe(target) is first
        (packages / "something-1.0.dist-info").mkdir()
        second = kept.probe(target)
        assert second is not first
        assert not first.alive
        os.kill(second.pid, signal.SIGKILL)
        while second.alive:
            os.sched_yield()
        third = kept.probe(target)
        assert third is not second
        assert run(third, request(target, "baseline")).stdout == "2.0\n"
    assert not third.alive


def test_only_harmless_packages_and_never_the_users_own_are_imported_ahead(target: Target) -> None:
    target.script.write_text("import numpy as np\nimport helper_of_mine\nfrom matplotlib import pyplot\nimport torch\n")
    assert warm.modules(target) == ["torch._dynamo", "numpy"]
    target.script.write_text("import torch\n")
    assert warm.modules(target) == []
