"""The words for what a report says in enums, and the cleaning of words that come from the user's process."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from autofix.core.model import Answer, Applicability, Cause, Culprit, Effect, Fix, Outcome, Report, RunOutcome
from autofix.probe.wire import Failure
from autofix.search.registry import rules

ROLES = {
    "built": "this module works in place",
    "made": "{} is made here",
    "squared": "a complex value is squared here, and the result is complex",
    "saved": "an operation saves a tensor for its backward here",
    "shared": "{} is made here, with the graph that both backward calls need",
    "carried": "{} carries the graph of one iteration into the next",
    "stored": "{} keeps a tensor together with its graph",
    "used_earlier": "the earlier backward goes through here",
    "freed": "this backward frees the graph",
    "written": "the tensor is written in place here",
    "stepped": "this step writes the parameters in place",
    "stale": "a value from before the write is used here, after the write",
    "gave_none": "this derivative is None: its output does not depend on the input that it is taken by",
    "unset": "this gradient is None: no backward has reached its tensor",
    "cut": "the graph of {} ends here",
    "constant": "this number has no graph, and the loss is made of such numbers alone",
    "off": "requires_grad of parameters is switched off here",
    "asleep": "a value is computed from them meanwhile, and has no graph",
    "on": "requires_grad is switched on again here",
    "defined": "{} is defined here",
    "no_tensor": "what is saved here for the backward is no tensor",
    "given": "its backward returns these gradients for the arguments of its forward",
    "called": "{} is called from here",
    "used": "the failing backward goes through here",
    "failed": "it fails here",
}
"""What a line does; `{}` are the variables that it does it to."""
_UNNAMED = {"made": "the tensor", "shared": "the tensor", "carried": "a variable", "stored": "this", "cut": "the loss"}
_UNNAMED |= {"called": "it"}
_NAMELESS = ("failed", "stepped")
"""Roles whose line shows all that there is to name."""
_TOGETHER = {
    ("carried",): "{} carries the graph of one iteration into the next",
    (
        "freed",
        "failed",
    ): "this backward frees the graph; in the next iteration it fails, because it needs that graph again",
    ("saved", "written"): "this call saves a tensor for its backward, and then writes it in place",
    ("saved", "stale"): "this saves a tensor for its backward, and after the write uses a value from before it",
    ("used_earlier", "used"): "both backward calls go through here",
}
"""What one line does that plays several parts, the first that fits; where none does, the weightiest part is told."""
CAUSES = {
    Cause.FREED_GRAPH: "backward needs a graph that an earlier backward has freed",
    Cause.SAVED_TENSOR_MODIFIED: "a tensor that backward needs was written in place",
    Cause.LEAF_MODIFIED: "a leaf that requires a gradient was written in place",
    Cause.VIEW_MODIFIED: "a view was written in place where autograd cannot follow",
    Cause.NONLEAF_GRADIENT: "the gradient of a non-leaf tensor is not kept",
    Cause.NO_GRAPH: "backward starts at a tensor that has no graph",
    Cause.NONSCALAR_BACKWARD: "backward starts at more than one element, or at weights of another shape",
    Cause.COMPLEX_LOSS: "backward starts at a complex number, which cannot be minimized",
    Cause.CONVERSION: "a tensor that requires a gradient was converted to an array or a number",
    Cause.INFERENCE_TENSOR: "a tensor of inference mode was to be saved for backward, or written outside that mode",
    Cause.UNUSED_INPUT: "a gradient was asked for a tensor that the graph of the loss does not reach",
    Cause.GRADIENT_NONE: "a gradient that is still None was used as a tensor",
    Cause.PARAMETER_ASSIGNED: "a tensor was assigned to the name of a parameter",
    Cause.CHECKPOINT_REFUSED: "a checkpoint, which runs its part again in backward, cannot do what is asked of it",
    Cause.REDUCER_REFUSED: "parameters are used in another way than distributed training was told",
    Cause.HOOK_REFUSED: "a hook or retain_grad() was set on a tensor that gets no gradient",
    Cause.OUT_REFUSED: "a result with a graph was to be written into a given tensor",
    Cause.GRADIENTS_MISCOUNTED: "a function's own backward gives fewer gradients than its forward takes arguments",
    Cause.GRADIENT_MISSHAPEN: "a function's own backward gives a gradient of another shape than its argument has",
    Cause.RECOMPUTED_OTHERWISE: "a checkpoint computes something else in backward than it did in the forward",
    Cause.DIFFERENTIATED_ONCE: "a derivative is differentiated again, through a backward that has no derivative itself",
    Cause.SAVED_NO_TENSOR: "a function's own forward saves for its backward what is no tensor",
    Cause.LEGACY_FUNCTION: "an instance of an autograd function is called, which torch has not allowed since 1.5",
    Cause.OTHER: "autofix does not know this failure",
}
EFFECTS = {
    Effect.IDENTICAL: "every gradient stays the same",
    Effect.REFRESHED: "the gradients of the code, with newer parameters: a part runs again after a step",
    Effect.TRUNCATED: "same gradients within an iteration; none flows into earlier ones",
    Effect.REFRESHED_TRUNCATED: "newer parameters; no gradient flows into earlier iterations",
    Effect.MEANT: "gradients change, to those that the rest of the code says are meant",
    Effect.CHANGED: "gradients change",
    Effect.UNKNOWN: "the gradients could not be compared",
}
EFFECT_NAMES: dict[str, str] = {
    Effect.REFRESHED: "newer parameters",
    Effect.TRUNCATED: "cut between iterations",
    Effect.REFRESHED_TRUNCATED: "newer parameters, cut between iterations",
}
"""What an effect is called where there is no room for a sentence; the others are called as they are kept."""
GOES_ON = (
    "Losses of later iterations do not train what computed this value. If each iteration should begin anew, "
    "reset the value instead"
)
RUNS = {
    RunOutcome.PASSED: "it passed the failing line",
    RunOutcome.FINISHED: "it ran to its end",
    RunOutcome.SAME_FAILURE: "it fails in the same way",
    RunOutcome.OTHER_FAILURE: "it fails in another way",
    RunOutcome.TIMED_OUT: "it took longer than the time limit",
    RunOutcome.CRASHED: "its process died",
    RunOutcome.INSTRUMENT_FAILED: "autofix itself failed in its run, please report it",
}
OUTCOMES = {
    Outcome.FIXED: "fixed",
    Outcome.AVAILABLE: "a fix is available",
    Outcome.CLEAN: "nothing to fix: it runs without a failure",
    Outcome.UNFIXED: "no edit that was tried repairs it",
    Outcome.OTHER_FAILURE: "it fails for a reason that is not autograd's",
    Outcome.NO_FAILURE_WITHIN_LIMIT: "no failure within the limit; raise --time-limit, or shorten it with --shorten",
    Outcome.TIMED_OUT: "it took longer than the time limit; raise --time-limit, or shorten it with --shorten",
    Outcome.MEMORY_EXCEEDED: "it needs more memory than allowed; raise --memory-limit",
    Outcome.OUTPUT_EXCEEDED: "it prints more than allowed; raise --output-limit",
    Outcome.PROCESSES_EXCEEDED: "it starts more processes than allowed; raise --process-limit",
    Outcome.CRASHED: "its process died; run it without autofix to see why",
    Outcome.INSTRUMENT_FAILED: "autofix itself failed in its run; please report it, with what follows and the script",
    Outcome.CANNOT_RUN: "it cannot be run",
    Outcome.SAFE: "safe: the edit keeps the gradients that the code describes",
    Outcome.UNSAFE: "unsafe: the edit is not shown to keep the gradients that the code describes",
    Outcome.STILL_FAILING: "still failing with the edit",
}
_DOUBTED = "unsafe: no gradient that was compared is wrong, but there is the doubt below"
_FOLLOWS = "unsafe while the question below is open: the edit follows one of its answers"
_UNKNOWN = "unknown: the runs do not tell whether the edit keeps the gradients"
_REFRESHED = "safe: the edit keeps the gradients that the code describes, computed with newer parameters"
_SAFE = {
    Effect.MEANT: "safe: the edit gives the gradients that the code is meant to give; as written, it gives others",
    Effect.TRUNCATED: "safe: the edit keeps the gradients within each iteration; none flows into earlier iterations",
} | dict.fromkeys((Effect.REFRESHED, Effect.REFRESHED_TRUNCATED), _REFRESHED)
JUDGED = {Outcome.SAFE, Outcome.UNSAFE, Outcome.STILL_FAILING}
"""Where an edit that somebody else offers was judged."""
OPEN = {
    "landlock": "modes and owners of files, local sockets and /dev/shm were open to it",
    "copy": "files outside the copy of its project, and the network, were open to it",
    "none": "it ran without a fence, and what it wrote is still there",
}
"""What a rung of the fence cannot keep from a script; the best one has nothing to say."""
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x07|\x1b\\|$)|[ -/]*[0-~])", re.DOTALL)
_OPERATOR = re.compile(r"\baten::(\w+)(?:\.\w+)?")
_ASIDE = re.compile(r" \((?:or|e\.g\.|because|for example)\b[^()]*\)")
_LONGEST = 200


def clean(text: str) -> str:
    """Text without anything that a terminal would obey; tabs and line feeds stay."""
    text = _ESCAPE.sub("", text).replace("\r\n", "\n")
    return "".join(character for character in text if character in "\t\n" or not _obeyed(character))


def masked(text: str) -> str:
    """One line in which each character that a terminal would obey is one that it shows, so that columns stay."""
    return "".join("\N{REPLACEMENT CHARACTER}" if _obeyed(character) else character for character in text)


def one_line(text: str) -> str:
    return " ".join(clean(text).split())


def shortened(message: str) -> str:
    """The first sentence of an exception's message: torch explains at length, and often misleads."""
    line = _ASIDE.sub("", one_line(message))
    first = re.split(r"(?<=[^.])\.(?: |$)|; expected | Hint: |: \[torch\.", line, maxsplit=1)[0]
    return cut(first, _LONGEST)


def cut(text: str, longest: int) -> str:
    """A text that is short enough, or its beginning."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def code(report: Report) -> str:
    """What a line `path:line:col: CODE message` is filed under: the fix's rule, else the cause."""
    shown = best(report)
    if shown is not None and shown.candidate.rules:
        return shown.candidate.codes
    return kind(report.diagnosis.cause if report.diagnosis is not None else Cause.OTHER)


def kind(cause: Cause) -> str:
    """The name of a kind of failure, as it is told and explained."""
    return cause.replace("_", "-")


def best(report: Report) -> Fix | None:
    """The fix that a report is about: the one applied, else the first."""
    if not report.fixes:
        return None
    return report.fixes[report.applied or 0]


def failure(report: Report) -> Failure | None:
    """The exception that ended the unedited script, as far as it is explained."""
    return report.diagnosis.failure if report.diagnosis is not None else report.failure


def headline(report: Report) -> str:
    """What failed, in one line; empty where nothing did."""
    found = failure(report)
    return f"{one_line(found.type).rpartition('.')[2]}: {shortened(found.message)}" if found is not None else ""


def role(culprit: Culprit) -> str:
    """The part that a line played, with the variables or the operation that it is about."""
    played = {culprit.role, *culprit.also}
    said = next((words for parts, words in _TOGETHER.items() if played.issuperset(parts)), None)
    said = said or ROLES.get(culprit.role, one_line(culprit.role))
    note = _OPERATOR.sub(r"\1", one_line(culprit.note))
    if "{}" in said:
        said = said.replace("{} is", "{} are") if ", " in note else said
        return said.replace("{}", note or _UNNAMED.get(culprit.role, "the tensor"))
    return f"{said} ({note})" if note and culprit.role not in _NAMELESS else said


def told(report: Report, *, asides: bool = False) -> tuple[Culprit, ...]:
    """The places that explain a failure, in the order in which things happened; then the asides, where wanted."""
    found = report.diagnosis.culprits if report.diagnosis is not None else ()
    return tuple(one for one in found if asides or not one.aside)


def warning(fix: Fix) -> str:
    """What a person has to decide about a fix that is called safe; '' where that is nothing."""
    return GOES_ON if fix.verdict.effect.truncates else ""


def conditioned(conditions: Sequence[str]) -> str:
    """With what was changed for the runs an edit was seen alone; '' where nothing was."""
    more = f"; and {len(conditions) - 1} more" if len(conditions) > 1 else ""
    return f"seen only with a change: {one_line(conditions[0])}{more}" if conditions else ""


def trust(fix: Fix) -> str:
    """How far a fix may be trusted, in the words of a verdict, and where that is why, that its effect is unknown."""
    known = fix.verdict.effect is not Effect.UNKNOWN or fix.verdict.applicability is not Applicability.UNSAFE
    return f"{fix.verdict.applicability}{'' if known else ', effect unknown'}"


def effect(fix: Fix, *, listed: bool = False) -> str:
    """What an edit does to the gradients, as a sentence that needs no name beside it.

    `listed`: for a place that shows the reasons below it, and the warning by itself.
    """
    kind = fix.verdict.effect
    summary = one_line(fix.verdict.summary) or EFFECTS[kind]
    summary = summary if kind.keeps_gradients or str(kind) in summary.lower() else f"{kind}: {summary}"
    if listed:
        why = len(reasons(fix)) if kind.keeps_gradients else 0
        return f"{summary}. Unsafe for {'this reason' if why == 1 else 'these reasons'}:" if why else summary
    before = warning(fix)
    return f"{before}. {summary}" if before else summary


def unsafe(fix: Fix) -> str:
    """Why a fix is not safe, for a place that has no list: with its effect, and the first reason."""
    first = reasons(fix)[:1] if fix.verdict.effect.keeps_gradients else []
    return ", but ".join((effect(fix), *first))


def effect_name(kind: str) -> str:
    """What an effect is called in a line that has no room for its sentence."""
    return EFFECT_NAMES.get(kind, kind)


def reasons(fix: Fix) -> list[str]:
    """Why a fix that runs is not safe, each reason under its name; [] for a safe one."""
    found = [f"{one.property}: {one_line(one.sentence)}" for one in fix.verdict.findings]
    if found or fix.verdict.applicability is Applicability.SAFE or not fix.verdict.effect.keeps_gradients:
        return found
    bounded = [
        rule for rule in rules() if rule.code in fix.candidate.rules and rule.applicability is not Applicability.SAFE
    ]
    return [f"{rule.name}: {rule.safety()}" for rule in bounded]


def title(fix: Fix) -> str:
    """What a fix does, all steps of a chain."""
    return one_line(fix.candidate.title) or "the edit"


def sentence(report: Report) -> str:
    """Why a report could do no more, as one line; the pipeline's own words where it has some."""
    return one_line(report.message) or OUTCOMES[report.outcome]


def judged(report: Report) -> str:
    """The verdict on an edit that somebody else offers: what is unknown was not seen, and a doubt is no change."""
    effects = [fix.verdict.effect for fix in report.fixes]
    if report.outcome is Outcome.SAFE:
        return next((_SAFE[one] for one in effects if one in _SAFE), OUTCOMES[report.outcome])
    if report.outcome is not Outcome.UNSAFE or not effects:
        return OUTCOMES[report.outcome]
    asked = report.question
    offers = [one for one in asked.answers if one.offer is not None] if asked is not None and not asked.chosen else []
    if any(not _other_doubts(report, one) for one in offers):
        return _FOLLOWS
    if Effect.UNKNOWN in effects:
        return _UNKNOWN
    return _DOUBTED if all(one.keeps_gradients for one in effects) else OUTCOMES[report.outcome]


def followed(report: Report, answer: Answer) -> str:
    """What follows of an answer: which edit can be safe then, or what to do where none here follows it."""
    judged = report.outcome in JUDGED
    if answer.offer is None:
        none, other = ("this edit does not do so", "another") if judged else ("no edit found does so", "one of yours")
        return f"{none}; `autofix verify --reading {answer.name}` judges {other} by it"
    asked, named = report.question, "this edit" if judged else f"fix {answer.offer + 1}"
    if asked is None or asked.chosen:
        return f"{named} does so"
    doubts = _other_doubts(report, answer)
    then = f"is unsafe for {', '.join(doubts)}, too" if doubts else "can be safe then"
    return f"{named} does so, and {then}"


def _other_doubts(report: Report, answer: Answer) -> list[str]:
    """What else speaks against the edit that an answer offers, by name."""
    if report.question is None or answer.offer is None:
        return []
    return sorted({one.property for one in report.fixes[answer.offer].verdict.findings} - {report.question.about})


def _obeyed(character: str) -> bool:
    """Control characters, line separators, and those that turn the direction of text around."""
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp", "Co"}


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table's lines."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def diff_lines(text: str) -> list[tuple[str, str]]:
    """A diff's lines, which only a line feed ends, each with the class that gives it its colour."""
    kinds = {"+": "added", "-": "removed", "@": "place"}
    return [
        ("file" if line.startswith(("+++ ", "--- ")) else kinds.get(line[:1], "same"), masked(line))
        for line in text.replace("\r\n", "\n").removesuffix("\n").replace("\t", "    ").split("\n")
    ]


def valid(text: str) -> str:
    """A path or command line as valid Unicode."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
