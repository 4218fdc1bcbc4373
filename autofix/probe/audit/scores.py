"""What losses are given: shapes, scores, targets; and the numbers by which their results are known again."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812  as everybody calls it

from ..engine import graph
from ..engine.quiet import quiet
from ..program.frames import Frames, Raw
from .ledger import Ledger
from .notes import Notes
from .paths import leaves_behind

if TYPE_CHECKING:
    from .batch import Batch

_REGRESSION = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
LOSSES = _REGRESSION | {
    "cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy", "kl_div",
    "soft_margin_loss", "multi_margin_loss", "cosine_embedding_loss", "triplet_margin_loss", "gaussian_nll_loss",
    "poisson_nll_loss",
}  # fmt: skip
"""Functions of torch that make a loss."""
_RESHAPES = graph.kinds("Squeeze", forms="01") | graph.kinds(
    "View", "ReshapeAlias", "UnsafeView", "Unsqueeze", "Clone", "ToCopy", "Transpose", "Permute", "T"
)
_SCORED = frozenset({"cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits"})
_TWICE = {"cross_entropy": "SoftmaxBackward0", "binary_cross_entropy_with_logits": "SigmoidBackward0"}
"""Losses that apply an activation themselves, and its node."""
_BOUNDS = {"SigmoidBackward0": (0.0, 1.0), "SoftmaxBackward0": (0.0, 1.0), "TanhBackward0": (-1.0, 1.0),
           "ReluBackward0": (0.0, float("inf")), "SoftplusBackward0": (0.0, float("inf"))}  # fmt: skip
"""What an activation can give at all."""
_NEARLY = 0.1
"""Far beyond rounding, also in half precision."""
_SHARE = 0.25
_AVERAGES = graph.kinds("Mean", "Sum")
_FEW = 2
_MADE = "autofix made"
_RAW = "autofix raw"
_LOSS = "autofix loss"


class Scores:
    """Looks at the arguments of each loss function."""

    def __init__(self, frames: Frames, ledger: Ledger, notes: Notes, batch: Batch) -> None:
        self._batch = batch
        self._targets: dict[Raw, weakref.ref[torch.Tensor]] = {}
        self._frames, self._ledger, self._notes = frames, ledger, notes
        self._serial = 0
        self.behind: dict[Raw, tuple[int, set[int]]] = {}
        """Of each place that makes a loss how often it did, and the leaves behind the first ones."""
        self.counted: set[Raw] = set()
        """The places whose losses some backward began at."""
        self.made: dict[Raw, list[int]] = {}
        """The numbers of the losses that each place has made since one of them went backward."""

    def activated(self, given: Any, result: Any) -> None:
        """Remember where an activation was applied, and in the first passes to what."""
        if isinstance(result, torch.Tensor) and (node := graph.made_by(result)) is not None:
            node.metadata[_MADE] = self._frames.here()
            if self._ledger.step_number < _FEW:
                node.metadata[_RAW] = given.detach()

    def loss(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """A loss function was called."""
        score = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if not isinstance(score, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        if isinstance(result, torch.Tensor) and graph.made_by(result) is not None:
            self._serial += 1
            here = self._frames.here()
            graph.made_by(result).metadata[_LOSS] = here, self._serial
            known, latest = self._targets.get(here), weakref.ref(target)
            self._targets[here] = latest
            if known is None or known() is not target:
                self.made.setdefault(here, []).append(self._serial)
            else:  # another answer to the same question: its losses are stages, of which the last may be meant
                self.made[here] = [self._serial]
            count, leaves = self.behind.get(here, (0, set()))
            self.behind[here] = count + 1, leaves | leaves_behind([result]) if count < _FEW else leaves
        self._batch.compared(score, target)
        if not score.requires_grad:
            self._check_order(name, score, target)
            return
        if result is not None and not self._ledger.step_number:
            self._weigh(name, score, target, (args, kwargs), result)
        if name in _REGRESSION and result is not None:
            whole = torch.broadcast_shapes(score.shape, target.shape)
            if math.prod(whole) > max(score.numel(), target.numel()):
                shapes = f"{shape(score)} and {shape(target)}"
                self._notes.note("broadcast-by-accident", shapes, self._frames.here())
        self._check_scores(name, score, target)
        if target.requires_grad and name in LOSSES:
            self._check_target(score, target)

    def _weigh(self, name: str, score: torch.Tensor, target: torch.Tensor, given: Any, result: torch.Tensor) -> None:
        """Keep what a loss is at first, and what it is of the scores that it is meant to have."""
        args, kwargs = given
        rest = {key: value for key, value in kwargs.items() if key not in ("input", "target")}
        with quiet():
            meant = _meant(name, score, target)
            should = getattr(F, name)(meant, target, *args[2:], **rest) if meant is not None else None
            self._notes.value(self._frames.here(), size(result), size(should) if should is not None else None)

    def _check_scores(self, name: str, score: torch.Tensor, target: torch.Tensor) -> None:
        node = _first(graph.made_by(score))
        made = node.name() if node is not None else ""
        if made and made == _TWICE.get(name):
            what = "softmax" if "Softmax" in made else "sigmoid"
            self._notes.note("activation-twice", f"{what} {name}", self._frames.here(), node.metadata.get(_MADE, ()))
        one = score.dim() > 1 and score.shape[1] == 1
        if name == "cross_entropy" and one and not target.is_floating_point():
            self._notes.note("loss-of-one-class", "", self._frames.here())
        if name == "cross_entropy" and score.dim() == 1 and rows(node):
            self._notes.note("loss-of-one-sample", str(rows(node)), self._frames.here())
        if name in ("nll_loss", "kl_div"):
            self._check_log_probabilities(name, score)
        if name in _REGRESSION and made in _AVERAGES and score.numel() == target.numel() == 1:
            self._notes.note("loss-of-means", "", self._frames.here())
        if name in _REGRESSION and made in _BOUNDS and target.is_floating_point():
            self._check_reach(target, *_BOUNDS[made])

    def _check_reach(self, target: torch.Tensor, low: float, high: float) -> None:
        """Targets that an activation can never give."""
        wide = target.detach()
        if float(((wide < low) | (wide > high)).float().mean()) > _SHARE:
            here = self._frames.here()
            self._notes.often(here, "target-out-of-reach", f"{low:g} and {high:g}", here)

    def _check_log_probabilities(self, name: str, score: torch.Tensor) -> None:
        wrong = not log_probabilities(name, score)
        node = _first(graph.made_by(score))
        if wrong and node is not None and node.name() == "LogSoftmaxBackward0":
            self._notes.note("normalised-elsewhere", name, self._frames.here(), node.metadata.get(_MADE, ()))
        elif wrong:
            soft = node is not None and node.name() == "SoftmaxBackward0"
            made = node.metadata.get(_MADE, ()) if soft else ()
            self._notes.note("no-log-probabilities", name, self._frames.here(), made)

    def _check_order(self, name: str, score: torch.Tensor, target: torch.Tensor) -> None:
        """A one-hot target where the scores belong, and scores that are trained where the target belongs."""
        if name not in _SCORED or not target.requires_grad or not score.is_floating_point() or score.numel() < _FEW:
            return
        if bool(((score == 0) | (score == 1)).all()):
            self._notes.note("arguments-swapped", name, self._frames.here())

    def _check_target(self, score: torch.Tensor, target: torch.Tensor) -> None:
        ours, theirs = leaves_behind([score]), leaves_behind([target])
        owned = self._ledger.owned()
        both = ours & theirs
        if not any(key in owned for key in theirs):
            return
        bootstrapped = affine_in_data(graph.made_by(target)) and not affine_in_data(graph.made_by(score))
        name = "target-trains" if both and bootstrapped else "target-with-graph"
        self._notes.note(name, "", self._frames.here())


def _meant(name: str, score: torch.Tensor, target: torch.Tensor) -> torch.Tensor | None:
    """What a loss expects in place of the scores that it is given; None where that is what it has."""
    node = _first(graph.made_by(score))
    kind, raw = (node.name(), node.metadata.get(_RAW)) if node is not None else ("", None)
    raw = raw if raw is not None and raw.shape == score.shape else None
    if kind == _TWICE.get(name):
        return raw if raw is not None else score.log() if "Softmax" in kind else score.logit()
    if name in ("nll_loss", "kl_div") and not log_probabilities(name, score):
        dim = 1 if score.dim() > 1 else 0
        if raw is not None:
            return raw.log_softmax(dim)
        total = score.sum(dim) if name == "nll_loss" else score.sum(-1)
        probable = bool((score >= 0).all()) and bool(((total - 1).abs() < _NEARLY).all())
        return score.log() if probable else score.log_softmax(dim)
    if name in _REGRESSION and score.shape != target.shape and score.numel() == target.numel():
        return score.reshape(target.shape)
    return None


def log_probabilities(name: str, score: torch.Tensor) -> bool:
    """Whether scores can be logarithms of probabilities, as a loss takes them."""
    values = score.detach().float()
    if name == "kl_div":
        return not bool((values > 0).all()) or values.numel() == 1
    total = values.exp().sum(1 if values.dim() > 1 else 0)
    return not bool(((total - 1).abs() > _NEARLY).any())


def size(result: torch.Tensor) -> float:
    """One number for what was made."""
    return float(torch.linalg.vector_norm(result.detach().double()))


def loss_mark(node: Any) -> tuple[Raw, int] | None:
    """Where the loss of a node was made, and its number; None for any other node."""
    mark: tuple[Raw, int] | None = node.metadata.get(_LOSS)
    return mark


def _first(node: Any) -> Any:
    """The node behind what only gives a result another shape."""
    while node is not None and node.name() in _RESHAPES and node.next_functions:
        node = node.next_functions[0][0]
    return node


def rows(node: Any) -> int:
    """The rows of which a node takes one, 0 if it takes none."""
    if node is None or node.name() != "SelectBackward0" or node._saved_dim not in (0, -2):
        return 0
    if node.next_functions[0][0].name().endswith("AccumulateGrad"):
        return 0  # one number of a parameter
    sizes = tuple(node._saved_self_sym_sizes)
    return int(sizes[0]) if len(sizes) in (1, 2) and sizes[0] > 1 else 0


def affine_in_data(node: Any) -> bool:
    """Whether a node adds data and a multiple of what has a graph: a reward and a discounted value."""
    node = _first(node)
    if node is None or node.name() not in ("AddBackward0", "SubBackward0"):
        return False
    children = [child for child, _ in node.next_functions]
    return len(children) == 2 and (children[0] is None) != (children[1] is None)  # noqa: PLR2004


def shape(tensor: torch.Tensor) -> str:
    """A shape as people write it."""
    return f"({', '.join(map(str, tensor.shape))}{',' if tensor.dim() == 1 else ''})"
