"""The documentation as a site: it builds without a warning, has every page, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

pytestmark = pytest.mark.apart("long")
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site")
    words = ["-W", "--keep-going", "-q", "-d", str(tmp_path_factory.mktemp("doctrees")), str(ROOT / "docs"), str(built)]
    done = subprocess.run([sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return built


def test_every_page_is_built_and_reached_from_the_first(site: Path) -> None:
    start = (site / "index.html").read_text("utf-8")
    pages = [path for path in (ROOT / "docs").glob("*.md") if path.stem != "index"]
    assert len(pages) > 10
    assert [path.name for path in pages if f'href="{path.stem}.html"' not in start] == []
    listed = (site / "rules" / "README.html").read_text("utf-8")
    rules = list((ROOT / "docs" / "rules").glob("AG*.md"))
    assert [path.name for path in rules if f'href="{path.stem}.html"' not in listed] == []


def test_every_link_inside_the_site_leads_somewhere(site: Path) -> None:
    lost = []
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"]+)"', page.read_text("utf-8")):
            path, _ = urldefrag(target)
            if path and not re.match(r"[a-z]+:", path) and not (page.parent / unquote(path.partition("?")[0])).exists():
                lost.append(f"{page.name}: {target}")
    assert lost == []


def test_the_measured_tables_are_those_of_the_readme(site: Path) -> None:
    page = (site / "is-it-reliable.html").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    section = readme.partition("## Is it reliable?")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|`]+?) \|", section, re.MULTILINE)
    assert len(rows) > 2
    assert [row for row in rows if row not in page] == []
