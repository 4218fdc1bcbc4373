"""Every term counts

## What it says

An addend of a loss that was made once, of owned parameters alone, would train in the first pass that uses it and in
none of the later ones, if it were cut: a penalty over all weights that is built before the loop. It is to be computed
anew. So is what passes share where each of them makes a term of that alone: the embeddings of a graph, of which each
batch scores other pairs, or the picture that a generator's several steps all judge anew. The term may lead elsewhere,
too, but by nothing else to what the optimizers behind it own.

The code as written breaks the law where it subtracts from a tensor what was taken of the same memory before it was
written (`before = self.memory`, then `self.memory[i] = …`), so that the difference is always 0. The reading that keeps
the law writes to a copy, and leaves what it held to who took it before.

## Where it is silent

Where data went into an addend that was made once, or parameters that no optimizer owns; where it is no addend, but a
factor or an input to something that learns beside it; where some of what is shared is held against what is newer, as
the logarithms of two densities are; and of a graph that each pass makes from that of the one before, as a running
average of the loss. Of a difference: where it is still 0 if writes go to a copy, as that of a tensor with its own
`detach()`, and where it has a gradient.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.probe import wire
from autofix.verdict.law import KEPT, PASSES, KeptByChange, Reading, Ruling, Runs, Word, at


class EveryTermCounts(KeptByChange):
    clause = "every term of a loss counts"
    change = "copied"

    def seen(self, runs: Runs) -> str:
        """Differences that are 0 in each pass, and are not if writes go to a copy."""
        zeros = _differences(runs.letter)
        held = runs.letter.seen("memory-held")  # by somebody who may mean to see it written
        if not zeros or held or not runs.case.pool.written["copied"]:
            return ""
        other = runs.of(self.changed(runs.code))
        if comparable(other) or _differences(other):
            return ""
        return (
            f"{at(zeros[0].stack)} subtracts a tensor from itself, because two names share one memory: that is always 0"
        )

    def spares(self, reading: Reading) -> bool:
        """None in which the term trains in no pass, which breaks it, too."""
        return super().spares(reading) and not (reading.truncated or reading.constant)

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        ruling = super().says(runs, reading)
        if ruling.word is Word.BROKEN and reading.old_values:  # a name that keeps its value does without a copy
            run = runs.of(reading)
            ruling = ruling if comparable(run) or _differences(run) else KEPT
        if ruling.word is Word.BROKEN or not ((reading.truncated or reading.constant) and runs.letter.reused):
            return ruling
        if runs.letter.bare and not _is_compared(runs):
            return Ruling(
                Word.BROKEN, "a term of each later loss would train none of the parameters that are stepped then"
            )
        if not runs.letter.added or runs.sourced.fed:
            return ruling
        return Ruling(Word.BROKEN, "a term of the loss would train in the first iteration alone, or in none")


def _is_compared(runs: Runs) -> bool:
    """Whether something of what passes share is held against what is newer, or nobody can tell."""
    resting = runs.comparisons_at_rest
    return bool(comparable(resting)) or any(one.older for one in resting.compared)


def _differences(run: wire.Trace) -> list[wire.Fact]:
    return [fact for fact in run.seen("zero-difference") if int(fact.subject) >= PASSES]
