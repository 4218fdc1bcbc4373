"""`pytest --autofix`: under the traceback of a test that dies in autograd, the edit that is proved to cure it.

Without the option nothing is imported but this file.
"""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from autofix.api import Answer, Session

_PROBE = "_autofix_probe"
"""The name of autofix's own module in a process in which it runs a test: there no other run is begun."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Called by pytest."""
    said = "run each test that may have died in autograd again, and show the edit that is proved to cure it"
    parser.getgroup("autofix").addoption("--autofix", action="store_true", help=said)


def pytest_configure(config: pytest.Config) -> None:
    """Called by pytest."""
    if config.getoption("--autofix") and _PROBE not in sys.modules:
        config.pluginmanager.register(_Repairs(config), "autofix-repairs")


class _Repairs:
    """The repairs of one session; a line that fails in several tests is looked into once."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._session: Session | None = None
        self._seen: dict[tuple[str, int], str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "call" and report.failed and isinstance(item, pytest.Function) and call.excinfo is not None:
            text = self._about(item, call.excinfo)
            if text and (add := getattr(report.longrepr, "addsection", None)) is not None:
                add("autofix", text)
        return report

    def pytest_unconfigure(self) -> None:
        if self._session is not None:
            self._session.close()

    def _about(self, item: pytest.Function, error: pytest.ExceptionInfo[BaseException]) -> str:
        """What is shown below a traceback; nothing where autograd has no part in it."""
        if "torch" not in sys.modules or not _may_be_autograd(error):
            return ""
        place = self._place(error)
        if (first := self._seen.setdefault(place, item.nodeid)) != item.nodeid:
            return f"The same line failed in {first}: see there."
        node = f"{item.path}::{item.nodeid.partition('::')[2]}"
        try:
            return _shown(self._fix(node), node)
        except ValueError as unmeant:  # a setting in [tool.autofix] that cannot be meant
            return str(unmeant)

    def _fix(self, node: str) -> Answer:
        from autofix import api  # noqa: PLC0415  only where a test has failed

        if self._session is None:
            self._session = api.Session()
        config = self._config
        words = [f"--rootdir={config.rootpath}", *(["-c", str(config.inipath)] if config.inipath is not None else [])]
        words += [word for name in config.getoption("plugins") or () for word in ("-p", name)]
        return self._session.fix("", words, pytest=node, cwd=config.invocation_params.dir, python=sys.executable)

    def _place(self, error: pytest.ExceptionInfo[BaseException]) -> tuple[str, int]:
        """The last line of the project that was running."""
        lines = [(str(entry.path), entry.lineno) for entry in error.traceback]
        return next((line for line in reversed(lines) if line[0].startswith(str(self._config.rootpath))), lines[-1])


def _may_be_autograd(error: pytest.ExceptionInfo[BaseException]) -> bool:
    from autofix.core.model import Crash  # noqa: PLC0415  only where a test has failed

    return Crash.of(error.value).may_be_autograd


def _shown(answer: Answer, node: str) -> str:
    if not answer.fixes:
        if answer.outcome == "clean":
            return "It did not fail when it was run again by itself."
        return str(answer)
    fix = answer.fixes[0]
    unsafe = [] if fix.safe else ["--unsafe-fixes"]
    command = shlex.join(["autofix", "fix", "--write", *unsafe, "--pytest", node])
    doubts = [f"{doubt.name}: {doubt.detail}" for doubt in fix.guards]
    return "\n".join([
        f"Fix: {'+'.join(fix.rules)} {fix.title} ({fix.applicability})", "", fix.diff.rstrip("\n"), "",
        f"Effect: {fix.summary or fix.effect}", *doubts, f"To apply it: {command}",
    ])  # fmt: skip
