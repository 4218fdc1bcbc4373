"""The pages of rules, properties and rooms say what these say."""

from __future__ import annotations

from autofix import docs


def test_every_rule_has_its_page_and_every_page_is_current() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in docs.FOLDER.glob("*.md")}
    assert written == docs.pages(), "run `make docs`"


def test_the_page_of_the_properties_is_current() -> None:
    assert docs.PROPERTIES.read_text(encoding="utf-8") == docs.properties_page(), "run `make docs`"


def test_the_tables_of_rooms_are_current() -> None:
    assert docs.ARCHITECTURE.read_text(encoding="utf-8") == docs.architecture(), "run `make docs`"
