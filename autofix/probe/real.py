"""A real run: nothing fenced, nothing measured, nothing stopped; only a crash is written down before it is shown.

What went wrong goes into a file, as one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback

from . import codec, wire
from .program import unwound
from .program.launch import launch
from .program.overlay import Overlay


def main(report: str, asked: str) -> None:
    """Run the target of the request in `asked`; ends as it ends."""
    request = codec.load(wire.Request, asked.encode())
    overlay = Overlay({path: text.encode("latin-1") for path, text in request.overlay.items()}, {})
    overlay.install()
    os.environ.update(request.setup.environment)
    began = time.monotonic()
    try:
        launch(request, overlay)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        _write(report, error, time.monotonic() - began)
        sys.stdout.flush()
        sys.stderr.write(unwound.text(error))
        sys.exit(1)


def _write(report: str, error: BaseException, seconds: float) -> None:
    line = "".join(f"{frame.filename} {frame.line}" for frame in traceback.extract_tb(error.__traceback__)[-1:])
    facts = {"type": type(error).__name__, "message": str(error), "seconds": seconds, "line": line}
    with open(report, "w", encoding="utf-8") as file:
        json.dump(facts, file)
