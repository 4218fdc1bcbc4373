"""A copy only answers

## What it says

Beside a network that learns, a program keeps a copy of it that no optimizer owns, and makes the targets of the network
by it: a reward, and what a slow critic says that the next state is worth. The code as written breaks the law where such
a target has a graph all the same, by what other optimizers own: the actor that chose the next action, or a temperature.
That would learn to make the network's errors small. It has a loss of its own, by another graph, which the reading that
keeps the law leaves to it: there such targets are constants.

It is seen in the graphs of the losses, in several passes: the target leads to nothing that the optimizers own whose
parameters predict it, what was applied on the way without ever learning has all the shapes of these parameters, and a
constant is added to what that gives.

## Where it is silent

Where nothing is added: a translator may learn what a frozen teacher says of its pictures, and a student with it. Where
the prediction is made of the same, too, as when a generator is trained through a student and a frozen teacher; where
the copy learns; where something would never learn but by the target; and where the target comes by no copy.
"""

from __future__ import annotations

from autofix.verdict.shared.aims import KeptByTargets


class ACopyOnlyAnswers(KeptByTargets):
    clause = "a target that a frozen copy of the network computes is a constant"
    fact = "target-of-copy"
    sentence = (
        "a copy of the network that is never trained computes the target of the loss at {place}, and through this "
        "target the loss trains other parameters, too"
    )
