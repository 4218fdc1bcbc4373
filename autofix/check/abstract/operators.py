"""Torch's operators as autograd sees them: what each saves, which give views, numbers or several tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autofix.check.abstract.tape import Tape
from autofix.check.abstract.values import (
    NO,
    YES,
    Const,
    Happening,
    Listed,
    Named,
    Opaque,
    Plain,
    PlayPlace,
    Tensor,
    Value,
    contents,
)
from autofix.syntax.vocabulary import PARTS, WITHOUT_DERIVATIVE

VIEWS = frozenset({
    "view", "view_as", "transpose", "t", "permute", "squeeze", "unsqueeze", "expand", "expand_as", "narrow", "select",
    "diagonal", "movedim", "swapaxes", "swapdims", "unfold", "T", "mT", "H", "mH", "real", "imag", "detach",
})  # fmt: skip
_LIKELY_COPIES = frozenset({
    "reshape", "flatten", "ravel", "contiguous", "to", "cpu", "cuda", "float", "double", "half", "bfloat16", "type",
    "type_as", "clone", "broadcast_to", "unflatten",
})  # fmt: skip
_SELDOM_COPIES = frozenset({"to", "cpu", "float", "contiguous"})
PERHAPS = "perhaps itself"
"""The operation of a tensor that may be its own operand."""
_RARE_TYPES = frozenset({"float64", "double", "float16", "half", "bfloat16"})
_SAVES_NOTHING = VIEWS | _LIKELY_COPIES | frozenset({
    "add", "sub", "subtract", "rsub", "neg", "negative", "sum", "mean", "cat", "concat", "concatenate", "stack",
    "vstack", "hstack", "dstack", "pad", "repeat", "tile", "lerp", "flip", "roll", "rot90", "trace", "diag", "tril",
    "triu", "interpolate", "upsample", "cumsum", "chunk", "split", "unbind", "tensor_split", "requires_grad_",
    "repeat_interleave", "nansum", "positive", "conj", "index", "pixel_shuffle", "fold", "adaptive_avg_pool",
})  # fmt: skip
_SAVES_RESULT = frozenset({
    "exp", "exp2", "expm1", "sigmoid", "tanh", "relu", "softmax", "log_softmax", "sqrt", "rsqrt", "softmin",
    "reciprocal", "tan", "cumprod", "logcumsumexp", "gumbel_softmax",
})  # fmt: skip
_SAVES_OPERAND = frozenset({
    "pow", "square", "log", "log2", "log10", "log1p", "abs", "absolute", "sin", "cos", "asin", "acos", "atan", "sinh",
    "cosh", "clamp", "clip", "clamp_min", "clamp_max", "gelu", "silu", "mish", "softplus", "softsign",
    "logsigmoid", "hardtanh", "relu6", "leaky_relu", "hardswish", "var", "std", "erf", "erfinv", "digamma", "lgamma",
    "norm", "normalize", "prod", "logsumexp", "atan2", "renorm", "layer_norm", "group_norm", "batch_norm",
    "instance_norm", "avg_pool", "max_pool",
})  # fmt: skip
_SAVES_BOTH = frozenset({
    "mul", "multiply", "div", "divide", "true_divide", "matmul", "mm", "bmm", "mv", "dot", "inner", "outer", "ger",
    "einsum", "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "bilinear", "baddbmm",
    "addmm", "addcmul", "kron", "cross", "tensordot", "cdist", "cosine_similarity", "hypot",
})  # fmt: skip
LOSSES = frozenset({
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "nll_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div", "cosine_embedding_loss", "hinge_embedding_loss", "ctc_loss",
    "margin_ranking_loss", "triplet_margin_loss", "soft_margin_loss", "gaussian_nll_loss", "poisson_nll_loss",
    "multilabel_soft_margin_loss", "multi_margin_loss", "multilabel_margin_loss",
})  # fmt: skip
_LOSSES_OF_BOTH = frozenset({
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
})  # fmt: skip
_NEW = frozenset({
    "arange", "empty", "eye", "full", "linspace", "logspace", "normal", "ones", "rand", "randint", "randn", "zeros",
    "zeros_like", "ones_like", "rand_like", "randn_like", "empty_like", "full_like", "randint_like", "randperm",
    "hann_window", "tril_indices", "triu_indices", "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor",
    "from_numpy", "load", "meshgrid", "cartesian_prod", "combinations", "LongTensor", "IntTensor", "BoolTensor",
})  # fmt: skip
_INTEGERS = frozenset({"randint", "randperm", "LongTensor", "IntTensor", "BoolTensor", "arange", "tril_indices"})
PLAIN = frozenset({
    "size", "dim", "numel", "nelement", "ndimension", "is_cuda", "get_device", "element_size", "data_ptr", "type_name",
    "is_floating_point", "is_contiguous", "is_tensor", "__len__", "stride", "storage_offset",
})  # fmt: skip
NUMBERS = frozenset({"item", "tolist", "numpy", "__float__", "__int__"})
_PAIRS = frozenset(
    {"max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin", "std_mean", "var_mean"}
)
_PARTS = frozenset(PARTS)
_REDUCTIONS = frozenset(
    {"sum", "mean", "norm", "max", "min", "prod", "std", "var", "logsumexp", "median", "nansum", "amax", "amin"}
)
_SCALARS = frozenset({"dot", "trace", "dist"})
TENSOR_METHODS = (
    _SAVES_NOTHING | _SAVES_RESULT | _SAVES_OPERAND | _SAVES_BOTH | WITHOUT_DERIVATIVE | _PAIRS | _PARTS | _REDUCTIONS
    | NUMBERS | frozenset({
        "gather", "scatter", "scatter_add", "index_select", "index_add", "index_copy", "masked_fill", "masked_select",
        "masked_scatter", "where", "maximum", "minimum", "fmod", "remainder", "sign", "round", "floor", "ceil",
        "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor", "amax", "amin", "backward", "detach_",
        "register_hook", "retain_grad", "take", "inverse", "det", "cholesky", "svd", "qr", "elu", "selu",
    })
) - frozenset({
    "index", "split", "normalize", "pad", "any", "all", "int", "float", "type", "mode", "clip", "to", "pow",
})  # fmt: skip
"""Methods by which a value of unknown kind is known to be a tensor."""


def base_name(name: str) -> str:
    """`max_pool` for `max_pool2d`, so that a table names an operation once."""
    if name.endswith(("1d", "2d", "3d")) and "pool" in name:
        name = name[:-2]
        return name.removeprefix("adaptive_") if "max" in name else name
    return name


def is_known(name: str) -> bool:
    return base_name(name) in TENSOR_METHODS or name in LOSSES or name in _NEW


def apply(tape: Tape, name: str, given: Sequence[Value], words: Mapping[str, Value], place: PlayPlace) -> Value:
    """What an operator of torch gives, by its name, for what it is given: first the tensor whose method it is."""
    name = base_name(name)
    inputs = [tensor for value in (*given, *words.values()) for tensor in contents(value)]
    if name in _NEW or name.endswith("_like"):
        return _new(tape, name, words, place)
    if name in PLAIN:
        return Plain()
    if name in NUMBERS:
        return Plain(_cut(tape, inputs, place, name))
    first = inputs[0] if inputs else Tensor()
    if name in {"detach", "stop_gradient"}:
        return detached(tape, first, place, name)
    if name in WITHOUT_DERIVATIVE:
        return Tensor(cut=_cut(tape, inputs, place, name), integer=True)
    if name in _PARTS:
        return _parts(tape, name, first, place)
    if name in _PAIRS and (len(given) > 1 or "dim" in words) and not _elementwise(name, given):
        values = _operation(tape, name, given, words, place)
        return Listed([values, Tensor()], "tuple")
    return _operation(tape, name, given, words, place)


def _casts(given: Sequence[Value]) -> bool:
    """Whether `x.to(…)` is given a type that a tensor seldom has from the start."""
    return any(isinstance(one, Named) and one.name.rpartition(".")[2] in _RARE_TYPES for one in given)


def _elementwise(name: str, given: Sequence[Value]) -> bool:
    """Whether `max(a, b)` compares two tensors."""
    return name in {"max", "min"} and len(given) > 1 and isinstance(given[1], Tensor)


def _new(tape: Tape, name: str, words: Mapping[str, Value], place: PlayPlace) -> Tensor:
    flag = words.get("requires_grad")
    needs = YES if isinstance(flag, Const) and flag.value is True else NO
    made = tape.leaf(place, needs)
    if flag is not None and not isinstance(flag, Const):
        made = tape.leaf(place, 1, made)
    made.integer = name in _INTEGERS
    return made


def _cut(tape: Tape, inputs: Sequence[Tensor], place: PlayPlace, name: str) -> Happening | None:
    """That a graph ended here, or where it had before."""
    if any(one.needs == YES for one in inputs):
        return tape.happening(place, name)
    return next((one.cut for one in inputs if one.cut is not None), None)


def detached(tape: Tape, tensor: Tensor, place: PlayPlace, name: str) -> Tensor:
    """The same storage without a graph."""
    return Tensor(None, tensor.storage, cut=_cut(tape, [tensor], place, name), scalar=tensor.scalar)


def view(tape: Tape, tensor: Tensor, place: PlayPlace, name: str = "view", *, multiple: bool = False) -> Tensor:
    """A view of a tensor, or the same view of what it is a view of."""
    quiet = tape.grad is False or tensor.quiet
    result = Tensor(None, tensor.storage, tensor.base or tensor, multiple, quiet)
    return tape.operate(name, [tensor], place, holds=False, into=result)


def _parts(tape: Tape, name: str, first: Tensor, place: PlayPlace) -> Listed:
    def fresh() -> Tensor:
        return view(tape, first, place, name, multiple=True)

    return Listed([fresh(), fresh()], "tuple", exact=False, fresh=fresh)


def _operation(tape: Tape, name: str, given: Sequence[Value], words: Mapping[str, Value], place: PlayPlace) -> Tensor:
    inputs = [tensor for value in (*given, *words.values()) for tensor in contents(value)]
    first = inputs[0] if inputs else Tensor()
    if name in VIEWS:
        result = view(tape, first, place, name)
    elif name in _SELDOM_COPIES and first.is_leaf and not isinstance(first, Opaque) and not _casts(given):
        if first.node is None:
            return first
        result = tape.operate(PERHAPS, [first], place, holds=False)  # itself, or a copy that is no leaf
    else:
        unknown = all(isinstance(one, Opaque) for one in inputs) and not is_known(name)
        result = tape.operate(
            name,
            inputs,
            place,
            holds=name not in _SAVES_NOTHING,
            saved=_saved(name, inputs),
            into=Opaque() if unknown else None,
        )
    if name in _SAVES_RESULT or name == "norm":
        tape.save_result(result)
    result.scalar = _scalar(name, inputs, given, words)
    return result


def _saved(name: str, inputs: Sequence[Tensor]) -> list[tuple[Tensor, Tensor | None]]:
    """What an operation saves of its operands, each with the one for whose gradient."""
    match inputs:
        case [first, *_] if name in _SAVES_OPERAND:
            return [(first, first)]
        case [first, second, *_] if name in {"div", "divide", "true_divide"}:
            return [(second, first), (first, second), (second, second)]
        case [first, second, *_] if name in _SAVES_BOTH:
            return [(second, first), (first, second)]
        case [first, second, *_] if name in _LOSSES_OF_BOTH:
            return [(first, first), (second, first)]
    return []


def _scalar(name: str, inputs: Sequence[Tensor], given: Sequence[Value], words: Mapping[str, Value]) -> bool | None:
    """Whether a result has one element; None where that is not known."""
    if name in LOSSES:
        reduction = words.get("reduction")
        if reduction is None:
            return True
        known = isinstance(reduction, Const)
        return reduction.value != "none" if known else None  # type: ignore[attr-defined]
    if name in _SCALARS or (name in _REDUCTIONS and len(given) == 1 and not words.keys() & {"dim", "axis"}):
        return True
    if name in _REDUCTIONS or name in {"matmul", "mm", "select", "index", "narrow", "gather"}:
        return None
    sizes = {one.scalar for one in inputs}
    if name in {"stack", "cat", "expand", "repeat"}:
        return None
    if False in sizes:
        return False
    return True if sizes == {True} else None


def write(tape: Tape, tensor: Tensor, name: str, given: Sequence[Value], place: PlayPlace) -> None:
    """An operation that writes what it gives over a tensor."""
    tape.write(tensor, [one for value in given for one in contents(value)], place, f"{name}_")
    if name in _SAVES_RESULT:
        tape.save_result(tensor)
        if tensor.node is not None:
            tensor.node.holds = True
