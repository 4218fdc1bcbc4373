"""A real run: nothing fenced, nothing measured, nothing stopped; only a crash is written down before it is shown.

Run as a program: `python real.py FILE REQUEST [...]`; what went wrong goes into FILE, as one line of JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from typing import Any


def main(report: str, asked: str) -> None:
    """Run the target of the request in `asked`; ends as it ends."""
    package = importlib.import_module("_autofix_probe.wire")
    launching = importlib.import_module("_autofix_probe.program.launch")
    overlays = importlib.import_module("_autofix_probe.program.overlay")
    unwound = importlib.import_module("_autofix_probe.program.unwound")
    request = package.load(package.Request, asked.encode())
    overlay = overlays.Overlay({path: text.encode("latin-1") for path, text in request.overlay.items()}, {})
    overlay.install()
    os.environ.update(request.setup.environment)
    began = time.monotonic()
    try:
        launching.launch(request, overlay)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        _write(report, error, time.monotonic() - began)
        sys.stdout.flush()
        sys.stderr.write(unwound.text(error))
        sys.exit(1)


def _write(report: str, error: BaseException, seconds: float) -> None:
    facts: dict[str, Any] = {"type": type(error).__name__, "message": str(error), "seconds": seconds}
    with open(report, "w", encoding="utf-8") as file:
        json.dump(facts, file)


def start() -> None:
    """Load the package beside this file under its private name, as the server's start does."""
    import importlib.util

    sys.path.pop(0)
    here = os.path.dirname(os.path.abspath(__file__))
    name = "_autofix_probe"
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    if spec is None or spec.loader is None:
        raise SystemExit(2)
    sys.modules[name] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    main(*sys.argv[1:3])


if __name__ == "__main__":
    start()
