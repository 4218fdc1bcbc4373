"""What losses are given: shapes, scores, targets; and the numbers by which their results are known again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .paths import leaves_behind

if TYPE_CHECKING:
    from ..program.frames import Frames, Raw
    from .ledger import Ledger
    from .notes import Notes

_REGRESSION = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
LOSSES = _REGRESSION | {
    "cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy", "kl_div",
    "soft_margin_loss", "multi_margin_loss", "cosine_embedding_loss", "triplet_margin_loss", "gaussian_nll_loss",
    "poisson_nll_loss",
}  # fmt: skip
"""Functions of torch that make a loss."""
_RESHAPES = frozenset({
    "ViewBackward0", "ReshapeAliasBackward0", "UnsafeViewBackward0", "SqueezeBackward0", "SqueezeBackward1",
    "UnsqueezeBackward0", "CloneBackward0", "ToCopyBackward0", "TransposeBackward0", "PermuteBackward0", "TBackward0",
})  # fmt: skip
_SCORED = frozenset({"cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits"})
_FEW = 2
_MADE = "autofix made"
_LOSS = "autofix loss"


class Scores:
    """Looks at the arguments of each loss function."""

    def __init__(self, frames: Frames, ledger: Ledger, notes: Notes) -> None:
        self._frames = frames
        self._ledger = ledger
        self._notes = notes
        self._serial = 0
        self.behind: dict[Raw, tuple[int, set[int]]] = {}
        """Of each place that makes a loss how often it did, and the leaves behind the first ones."""
        self.counted: set[Raw] = set()
        """The places whose losses some backward began at."""
        self.made: dict[Raw, list[int]] = {}
        """The numbers of the losses that each place has made since one of them went backward."""

    def activated(self, result: Any) -> None:
        """Remember where an activation was applied."""
        if isinstance(result, torch.Tensor) and result.grad_fn is not None:
            result.grad_fn.metadata[_MADE] = self._frames.here()

    def loss(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        """A loss function was called."""
        score = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if not isinstance(score, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        if isinstance(result, torch.Tensor) and result.grad_fn is not None:
            self._serial += 1
            here = self._frames.here()
            result.grad_fn.metadata[_LOSS] = here, self._serial
            self.made.setdefault(here, []).append(self._serial)
            count, leaves = self.behind.get(here, (0, set()))
            self.behind[here] = count + 1, leaves | leaves_behind([result]) if count < _FEW else leaves
        if not score.requires_grad:
            self._check_order(name, score, target)
            return
        if name in _REGRESSION and result is not None:
            whole = torch.broadcast_shapes(score.shape, target.shape)
            if _size(whole) > max(score.numel(), target.numel()):
                shapes = f"{shape(score)} and {shape(target)}"
                self._notes.note("broadcast-by-accident", shapes, self._frames.here())
        self._check_scores(name, score, target, kwargs)
        if target.requires_grad and name in LOSSES:
            self._check_target(score, target)

    def _check_scores(self, name: str, score: torch.Tensor, target: torch.Tensor, kwargs: Any) -> None:
        node = _first(score.grad_fn)
        made = node.name() if node is not None else ""
        wrong = {"cross_entropy": "SoftmaxBackward0", "binary_cross_entropy_with_logits": "SigmoidBackward0"}
        if made and made == wrong.get(name):
            what = "softmax" if "Softmax" in made else "sigmoid"
            self._notes.note("activation-twice", f"{what} {name}", self._frames.here(), node.metadata.get(_MADE, ()))
        one = score.dim() > 1 and score.shape[1] == 1
        if name == "cross_entropy" and one and not target.is_floating_point():
            self._notes.note("loss-of-one-class", "", self._frames.here())
        if name == "cross_entropy" and score.dim() == 1 and rows(node):
            self._notes.note("loss-of-one-sample", str(rows(node)), self._frames.here())
        if name in ("nll_loss", "kl_div"):
            self._check_log_probabilities(name, score)

    def _check_log_probabilities(self, name: str, score: torch.Tensor) -> None:
        values = score.detach().float()
        if name == "kl_div":
            wrong = bool((values > 0).all()) and values.numel() > 1
        else:
            total = values.exp().sum(1 if values.dim() > 1 else 0)
            wrong = bool(((total - 1).abs() > 0.1).any())  # noqa: PLR2004  far beyond rounding, also in half precision
        node = _first(score.grad_fn)
        if wrong and node is not None and node.name() == "LogSoftmaxBackward0":
            self._notes.note("normalised-elsewhere", name, self._frames.here(), node.metadata.get(_MADE, ()))
        elif wrong:
            self._notes.note("no-log-probabilities", name, self._frames.here())

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
        bootstrapped = affine_in_data(target.grad_fn) and not affine_in_data(score.grad_fn)
        name = "target-trains" if both and bootstrapped else "target-with-graph"
        self._notes.note(name, "", self._frames.here())


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


def _size(shape: Any) -> int:
    total = 1
    for extent in shape:
        total *= int(extent)
    return total


def shape(tensor: torch.Tensor) -> str:
    """A shape as people write it."""
    return f"({', '.join(map(str, tensor.shape))}{',' if tensor.dim() == 1 else ''})"
