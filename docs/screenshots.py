"""Makes the pictures of README and site: `python docs/screenshots.py`, with chromium and its driver installed.

The page is a real one, photographed in a real browser, light and dark; the terminal session is run in a real terminal
(a pseudo-terminal read by a terminal emulator) and photographed the same way.
"""

from __future__ import annotations

import argparse
import base64
import html
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pexpect
import pyte
from selenium import webdriver

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tests" / "newcomers" / "gan.py"
COLUMNS, LINES = 100, 46
WIDTH = 1360
COLOURS = {
    "default": "#e6edf3", "red": "#ff7b72", "green": "#3fb950", "brown": "#d29922", "yellow": "#d29922",
    "blue": "#79c0ff", "cyan": "#56d4dd", "magenta": "#d2a8ff", "brightblack": "#9198a1",
}  # fmt: skip
FRAME = """<!doctype html><meta charset="utf-8"><style>
body { background: #0d1117; margin: 0; padding: 18px 22px; width: max-content }
pre { color: #e6edf3; font: 14px/1.35 "DejaVu Sans Mono", monospace; margin: 0 } b { font-weight: 700 }
</style><pre>%s</pre>"""


def main() -> int:
    """Make all pictures; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "pictures", help="where they go")
    out = parser.parse_args().out
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        sys.stderr.write("screenshots: install chromium and chromium-driver (Debian's names) first\n")
        return 2
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(SCRIPT, folder / "train.py")
        page = folder / "report.html"
        command = [sys.executable, "-m", "autofix", "fix", "--quiet", "--report", str(page), "train.py"]
        subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL)
        terminal = folder / "terminal.html"
        terminal.write_text(FRAME % session(folder), "utf-8")
        browser = started(folder / "profile")
        try:
            for scheme, picture in (("light", "report.png"), ("dark", "report-dark.png")):
                photograph(browser, page, out / picture, scheme)
            photograph(browser, terminal, out / "terminal.png", "dark")
        finally:
            browser.quit()
    return 0


def session(folder: Path) -> str:
    """What a terminal shows after `autofix fix train.py`, as HTML."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    child = pexpect.spawn(
        sys.executable, ["-m", "autofix", "fix", "train.py"], cwd=str(folder), dimensions=(LINES, COLUMNS), timeout=300,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "TERM": "xterm-256color", "HOME": str(folder)},
    )  # fmt: skip
    stream.feed(b"$ autofix fix train.py\r\n")
    child.expect(pexpect.EOF)
    stream.feed(child.before or b"")
    rows = ["".join(cell(screen.buffer[y][x]) for x in range(COLUMNS)).rstrip() for y in range(LINES)]
    return "\n".join(rows).rstrip()


def cell(character: Any) -> str:
    """One cell of the terminal as HTML."""
    text = html.escape(character.data)
    colour = COLOURS.get(character.fg, f"#{character.fg}")
    if character.fg != "default":
        text = f'<span style="color:{colour}">{text}</span>'
    return f"<b>{text}</b>" if character.bold else text


def started(profile: Path) -> Any:
    """A browser without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in (
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}",
    ):  # fmt: skip
        options.add_argument(word)
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))


def photograph(browser: Any, page: Path, picture: Path, scheme: str) -> None:
    """All of a page as a PNG."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.set_window_size(WIDTH, 1400)
    browser.get(page.as_uri())
    body = browser.execute_script("const b = document.body; return [b.scrollWidth, b.offsetWidth, b.offsetHeight]")
    width = min(WIDTH, body[1])
    clip = {"x": 0, "y": 0, "width": width, "height": body[2], "scale": 0.75}
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": clip["height"], "deviceScaleFactor": 1, "mobile": False},
    )

    data = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})["data"]
    picture.write_bytes(base64.b64decode(data))
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


if __name__ == "__main__":
    sys.exit(main())
