"""Starts the probe: leaves `sys.path` as the user's program expects it and loads itself under a private name."""

import importlib.util
import os
import sys

NAME = "_autofix_probe"


def start() -> None:
    """Load the package beside this file as `_autofix_probe`; hand over to its server, or to a real run (`--real`)."""
    sys.path.pop(0)
    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        NAME, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    if spec is None or spec.loader is None:
        raise SystemExit(2)
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    if sys.argv[1:2] == ["--real"]:
        importlib.import_module(f"{NAME}.real").main(*sys.argv[2:4])
    else:
        importlib.import_module(f"{NAME}.server").main(sys.argv[1:])


if __name__ == "__main__":
    start()
