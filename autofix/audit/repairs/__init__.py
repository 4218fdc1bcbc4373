"""The edits that may mend a fault, by the name of what the probe saw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from autofix.audit.repair import Found, Offer
from autofix.audit.repairs import clearing, copies, losses, order, owning

REPAIRS: Mapping[str, Callable[[Found], Iterator[Offer]]] = {
    "missing-zero-grad": clearing.missing,
    "zeroed-before-step": clearing.before_step,
    "gradients-thrown-away": clearing.thrown_away,
    "optimizer-owns-others": owning.others,
    "modules-in-plain-list": owning.in_plain_list,
    "clipping-out-of-place": order.clipping,
    "scheduler-before-optimizer": order.schedule_first,
    "schedule-never-stepped": order.schedule_forgotten,
    "schedule-in-wrong-loop": order.schedule_by_batch,
    "schedule-of-other-optimizer": order.schedule_of_other,
    "scaler-not-updated": order.scaler_update,
    "scaler-passed-by": order.scaler_step,
    "scaler-without-scale": order.scaler_scale,
    "optimizer-never-steps": order.never_stepped,
    "same-loss-twice": order.backward_twice,
    "activation-twice": losses.activated_twice,
    "no-log-probabilities": losses.no_log_probabilities,
    "broadcast-by-accident": losses.broadcast,
    "target-trains": losses.target,
    "last-batch-only": losses.last_batch,
    "divided-twice": losses.divided_twice,
    "snapshot-is-alias": copies.alias,
    "state-loaded-onto-itself": copies.same_object,
    "average-never-written": copies.never_written,
    "eval-left-on": copies.eval_left_on,
    "same-batch": copies.seeded_again,
    "graph-cut": copies.cut,
    "term-is-constant": copies.cut,
    "steps-without-gradient": copies.idle,
    "average-of-itself": copies.alias,
    "update-never-written": copies.never_written,
    "optimizer-made-anew": owning.made_anew,
    "loss-left-out": losses.left_out,
    "no-such-flag": owning.flag,
    "normalised-along-batch": losses.along_batch,
    "normalised-elsewhere": losses.along_batch,
}


def offers(found: Found, name: str) -> Iterator[Offer]:
    """What may mend a fact of this name: first the calls that are only named."""
    if name in REPAIRS:
        yield from order.uncalled(found)
        yield from REPAIRS[name](found)
