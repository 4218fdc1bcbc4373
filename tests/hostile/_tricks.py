"""What the hostile scripts share: where to aim, and trying without giving up."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PROJECT, HOME = os.environ["HOSTILE_PROJECT"], os.environ["HOSTILE_HOME"]
TOKEN = os.environ["HOSTILE_TOKEN"]
VICTIM, PORT = int(os.environ["HOSTILE_VICTIM"]), int(os.environ["HOSTILE_PORT"])
SHARED = ["/tmp", "/var/tmp", "/dev/shm"]
libc = ctypes.CDLL(None, use_errno=True)


def attempt(trick: Callable[..., Any], *args: Any) -> Any:
    """Try something; that it fails is the expected case."""
    try:
        return trick(*args)
    except BaseException:
        return None


def spoil(root: str) -> None:
    """Leave as many traces below a folder as there are kinds."""
    top = Path(root)
    for path in (attempt(lambda: sorted(top.rglob("*"))) or [])[:20]:
        if path.is_file():
            attempt(path.write_bytes, b"spoiled")
    attempt((top / TOKEN).write_text, "left behind")
    attempt((top / f"{TOKEN}.d").mkdir)
    attempt(os.symlink, "/", top / f"{TOKEN}.link")
    attempt(os.mkfifo, top / f"{TOKEN}.fifo")


def spoil_all() -> None:
    """Spoil the project, the home and, by new names only, the shared folders."""
    for root in (PROJECT, HOME):
        spoil(root)
    for root in SHARED:
        attempt(Path(root, TOKEN).write_text, "left behind")


def escaped(how: str) -> None:
    """Tell the test that something worked which must not."""
    print(f"ESCAPED {how}", flush=True)
