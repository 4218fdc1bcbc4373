"""What is collected keeps its value

## What it says

The code as written breaks it where views of one memory are collected (`seen.append(u[2:-2])`) and joined, or where one
tensor is put on a list again and again (`poses.append(pose)`). That memory is written in between, so that all of them
show what was written last, and the program trains otherwise for it. The reading that keeps the law writes to a copy.

## Where it is silent

Where the views show parts that lie apart, or copies were collected; where training is the same either way; and where
copies leave it as it is, since something else writes to that memory.
"""

from __future__ import annotations

from autofix.verdict.law import PASSES, KeptByChange, Runs, apart, at

_JOINED = "one-memory-joined"


class WhatIsCollectedKeepsItsValue(KeptByChange):
    clause = "each collected tensor keeps the value that it had"
    change = "copied"

    def seen(self, runs: Runs) -> str:
        joined = runs.letter.seen(_JOINED)
        if not joined or not runs.case.pool.written["copied"]:
            return ""
        other = runs.of(self.changed(runs.code))
        if other.seen(_JOINED) or apart(runs.letter, other) < PASSES:
            return ""
        return (
            f"all tensors that are collected at {at(joined[0].stack)} are views of one memory, which is written in "
            "place in between: all of them show the last value"
        )
