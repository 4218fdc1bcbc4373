"""The records that host and probe exchange: frozen dataclasses, which `codec` writes and reads."""

from .books import Books, Loss, Network, Trainer, Value
from .facts import Compared, Density, Evaluated, Fact, Hook, Mode, Taken
from .failures import Backward, Behind, Carrier, Crossing, Failure, Origin, Performed, Saved, Write
from .graphs import Graph, Node
from .places import Frame, Stack
from .request import Given, KeptOut, Request, Setup, Site
from .trace import SIGN, Hello, Sign, Trace, holders
from .training import Arrivals, CutOff, Held, Opposed, Reach, State, Step, Through
from .words import AHEAD, COLUMNS, GIVING, LEFT_OUT, MISSING, NONE_GIVEN, PYTHON_2, SHOWING

__all__ = [
    "AHEAD", "COLUMNS", "GIVING", "LEFT_OUT", "MISSING", "NONE_GIVEN", "PYTHON_2", "SHOWING", "SIGN", "Arrivals",
    "Backward", "Behind", "Books", "Carrier", "Compared", "Crossing", "CutOff", "Density", "Evaluated", "Fact",
    "Failure", "Frame", "Given", "Graph", "Held", "Hello", "Hook", "KeptOut", "Loss", "Mode", "Network", "Node",
    "Opposed", "Origin", "Performed", "Reach", "Request", "Saved", "Setup", "Sign", "Site", "Stack", "State", "Step",
    "Taken", "Through", "Trace", "Trainer", "Value", "Write", "holders",
]  # fmt: skip
