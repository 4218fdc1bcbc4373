"""Torch's vocabulary: what detaches, views, writes, switches gradients off, belongs to an update; what calls take."""

from __future__ import annotations

VIEWS = ("T", "H", "mT", "mH", "real", "imag")
"""Attributes of a tensor that are views of it."""
PARTS = ("unbind", "chunk", "split", "tensor_split", "hsplit", "vsplit", "split_with_sizes")
"""Methods and functions that give several parts of a tensor."""
SHARING = frozenset({
    "detach", "detach_", "requires_grad_", "data", "numpy", "view", "view_as", "reshape", "squeeze", "unsqueeze",
    "flatten", "ravel", "t", "T", "mT", "to", "cpu", "cuda", "float", "double", "contiguous", "retain_grad",
})  # fmt: skip
"""Attributes and methods of a tensor that may give its own storage."""
WRAPPING = frozenset({"Variable", "Parameter", "as_tensor", "from_numpy", "asarray"})
"""Functions whose result may share the storage of what they are given."""
STORES = ("append", "appendleft", "insert", "add", "push", "extend", "put")
"""Methods by which containers take a value."""
WITHOUT_GRADIENT = ("no_grad", "inference_mode")
"""Contexts and decorators under which no graph is recorded."""
GRADIENT_MODES = (*WITHOUT_GRADIENT, "set_grad_enabled")
"""These, and the one that may also switch gradients on."""
WITHOUT_DERIVATIVE = frozenset({
    "argmax", "argmin", "argsort", "multinomial", "one_hot", "eq", "ne", "gt", "ge", "lt", "le", "greater", "less",
    "isnan", "isinf", "isfinite", "long", "int", "bool", "short", "byte", "nonzero", "randint", "randperm", "bincount",
    "logical_and", "logical_or", "logical_not", "count_nonzero", "searchsorted", "bucketize", "signbit", "any", "all",
    "equal", "allclose", "isin", "histc",
})  # fmt: skip
"""Functions and methods that give indices, masks, counts and whole numbers, which have no gradient."""
CHOOSES = frozenset({"max", "min", "sort", "topk", "kthvalue", "mode", "median", "nanmedian", "cummax", "cummin"})
"""Methods that give values, and behind them their indices."""
DETACHED = ("detach", "item", "tolist")
"""Methods whose result has no graph."""
CUTS = frozenset({"detach", "detach_", "data", "item", "no_grad", "numpy", "repackage_hidden"})
"""Names at which a graph may end."""
BACKWARDS = frozenset({"backward", "manual_backward"})
"""Methods that go backward from a loss, torch's own and Lightning's."""
DERIVES = BACKWARDS | {"grad"}
"""These, and the function that gives derivatives back."""
_UPDATE = ("zero_grad", "backward", "manual_backward", "unscale_", "clip_grad_norm_", "clip_grad_value_")
GRAD = (
    "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused",
    "is_grads_batched", "materialize_grads",
)  # fmt: skip
"""The parameters of `torch.autograd.grad`."""
FUNCTIONAL = dict.fromkeys(("jacobian", "hessian"), 2) | dict.fromkeys(("vjp", "jvp", "hvp", "vhp"), 3)
"""The functions of `torch.autograd.functional`, and the place of their `create_graph`."""
BACKWARD = ("self", "gradient", "retain_graph", "create_graph", "inputs")
"""The parameters of a tensor's `backward`."""
BACKWARD_FUNCTION = ("tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs")
"""The parameters of `torch.autograd.backward`."""
INPLACE = {
    "relu": 1, "relu6": 1, "selu": 1, "silu": 1, "mish": 1, "hardswish": 1, "hardsigmoid": 1, "leaky_relu": 2,
    "elu": 2, "celu": 2, "threshold": 3, "hardtanh": 3, "dropout": 3, "alpha_dropout": 3, "dropout1d": 3,
    "dropout2d": 3, "dropout3d": 3, "rrelu": 4,
    "ReLU": 0, "ReLU6": 0, "SELU": 0, "SiLU": 0, "Mish": 0, "Hardswish": 0, "Hardsigmoid": 0, "LeakyReLU": 1,
    "ELU": 1, "CELU": 1, "Dropout": 1, "Dropout1d": 1, "Dropout2d": 1, "Dropout3d": 1, "AlphaDropout": 1,
    "Hardtanh": 2, "Threshold": 2, "RReLU": 2,
}  # fmt: skip
"""Where `inplace` stands among the arguments of torch's functions and modules that take it."""
KEEPS_IN_RANGE = frozenset({
    "exp", "exp2", "softplus", "Softplus", "sigmoid", "Sigmoid", "logsigmoid", "tanh", "Tanh", "softmax", "Softmax",
    "log_softmax", "matrix_exp",
})  # fmt: skip
"""Functions by which a parameter without bounds stands for a value that has some: a scale, a probability."""
_DRAWING = frozenset({"bernoulli", "choice", "choices", "multinomial", "next", "normal", "poisson", "sample"})


def writes(name: str) -> bool:
    """Whether a method or function of that name writes in place, by torch's naming convention."""
    return name.endswith("_") and not name.endswith("__") and name != "requires_grad_"


def prepares(name: str) -> bool:
    """Whether a call of that name makes gradients ready for the step after it."""
    return name.startswith(("clip_grad", "unscale"))


def completes(name: str) -> bool:
    """Whether a call of that name steps, or makes gradients ready for that."""
    return name in ("step", "update") or prepares(name)


def steps(name: str) -> bool:
    """Whether a call of that name steps, or belongs directly to a step."""
    return name == "zero_grad" or completes(name)


def leads_to_step(name: str) -> bool:
    """Whether a call of that name before a step is part of the same update."""
    return name in _UPDATE or "backward" in name


def trains(name: str) -> bool:
    """Whether a call of that name runs a backward or a step, or prepares one, and so must happen once."""
    return name in (*_UPDATE, "step")


def samples(name: str) -> bool:
    """Whether a call of that name draws some of many, and not all of them in another order."""
    return name != "next" and draws(name) and not name.startswith(("permutation", "randperm"))


def draws(name: str) -> bool:
    """Whether a call of that name draws random numbers, or takes the next of an iterator."""
    return name.startswith(("rand", "permutation")) or name in _DRAWING
