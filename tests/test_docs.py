"""The pages of docs/rules say what the rules say."""

from __future__ import annotations

from autofix import docs


def test_every_rule_has_its_page_and_every_page_is_current() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in docs.FOLDER.glob("*.md")}
    assert written == docs.pages(), "run `make docs`"
