"""Writes the pages of rules, finders and properties in docs: `python -m autofix.docs`, then look at `git diff`."""

from __future__ import annotations

from pathlib import Path

from autofix import registry
from autofix.check import check
from autofix.render import catalogue, findings, properties
from autofix.verdict import property as found

FOLDER = Path(__file__).parent.parent / "docs" / "rules"
PROPERTIES = FOLDER.parent / "properties.md"


def pages() -> dict[str, str]:
    """File name and text of each page: one for each rule, one for each finder that is no rule's, and the lists."""
    rules = registry.rules()
    finders = [finder for finder in check.finders() if finder.code not in {rule.code for rule in rules}]
    rows = [f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.title} |" for rule in rules]
    silent = [f"| [{one.code}]({one.code}.md) | {one.name} | {one.title} |" for one in finders]
    index = [
        "# Rules", "", "| code | wrong pattern | repair |", "|---|---|---|", *rows, "",
        "Found by `autofix check` alone, or seen by `autofix fix` in a run; there is no edit for them:", "",
        "| code | wrong pattern | what is found |", "|---|---|---|", *silent, "",
    ]  # fmt: skip
    texts = {rule.code: catalogue.page(rule) for rule in rules} | {one.code: findings.page(one) for one in finders}
    return {"README.md": "\n".join(index)} | {f"{code}.md": text.rstrip() + "\n" for code, text in texts.items()}


def properties_page() -> str:
    """The text of docs/properties.md."""
    return properties.page(found.properties())


def main() -> None:
    """Write every page; a page whose rule is gone is removed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    PROPERTIES.write_text(properties_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
