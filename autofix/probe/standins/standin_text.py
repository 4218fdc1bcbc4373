"""Stands in for the package `datasets`: the columns of well-known data sets, filled at random."""

from __future__ import annotations

import types
from typing import Any

import torch

from . import standin_data

_WORDS = ("the", "a", "model", "loss", "data", "and", "step", "small", "large", "good", "bad", "film", "never", "again")
_COLUMNS: dict[str, dict[str, Any]] = {
    "imdb": {"text": str, "label": 2}, "rotten_tomatoes": {"text": str, "label": 2},
    "ag_news": {"text": str, "label": 4}, "yelp_polarity": {"text": str, "label": 2},
    "sst2": {"sentence": str, "label": 2}, "cola": {"sentence": str, "label": 2},
    "mrpc": {"sentence1": str, "sentence2": str, "label": 2}, "emotion": {"text": str, "label": 6},
    "wikitext": {"text": str}, "mnist": {"image": (1, 28, 28), "label": 10},
    "cifar10": {"img": (3, 32, 32), "label": 10}, "fashion_mnist": {"image": (1, 28, 28), "label": 10},
}  # fmt: skip
_SIZE = 512


class Rows:
    """A split: rows with columns, and the few ways in which training scripts reshape them."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = columns
        self._tensors = False

    @property
    def column_names(self) -> list[str]:
        return list(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._given(self.columns[key])
        return {name: self._given(values[key]) for name, values in self.columns.items()}

    def _given(self, value: Any) -> Any:
        numeric = not isinstance(value, str) and not (isinstance(value, list) and value and isinstance(value[0], str))
        return torch.as_tensor(value) if self._tensors and numeric else value

    def map(self, function: Any, batched: bool = False, remove_columns: Any = (), **_: Any) -> Rows:
        """Rows with what `function` makes of them added."""
        kept = self.remove_columns(remove_columns or ()).columns
        if batched:
            return Rows({**kept, **function(dict(self.columns))})
        made = [function(self[n]) for n in range(len(self))]
        return Rows({**kept, **{name: [row[name] for row in made] for name in (made[0] if made else {})}})

    def select(self, indices: Any) -> Rows:
        return Rows({name: [values[n] for n in indices] for name, values in self.columns.items()})

    def remove_columns(self, names: Any) -> Rows:
        gone = [names] if isinstance(names, str) else names
        return Rows({name: values for name, values in self.columns.items() if name not in gone})

    def rename_column(self, old: str, new: str) -> Rows:
        return Rows({new if name == old else name: values for name, values in self.columns.items()})

    def with_format(self, kind: Any = None, **_: Any) -> Rows:
        copy = Rows(self.columns)
        copy._tensors = kind == "torch"
        return copy

    def set_format(self, type: Any = None, **_: Any) -> None:  # noqa: A002  the name that scripts give
        self._tensors = type == "torch"

    def shuffle(self, *args: Any, **kwargs: Any) -> Rows:
        return self

    def train_test_split(self, test_size: float = 0.2, **_: Any) -> Splits:
        cut = int(len(self) * (1 - test_size))
        return Splits(train=self.select(range(cut)), test=self.select(range(cut, len(self))))


class Splits(dict[str, Rows]):
    """The splits of a data set, changed together."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: Splits({key: getattr(rows, name)(*args, **kwargs) for key, rows in self.items()})


def _load(path: str, name: str | None = None, split: Any = None, **_: Any) -> Any:
    known = next((key for key in (name, path, path.rpartition("/")[2]) if key in _COLUMNS), None)
    if known is None:
        raise FileNotFoundError(f"the data set {path} is missing, and its columns are not known to stand in for it")
    standin_data.note(f"the data set {known} is missing: {_SIZE} random rows stand in")
    splits = Splits({key: _rows(known, key) for key in ("train", "validation", "test")})
    if split is None:
        return splits
    found = [splits[one.partition("[")[0]] for one in ([split] if isinstance(split, str) else split)]
    return found[0] if isinstance(split, str) else found


def _rows(known: str, split: str) -> Rows:
    return Rows(
        {name: [_value(kind, known, split, name, n) for n in range(_SIZE)] for name, kind in _COLUMNS[known].items()}
    )


def _value(kind: Any, *key: Any) -> Any:
    if isinstance(kind, int):
        return standin_data.label(kind, *key)
    if isinstance(kind, tuple):
        return standin_data.image(kind, *key)
    picks = torch.randint(len(_WORDS), (24,), generator=standin_data.generator(*key))
    return " ".join(_WORDS[n] for n in picks.tolist())


def module(name: str) -> types.ModuleType:
    """The package `datasets`."""
    made: Any = types.ModuleType(name)
    made.load_dataset, made.Dataset, made.DatasetDict = _load, Rows, Splits
    made.__version__ = "4.0.0"  # what reshapes rows for a model asks for it
    return made
