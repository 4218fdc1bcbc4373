"""The schemas of others, as SchemaStore collects them: what our files are held against, without a network."""

from __future__ import annotations

import json
import pickle
import sqlite3
from contextlib import closing
from importlib.metadata import distribution
from typing import Any

SARIF = "sarif-2.1.0.json"
ACTION = "github-action.json"
WORKFLOW = "github-workflow.json"


def schema(name: str) -> dict[str, Any]:
    """A schema by its name in the store, out of the copy that the package brings."""
    copy = distribution("schemastore").locate_file("schemastore/cache.sqlite")
    with closing(sqlite3.connect(f"file:{copy}?mode=ro", uri=True)) as store:
        for (value,) in store.execute("select value from responses"):
            answer = pickle.loads(value)  # noqa: S301  a package's own file
            if answer["url"] == f"https://json.schemastore.org/{name}":
                found: dict[str, Any] = json.loads(answer["_content"].decode("utf-8-sig"))
                return found
    raise LookupError(name)
