"""Writes what is generated of the pages (rules, finders, properties, options, rooms): `make docs`, see `git diff`."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autofix import cli
from autofix.audit.fault import faults
from autofix.core.kinds import described
from autofix.render import catalogue
from autofix.search import registry
from autofix.verdict import property as found

FOLDER = Path(__file__).parent.parent / "docs" / "rules"
PROPERTIES = FOLDER.parent / "properties.md"
OPTIONS = FOLDER.parent / "options.md"
ARCHITECTURE = FOLDER.parent.parent / "ARCHITECTURE.md"
_TABLE = re.compile(r"(<!-- rooms of (\S+) -->\n).*?(?=<!-- end -->)", re.DOTALL)
_HEAD = """# Commands and options

`autofix --help` and `autofix COMMAND --help` say the same. Options of `fix`, `run` and `verify` can also stand in
`[tool.autofix]` of `pyproject.toml`, those of `check` in `[tool.autofix.check]`, under their long names; `select` and
`ignore` of `audit` in `[tool.autofix.audit]`.

| environment variable | meaning |
|---|---|
| `NO_COLOR`, `FORCE_COLOR` | never, always colour; `--color` decides before both |
| `TERM=dumb` | no excerpts and no progress line: every place on a line of its own, as without a terminal |
| `VISUAL`, `EDITOR` | the editor of `fix --interactive` |
| `VIRTUAL_ENV`, `CONDA_PREFIX` | where the interpreter is looked for without `--python` |
| `AUTOFIX_MARKERS=1` | `autofix: begin` and `autofix: end` on standard error, for editors that wait for a task |
| `AUTOFIX_TRACEBACK=1` | a traceback where autofix itself is at fault |

Besides the statuses below, as from a shell: 130 after Ctrl-C, 141 where a program that reads the output has stopped.
"""


_PROPERTIES = """\
# What makes an edit unsafe

An edit that runs past the failure and keeps the gradients is safe only if it has none of these properties. Each section
ends with an edit that has the property, and one that looks alike and has not.

| property | what it is |
|---|---|"""


def pages() -> dict[str, str]:
    """File name and text of each page: one for each rule, one for each finder that is no rule's, and the lists."""
    rules = registry.rules()
    finders = registry.found_only()
    rows = [f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.title} |" for rule in rules]
    silent = [f"| [{one.code}]({one.code}.md) | {one.name} | {one.title} |" for one in finders]
    silent += [f"| [{one.code}]({one.code}.md) | {one.name} | {one.title} |" for one in faults()]
    index = [
        "# Rules", "", "| code | wrong pattern | repair |", "|---|---|---|", *rows, "",
        "Found by `autofix check` in the text, or seen by `autofix audit` and `autofix fix` in a run; there is no edit",
        "for them:", "",
        "| code | wrong pattern | what is found |", "|---|---|---|", *silent, "",
    ]  # fmt: skip
    texts = {f"{one.code}.md": catalogue.page(one) for one in registry.everything()}
    return {"README.md": "\n".join(index)} | texts


def properties_page() -> str:
    """The text of docs/properties.md."""
    some = found.properties()
    rows = [f"| [{one.name}](#{one.name}) | {described(one).partition(chr(10))[0]} |" for one in some]
    return "\n".join([_PROPERTIES, *rows, *(f"\n{catalogue.section(one).rstrip()}" for one in some)]) + "\n"


def architecture() -> str:
    """ARCHITECTURE.md with its tables of rooms as the import contracts and the rooms' docstrings have them."""
    return _TABLE.sub(lambda found: found[1] + "\n".join(_rooms(found[2])), ARCHITECTURE.read_text(encoding="utf-8"))


def _rooms(package: str) -> Iterator[str]:
    """A table of what lies in a package, the highest floor first; what shares a row may not import each other."""
    settings = tomllib.loads((ARCHITECTURE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    floors = next(one["layers"] for one in contracts if one.get("containers") == [package])
    folder = ARCHITECTURE.parent.joinpath(*package.split("."))
    yield from ("| floor | room | what it owns |", "|---|---|---|")
    for floor, names in zip(range(len(floors), 0, -1), floors, strict=True):
        for name in names.split(" | "):
            room = folder / name
            file = room / "__init__.py" if room.is_dir() else folder / f"{name}.py"
            said = ast.get_docstring(ast.parse(file.read_bytes())) or ""
            yield f"| {floor} | `{name}{'/' * room.is_dir()}` | {said.partition(chr(10))[0]} |"
    yield ""


def options_page() -> str:
    """The page about every command."""
    return "\n".join([_HEAD, *_commands()])


def _commands() -> Iterator[str]:
    group = cli.command()
    yield from _options(group)
    for name, command in sorted(group.commands.items()):
        said = inspect.cleandoc(command.help or "").split("\n\n")
        words = [param.metavar or param.name.upper() for param in command.params if param.param_type_name == "argument"]
        yield f"## autofix {' '.join([name, *(['[OPTIONS]'] if _rows(command) else []), *words])}\n"
        yield "\n\n".join(" ".join(paragraph.split()) for paragraph in said) + "\n"
        yield from _options(command)


def _options(command: Any) -> Iterator[str]:
    if rows := _rows(command):
        yield "\n".join(["| option | meaning |", "|---|---|", *rows]) + "\n"


def _rows(command: Any) -> list[str]:
    found = []
    for param in command.params:
        if param.param_type_name != "option" or param.hidden:
            continue
        value = "" if param.is_flag else f" {param.metavar or 'VALUE'}"
        names = ", ".join(
            f"`{name}{value if name.startswith('--') else ''}`" for name in (*param.opts, *param.secondary_opts)
        )
        found.append(f"| {names} | {' '.join((param.help or '').split())} |")
    return found


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
    OPTIONS.write_text(options_page(), encoding="utf-8")
    ARCHITECTURE.write_text(architecture(), encoding="utf-8")


if __name__ == "__main__":
    main()
