"""The extension for VS Code: its settings; and, set apart, the extension in VS Code itself, driven through a browser.

`make vscode` builds the extension, installs code-server from the npm registry and runs the tests that are set apart.
With AUTOFIX_PICTURES=FOLDER they leave their pictures there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from farms import program

import autofix
from autofix.core import config

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "editors" / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text("utf-8"))
BROKEN = (ROOT / "fixtures" / "first" / "two_losses_one_output" / "broken.py").read_text("utf-8")
CLOCKED = BROKEN.replace("import torch\n", "import time\n\nimport torch\n", 1).replace(
    "output = net(inputs)", "output = net(inputs) * (time.perf_counter_ns() % 97)"
)
SHOWN = {"write", "diff", "unsafe_fixes", "output_format", "quiet", "verbose", "full_paths", "color", "run", "reading"}
"""Options about what a terminal shows, about writing and about answers, which the editor has in its own way."""
UNTIL = 240.0
SERVER = Path(os.environ.get("CODE_SERVER", ROOT / "build" / "code-server")) / "node_modules" / "code-server"
apart = pytest.mark.apart("vscode")


def test_every_option_of_a_run_is_a_setting() -> None:
    settings = {name.removeprefix("autofix.") for name in MANIFEST["contributes"]["configuration"]["properties"]}
    options = {re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name) for name in settings}
    assert options - {"command", "arguments"} == {*config.NAMES} - SHOWN


def test_the_choices_of_a_setting_are_those_of_the_option() -> None:
    for name, one in MANIFEST["contributes"]["configuration"]["properties"].items():
        if "enum" in one:
            assert tuple(one["enum"]) == (*config.CHOICES[name.removeprefix("autofix.")], None)


def test_the_extension_has_the_version_of_autofix() -> None:
    assert MANIFEST["version"] == autofix.__version__
    assert json.loads((EXTENSION / "package-lock.json").read_text("utf-8"))["version"] == autofix.__version__


# --- in VS Code -----------------------------------------------------------------------------------------


class Window:
    """VS Code in a browser."""

    def __init__(self, browser: Any, address: str, home: Path) -> None:
        self._browser = browser
        self._address = address
        self.home = home

    def open(self, script: Path) -> None:
        """Open a script in a window of its own, and wait until the server has spoken of it."""
        host = self._address.removeprefix("http://")
        payload = quote(json.dumps([["openFile", f"vscode-remote://{host}{script}"]]))
        self._browser.get(f"{self._address}/?folder={script.parent}&payload={payload}")
        self.until(".codelens-decoration a", "Run and repair")

    def command(self, name: str) -> None:
        """Choose a command from the palette."""
        from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

        self.keys(Keys.F1)
        self.until(".quick-input-widget:not([style*='display: none']) input")
        self.keys(name)
        self.until(".quick-input-list .monaco-list-row.focused", name)
        self.keys(Keys.ENTER)

    def keys(self, *keys: str, control: bool = False) -> None:
        from selenium.webdriver.common.action_chains import ActionChains  # noqa: PLC0415
        from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

        chain = ActionChains(self._browser)
        chain = chain.key_down(Keys.CONTROL) if control else chain
        chain = chain.send_keys(*keys)
        (chain.key_up(Keys.CONTROL) if control else chain).perform()

    def click(self, selector: str, text: str) -> None:
        """Click on an element once it is there; VS Code draws anew what it shows, so a click may come too late."""
        self.until(selector, text, act=lambda element: element.click())

    def until(self, selector: str, text: str = "", act: Callable[[Any], object] | None = None) -> Any:
        """The first element that is there and says `text`, after `act` was done with it."""
        from selenium.common import exceptions  # noqa: PLC0415

        def found() -> Any:
            for element in self._browser.find_elements("css selector", selector):
                said = f"{element.text} {element.get_attribute('aria-label') or ''}"
                if text in said.replace("\xa0", " "):
                    if act is not None:
                        act(element)
                    return element
            return None

        try:
            return _until(found, f"{selector} {text}", exceptions.WebDriverException)
        except pytest.fail.Exception:
            self.picture("failed")
            raise

    def inside(self, selector: str) -> Any:
        """An element of the page that a panel shows, which lies two frames deep."""
        self._browser.switch_to.frame(self.until("iframe.webview"))
        self._browser.switch_to.frame(self.until("iframe#active-frame"))
        found = self.until(selector)
        self._browser.switch_to.default_content()
        return found

    def picture(self, name: str) -> None:
        """Leave a picture where pictures were asked for."""
        if folder := os.environ.get("AUTOFIX_PICTURES"):
            time.sleep(1)  # what slides in has come to rest
            self._browser.save_screenshot(str(Path(folder) / f"vscode-{name}.png"))


def _until(found: Callable[[], Any], what: str, *passing: type[Exception]) -> Any:
    end = time.monotonic() + UNTIL
    while time.monotonic() < end:
        try:
            if value := found():
                return value
        except passing:
            pass
        time.sleep(0.2)
    pytest.fail(f"it never came: {what}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium, driver = program("chromium"), program("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("there is no chromium with its driver (Debian: chromium, chromium-driver)")
    from selenium import webdriver  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,800",
    ):
        options.add_argument(word)
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield running
    running.quit()


@pytest.fixture(scope="module")
def window(browser: Any, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    node, entry = shutil.which("node"), SERVER / "out" / "node" / "entry.js"
    vsix = ROOT / "build" / f"autofix-{autofix.__version__}.vsix"
    if node is None or not entry.is_file() or not vsix.is_file():
        pytest.skip("there is no node, no code-server or no .vsix: run `make vscode`")
    home = tmp_path_factory.mktemp("vscode")
    settings = {
        "autofix.command": [sys.executable, "-m", "autofix"], "autofix.python": str(python),
        "workbench.startupEditor": "none", "security.workspace.trust.enabled": False,
    }  # fmt: skip
    (home / "data" / "User").mkdir(parents=True)
    (home / "data" / "User" / "settings.json").write_text(json.dumps(settings), "utf-8")
    folders = ["--user-data-dir", str(home / "data"), "--extensions-dir", str(home / "extensions")]
    base = [node, str(entry), *folders, "--config", str(home / "config.yaml"), "--disable-telemetry"]
    installed = subprocess.run([*base, "--install-extension", str(vsix)], capture_output=True, text=True, check=False)
    assert "was successfully installed" in installed.stdout, installed.stdout + installed.stderr
    port = _free_port()
    served = [*base, "--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-update-check"]
    with (home / "log").open("w") as log, subprocess.Popen(served, stdout=log, stderr=log) as process:
        _until(lambda: "HTTP server listening" in (home / "log").read_text("utf-8"), "code-server")
        yield Window(browser, f"http://127.0.0.1:{port}", home)
        process.terminate()


@pytest.fixture
def script(window: Window) -> Path:
    folder = window.home / f"project{len([*window.home.glob('project*')]) or ''}"
    folder.mkdir()
    path = folder / "train.py"
    path.write_text(BROKEN, "utf-8")
    return path


@apart
@pytest.mark.torch
@pytest.mark.slow
def test_a_script_is_repaired_seen_as_a_diff_and_applied(window: Window, script: Path) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    window.open(script)
    window.until(".squiggly-warning")
    window.command("autofix: Repair and Prove")
    window.until(".statusbar-item", "autofix: running train.py")
    window.until(".quick-input-list .monaco-list-row", "retain_graph=True (safe, identical)")
    window.until(".squiggly-error")
    window.picture("choice")
    window.keys(Keys.ENTER)
    window.until(".monaco-diff-editor .line-insert")
    window.until(".notification-toast .monaco-button", "Apply")
    window.picture("diff")
    assert script.read_text("utf-8") == BROKEN
    window.click(".notification-toast .monaco-button", "Apply")
    _until(lambda: window.until(".view-line", "loss1.backward(retain_graph=True)"), "the edit")
    window.keys("s", control=True)
    repaired = BROKEN.replace("loss1.backward()", "loss1.backward(retain_graph=True)")
    _until(lambda: script.read_text("utf-8") == repaired, "the saved file")


@apart
@pytest.mark.torch
@pytest.mark.slow
def test_the_lens_runs_it_and_an_unproved_edit_is_called_so(window: Window, script: Path) -> None:
    script.write_text(CLOCKED, "utf-8")
    window.open(script)
    window.click(".codelens-decoration a", "Run and repair")
    window.until(".squiggly-error")
    window.command("autofix: Choose Among the Proved Edits")
    window.click(".quick-input-list .monaco-list-row", "(unsafe, unknown)")
    window.until(".notification-toast .codicon-warning")
    window.click(".notification-toast .monaco-button", "Other Edits")
    window.until(".quick-input-list .monaco-list-row", "(unsafe, unknown)")
    assert script.read_text("utf-8") == CLOCKED


@apart
@pytest.mark.torch
@pytest.mark.slow
def test_the_report_is_drawn_in_a_panel(window: Window, script: Path) -> None:
    window.open(script)
    window.command("autofix: Show the Report")
    assert window.inside("svg") is not None
    window.picture("report")
