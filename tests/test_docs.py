"""The pages of rules, properties and rooms say what these say."""

from __future__ import annotations

from autofix import docs
from autofix.core.kinds import in_full


def test_every_rule_has_its_page_and_every_page_is_current() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in docs.FOLDER.glob("*.md")}
    assert written == docs.pages(), "run `make docs`"


def test_the_page_of_the_properties_is_current() -> None:
    assert docs.PROPERTIES.read_text(encoding="utf-8") == docs.properties_page(), "run `make docs`"


def test_the_tables_of_rooms_are_current() -> None:
    assert docs.ARCHITECTURE.read_text(encoding="utf-8") == docs.architecture(), "run `make docs`"


def test_a_line_of_an_example_stands_for_a_whole_update() -> None:
    written = "for x in data:\n    train: net(x).sum()\n    train[self.other]: loss\n    trained: int = 1\n"
    assert in_full(written, "optimizer") == (
        "for x in data:\n"
        "    optimizer.zero_grad()\n    net(x).sum().backward()\n    optimizer.step()\n"
        "    self.other.zero_grad()\n    loss.backward()\n    self.other.step()\n"
        "    trained: int = 1\n"
    )
