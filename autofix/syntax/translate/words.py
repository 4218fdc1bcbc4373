"""numpy's vocabulary in torch's words: which function is which, and what their arguments are called.

A row tells how torch spells a function of numpy's: its name there, numpy's parameters in their order, and what else
torch has to be told. What is not in a row is not translated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MODULES = ("numpy", "math")
RENAMED = {
    "axis": "dim", "keepdims": "keepdim", "ddof": "correction", "axes": "dims", "a_min": "min", "a_max": "max",
    "ord": "ord", "subscripts": "equation",
}  # fmt: skip
"""What torch calls parameters of numpy's."""
IGNORED = ("dtype", "out", "where", "initial", "casting", "order", "subok", "like", "copy")
"""Parameters that are left out where they have their default, and declined where they have not."""
CONSTANTS = {"pi": "pi", "e": "e", "inf": "inf", "nan": "nan", "Inf": "inf", "NaN": "nan", "newaxis": "None"}


@dataclass(frozen=True, slots=True)
class Word:
    """How torch says a function of numpy's.

    `name` is torch's, below `torch.`; `parameters` are numpy's. `needs` are those that torch wants as tensors, where
    numpy takes numbers too; `always` are arguments of torch's without which it would do something else. `form` is
    written in place of a call: `{0}` is the first argument. `smooth`: it has a derivative. `scalar`: without an axis it
    gives one number.
    """

    name: str
    parameters: tuple[str, ...] = ("x",)
    needs: tuple[str, ...] = ("x",)
    always: Mapping[str, str] = field(default_factory=dict)
    form: str = ""
    smooth: bool = True
    scalar: bool = False
    listed: bool = False
    """Its first argument is a list of arrays."""
    called: Mapping[str, str] = field(default_factory=dict)
    """What torch calls parameters of this function alone."""
    along: str = ""
    """Its form with an axis, which is `{1}`; `form` is that without one."""
    modes: Mapping[str, str] = field(default_factory=dict)
    """Its forms by the argument `mode`; `form` is that without one."""


_REDUCE = ("a", "axis", "dtype", "out", "keepdims")
_SPREAD = ("a", "axis", "dtype", "out", "ddof", "keepdims")
_LIST = ("arrays", "axis")


def _same(names: str, **facts: object) -> dict[str, Word]:
    return {name: Word(name, **facts) for name in names.split()}  # type: ignore[arg-type]


def _renamed(names: Mapping[str, str], **facts: object) -> dict[str, Word]:
    return {name: Word(other, **facts) for name, other in names.items()}  # type: ignore[arg-type]


_PAIR = ("x1", "x2")
_INTERPOLATED = (
    "{2}[0] + torch.sum(torch.diff({2}) / torch.diff({1}) "
    "* torch.minimum(torch.relu({0}[..., None] - {1}[:-1]), torch.diff({1})), -1)"
)
"""Between points that are joined by straight lines: each of these adds its slope as far as it is gone along."""
_TURN = "2 * torch.pi"
_UNWRAPPED = (
    f"{{0}} - {_TURN} * torch.nn.functional.pad(torch.cumsum(torch.round(torch.diff({{0}}) / ({_TURN})), -1), (1, 0))"
)
_SLIDING = ("a", "v", "mode")


def _slid(kernel: str) -> dict[str, str]:
    """By how far two sequences have to overlap while one slides along the other; the second is the shorter one."""
    start = f"torch.nn.functional.conv1d({{0}}[None, None], {kernel}[None, None]"
    full = f"{start}, padding=len({{1}}) - 1)[0, 0"
    same = f"{full}, (len({{1}}) - 1) // 2 :][: len({{0}})]"
    return {"full": f"{full}]", "same": same, "valid": f"{start})[0, 0]"}


_CORRELATED, _CONVOLVED = _slid("{1}"), _slid("{1}.flip(0)")
WORDS: dict[str, Word] = {
    # Each element by itself.
    **_same(
        "abs absolute exp exp2 expm1 log log2 log10 log1p sqrt square reciprocal sin cos tan arcsin arccos arctan sinh "
        "cosh tanh arcsinh arccosh arctanh asin acos atan asinh acosh atanh deg2rad rad2deg sinc nan_to_num positive "
        "i0 erf lgamma"
    ),
    **_renamed({"fabs": "abs", "radians": "deg2rad", "degrees": "rad2deg"}),
    **_same("arctan2 hypot logaddexp logaddexp2 fmax fmin copysign", parameters=_PAIR, needs=_PAIR),
    "atan2": Word("atan2", _PAIR, _PAIR),
    "maximum": Word("maximum", _PAIR, _PAIR),
    "minimum": Word("minimum", _PAIR, _PAIR),
    "add": Word("add", _PAIR, form="{0} + {1}"),
    "subtract": Word("subtract", _PAIR, form="{0} - {1}"),
    "multiply": Word("multiply", _PAIR, form="{0} * {1}"),
    "divide": Word("divide", _PAIR, form="{0} / {1}"),
    "true_divide": Word("divide", _PAIR, form="{0} / {1}"),
    "negative": Word("negative", form="-{0}"),
    "power": Word("pow", _PAIR, ()),
    "pow": Word("pow", _PAIR, ()),
    "float_power": Word("pow", _PAIR, ()),
    "clip": Word("clip", ("a", "a_min", "a_max"), ("a",)),
    "where": Word("where", ("condition", "x", "y"), ("condition",)),
    "cbrt": Word("abs", form="torch.sign({0}) * torch.abs({0}) ** (1 / 3)"),
    **_same("remainder fmod", parameters=_PAIR, needs=("x1",)),
    "mod": Word("remainder", _PAIR, ("x1",)),
    "interp": Word("diff", ("x", "xp", "fp"), ("x", "xp", "fp"), form=_INTERPOLATED),
    "polyval": Word("pow", ("p", "x"), form="sum(one * {1} ** power for power, one in enumerate(reversed({0})))"),
    # Of an array one number, or one for each row.
    **_same("sum mean prod", parameters=_REDUCE, needs=("a",), scalar=True),
    **_same("var std", parameters=_SPREAD, needs=("a",), always={"correction": "0"}, scalar=True),
    **_renamed(
        {"max": "amax", "amax": "amax", "min": "amin", "amin": "amin"},
        parameters=("a", "axis", "out", "keepdims"),
        needs=("a",),
        scalar=True,
    ),
    "nansum": Word("nansum", _REDUCE, ("a",), scalar=True),
    "nanmean": Word("nanmean", _REDUCE, ("a",), scalar=True),
    "average": Word("mean", ("a", "axis", "weights"), ("a",), scalar=True),
    "median": Word("quantile", ("a", "axis"), ("a",), {"q": "0.5"}, scalar=True),
    "quantile": Word("quantile", ("a", "q", "axis"), ("a",), scalar=True),
    "percentile": Word("quantile", ("a", "q", "axis"), ("a",), scalar=True),
    "linalg.norm": Word("linalg.norm", ("x", "ord", "axis", "keepdims"), scalar=True),
    # Along an axis.
    "cumsum": Word("cumsum", ("a", "axis"), ("a",), {"dim": "0"}),
    "cumprod": Word("cumprod", ("a", "axis"), ("a",), {"dim": "0"}),
    "diff": Word("diff", ("a", "n", "axis", "prepend", "append"), ("a",)),
    **{
        f"fft.{name}": Word(f"fft.{name}", ("a", "n", "axis", "norm"), ("a",))
        for name in ("fft", "ifft", "rfft", "irfft")
    },
    **{
        f"fft.{name}": Word(f"fft.{name}", ("a", "s", "axes", "norm"), ("a",), called={"axes": "dim"})
        for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
    },
    **_same("real imag conj angle", parameters=("val",), needs=("val",)),
    "gradient": Word("gradient", ("f", "h", "axis"), ("f",), called={"h": "spacing"}),
    "trapz": Word("trapezoid", ("y", "x"), ("y",), scalar=True),
    "trapezoid": Word("trapezoid", ("y", "x"), ("y",), scalar=True),
    "ptp": Word("amax", ("a",), ("a",), form="torch.amax({0}) - torch.amin({0})", scalar=True),
    **_same("fft.fftshift fft.ifftshift", parameters=("x", "axes"), called={"axes": "dim"}),
    "ediff1d": Word("diff", ("ary",), ("ary",), form="torch.diff(torch.ravel({0}))"),
    "unwrap": Word("cumsum", ("p",), ("p",), form=_UNWRAPPED),
    "correlate": Word("nn.functional.conv1d", _SLIDING, ("a", "v"), form=_CORRELATED["valid"], modes=_CORRELATED),
    "convolve": Word("nn.functional.conv1d", _SLIDING, ("a", "v"), form=_CONVOLVED["full"], modes=_CONVOLVED),
    "sort": Word("sort", ("a", "axis"), ("a",), form="torch.sort({0}).values", along="torch.sort({0}, dim={1}).values"),
    # Products.
    "dot": Word("matmul", ("a", "b"), ("a", "b")),
    "matmul": Word("matmul", _PAIR, _PAIR),
    "vdot": Word("dot", ("a", "b"), ("a", "b"), scalar=True),
    **_same("inner outer kron", parameters=("a", "b"), needs=("a", "b")),
    "cross": Word("linalg.cross", ("a", "b", "axis"), ("a", "b")),
    "cov": Word("cov", ("m",), ("m",)),
    "corrcoef": Word("corrcoef", ("x",)),
    "tensordot": Word("tensordot", ("a", "b", "axes"), ("a", "b")),
    "einsum": Word("einsum", ("subscripts", "*operands"), ("*operands",)),
    "trace": Word("trace", ("a",), ("a",), scalar=True),
    **_renamed(
        {
            "linalg.inv": "linalg.inv",
            "linalg.det": "linalg.det",
            "linalg.pinv": "linalg.pinv",
            "linalg.cholesky": "linalg.cholesky",
            "linalg.slogdet": "linalg.slogdet",
            "linalg.eigvalsh": "linalg.eigvalsh",
            "linalg.eigh": "linalg.eigh",
        },
        parameters=("a",),
        needs=("a",),
    ),
    "linalg.matrix_power": Word("linalg.matrix_power", ("a", "n"), ("a",)),
    "linalg.solve": Word("linalg.solve", ("a", "b"), ("a", "b")),
    # The same elements elsewhere.
    "concatenate": Word("cat", _LIST, ("arrays",), listed=True),
    "stack": Word("stack", _LIST, ("arrays",), listed=True),
    **_same("vstack hstack dstack column_stack", parameters=("arrays",), needs=("arrays",), listed=True),
    "reshape": Word("reshape", ("a", "shape"), ("a",)),
    "ravel": Word("ravel", ("a",), ("a",)),
    "squeeze": Word("squeeze", ("a", "axis"), ("a",)),
    "expand_dims": Word("unsqueeze", ("a", "axis"), ("a",)),
    "swapaxes": Word("swapaxes", ("a", "axis0", "axis1"), ("a",)),
    "moveaxis": Word("moveaxis", ("a", "source", "destination"), ("a",)),
    "transpose": Word("permute", ("a", "axes"), ("a",)),
    "broadcast_to": Word("broadcast_to", ("a", "shape"), ("a",)),
    "tile": Word("tile", ("a", "reps"), ("a",), called={"reps": "dims"}),
    "repeat": Word("repeat_interleave", ("a", "repeats", "axis"), ("a",)),
    "roll": Word("roll", ("a", "shift", "axis"), ("a",), called={"shift": "shifts", "axis": "dims"}),
    "flip": Word("flip", ("a", "axis"), ("a",), called={"axis": "dims"}),
    "append": Word("cat", ("arr", "values"), ("arr", "values"), form="torch.cat([{0}.ravel(), {1}.ravel()])"),
    "take": Word("take", ("a", "indices"), ("a", "indices")),
    "take_along_axis": Word("take_along_dim", ("arr", "indices", "axis"), ("arr", "indices")),
    "rot90": Word("rot90", ("m", "k", "axes"), ("m",)),
    **_same("fliplr flipud", parameters=("a",), needs=("a",)),
    **_same("diag tril triu", parameters=("a", "k"), needs=("a",), called={"k": "diagonal"}),
    "diagonal": Word("diagonal", ("a", "offset"), ("a",)),
    "pad": Word("nn.functional.pad", ("array", "pad_width", "mode", "constant_values"), ("array",)),
    "atleast_1d": Word("atleast_1d", ("a",), ("a",)),
    "atleast_2d": Word("atleast_2d", ("a",), ("a",)),
    # What has no derivative: for conditions and indices.
    **_same("isnan isinf isfinite logical_not sign floor ceil trunc", smooth=False),
    "round": Word("round", ("a", "decimals"), ("a",), smooth=False),
    "around": Word("round", ("a", "decimals"), ("a",), smooth=False),
    "rint": Word("round", smooth=False),
    **_same("greater greater_equal less less_equal equal not_equal", parameters=_PAIR, smooth=False),
    **_same("logical_and logical_or logical_xor isclose", parameters=_PAIR, needs=_PAIR, smooth=False),
    **_same("argmax argmin", parameters=("a", "axis"), needs=("a",), smooth=False),
    "argsort": Word("argsort", ("a", "axis"), ("a",), smooth=False),
    "count_nonzero": Word("count_nonzero", ("a", "axis"), ("a",), smooth=False),
    **_same("any all", parameters=("a", "axis"), needs=("a",), smooth=False),
}
"""Functions of numpy's and of `math`'s, by their names below `numpy.` or `math.`."""
METHODS = {
    "sum", "mean", "prod", "var", "std", "max", "min", "clip", "reshape", "ravel", "squeeze", "cumsum", "cumprod",
    "dot", "trace", "diagonal", "swapaxes", "round", "argmax", "argmin", "argsort", "any", "all", "repeat",
}  # fmt: skip
"""Methods of arrays that are the functions of their names."""
KEPT = {"T", "shape", "ndim", "flatten", "real", "imag"}
"""Attributes and methods that tensors have too, and that mean the same there."""
SINGLE = {
    "float32": ".float()", "single": ".float()", "float64": ".double()", "double": ".double()", "float": ".double()",
}  # fmt: skip
"""Types to which `astype` casts, and what a tensor calls that."""
WHOLE = ("int", "int8", "int16", "int32", "int64", "uint8", "long", "intp", "bool", "bool_")
"""Types to which a cast has no derivative."""
LEAVES = ("numpy", "item", "tolist")
"""Methods by which values leave torch; before them may stand `ALLOWS`."""
ALLOWS = ("detach", "cpu", "data", "clone")
"""What stands before them because numpy asks for it, and not because a constant is meant."""
ARRAYS = ("array", "asarray", "asanyarray", "ascontiguousarray")
"""Functions that make arrays of lists and numbers."""
SCALARS = ("float32", "float64", "float16", "single", "double", "float_", "longdouble")
"""Types of numpy's that are called to cast."""
COMES = ("tensor", "as_tensor", "from_numpy", "asarray", "Tensor", "FloatTensor", "DoubleTensor", "Variable")
"""Functions of torch that make a tensor of values."""
WITHOUT = dict.fromkeys(("argmax", "argmin", "argsort"), "an index has no gradient") | dict.fromkeys(
    ("round", "around", "rint", "floor", "ceil", "trunc"), "rounding has no gradient"
) | {
    "int": "a whole number has no gradient", "sign": "a sign has no gradient",
    "count_nonzero": "a count has no gradient",
}  # fmt: skip
"""Why a loss that is one of these has no gradient."""
COUNTED = "a comparison counts and has no gradient; the loss needs a function that has one"
