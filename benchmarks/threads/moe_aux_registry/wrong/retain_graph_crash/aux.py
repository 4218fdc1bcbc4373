"""Where layers leave side losses for the trainer, so that forward() signatures stay clean."""

_LOSSES = []


def add(name, value, weight=1.0):
    _LOSSES.append((name, weight * value))


def total():
    return sum(v for _, v in _LOSSES)


def names():
    return sorted({n for n, _ in _LOSSES})


def reset():
    _LOSSES.clear()
