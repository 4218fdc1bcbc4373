"""What is compared depends on something made up

## What it finds

The script was run with stand-ins for what this machine has not, and what one of them gives decides how it trains.

## Why it matters

The gradients compared are those of another program.
"""

from autofix.verdict.property import Seen


class DependsOnStandIn(Seen):
    fact = "stand-in"
    anyway = True
    sentence = "{subject}"
