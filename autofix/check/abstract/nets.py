"""Networks and optimizers: torch's modules, what is in them, what calling them records."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.check.abstract import operators
from autofix.check.abstract.player import Player
from autofix.check.abstract.values import (
    MAYBE,
    YES,
    Ask,
    Class,
    Const,
    Instance,
    Listed,
    Mapped,
    Opaque,
    Optimizer,
    Plain,
    Tensor,
    Value,
    contents,
)
from autofix.syntax.vocabulary import INPLACE

_WEIGHTED = (
    "Linear", "Conv", "Norm", "Embedding", "RNN", "LSTM", "GRU", "Transformer", "Multihead", "PReLU", "Bilinear",
)  # fmt: skip
_RECURRENT = ("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")
_SAVING_RESULT = {
    "ReLU": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Softmax": "softmax", "LogSoftmax": "log_softmax",
}  # fmt: skip
_KEEPING = {
    "GELU": "gelu", "SiLU": "silu", "Softplus": "softplus", "LeakyReLU": "leaky_relu", "ELU": "elu", "Identity": "",
    "Flatten": "flatten", "Dropout": "dropout", "Mish": "mish", "Unflatten": "unflatten", "Hardtanh": "hardtanh",
}  # fmt: skip
_CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")


def is_module(value: Value | None) -> bool:
    match value:
        case Instance(of=None, kind=kind):
            return kind.startswith("torch.nn.")
        case Instance(of=Class() as of):
            return of.is_module
    return False


def make(player: Player, kind: str, ask: Ask) -> Value:
    """A module of torch."""
    name = kind.removeprefix("torch.nn.").removeprefix("modules.").rpartition(".")[2]
    if name in {"DataParallel", "DistributedDataParallel"}:
        return ask.given[0] if ask.given else ask.words.get("module", player.unknown(ask.node))
    if name in {"Parameter", "UninitializedParameter"}:
        return parameter(player, ask)
    made = Instance(None, f"torch.nn.{name}")
    fill(player, made, name, ask)
    return made


def fill(player: Player, made: Instance, name: str, ask: Ask) -> None:
    """Give a module what its constructor makes."""
    if name in _CONTAINERS:
        _adopt(made, ask.given)
        return
    for word, value in ask.words.items():
        made.attributes[f"({word})"] = value
    place = INPLACE.get(name)
    if place is not None and len(ask.given) > place:
        made.attributes["(inplace)"] = ask.given[place]
    if name.startswith(_WEIGHTED) or name.endswith("Norm") or "Norm" in name or "Conv" in name:
        for weight in ("weight", "bias"):
            flag = ask.words.get(weight)
            if isinstance(flag, Const) and not flag.value:
                made.attributes[weight] = Const(None)
            elif not (isinstance(ask.words.get("affine"), Const) and ask.words["affine"].value is False):  # type: ignore[attr-defined]
                made.attributes[weight] = _weight(player, ask.node)


def _weight(player: Player, node: ast.AST) -> Tensor:
    made = player.tape.leaf(player.place(node), YES)
    made.parameter = True
    return made


def _adopt(made: Instance, given: Sequence[Value]) -> None:
    """Put modules into a container of them."""
    for value in given:
        if isinstance(value, Mapped):
            for key, child in value.items.items():
                made.attributes[str(key)] = child
        elif isinstance(value, Listed):
            for child in value.items:
                made.attributes[str(len(made.attributes))] = child
        else:
            made.attributes[str(len(made.attributes))] = value


def parameter(player: Player, ask: Ask) -> Tensor:
    data = ask.first("data")
    made = Tensor(None, data.storage) if type(data) is Tensor and data.base is None else Tensor()
    made.parameter = True
    flag = ask.words.get("requires_grad", ask.given[1] if len(ask.given) > 1 else None)
    if not (isinstance(flag, Const) and flag.value is False):
        player.tape.leaf(player.place(ask.node), YES if flag is None or isinstance(flag, Const) else MAYBE, made)
    return made


def held(module: Instance) -> list[tuple[str, Value]]:
    """What a container holds, by name."""
    return [(key, value) for key, value in module.attributes.items() if not key.startswith("(")]


def children(module: Instance) -> list[Value]:
    """What a container holds, in order."""
    return [value for _, value in held(module)]


def parameters(value: Value) -> Iterator[Tensor]:
    """The parameters of a module, as `parameters()` gives them; those that are frozen too."""
    return (tensor for _, tensor in named_parameters(value, "", set()))


def named_parameters(value: Value, prefix: str, seen: set[int]) -> Iterator[tuple[str, Tensor]]:
    """The parameters of a module with their dotted names."""
    if id(value) in seen or not isinstance(value, Instance):
        return
    seen.add(id(value))
    for name, child in value.attributes.items():
        if isinstance(child, Tensor) and child.parameter and id(child) not in seen:
            seen.add(id(child))
            yield f"{prefix}{name}", child
        elif is_module(child):
            yield from named_parameters(child, f"{prefix}{name}.", seen)


def complete(value: Value, depth: int = 6) -> bool:
    """Whether everything in a module is known."""
    if not isinstance(value, Instance) or not depth:
        return False
    for name, child in value.attributes.items():
        if isinstance(child, Opaque) or name == "(more)":
            return False
        if is_module(child) and not complete(child, depth - 1):
            return False
    return value.of is None or all(base.startswith("torch.nn.") for base in value.of.foreign())


def run(player: Player, module: Instance, ask: Ask) -> Value:
    """Call a module of torch."""
    name = module.kind.removeprefix("torch.nn.")
    if name == "Sequential":
        return in_turn(player, module, ask)
    if name.endswith("Loss"):
        return _loss(player, module, name, ask)
    return _layer(player, module, name, [*ask.given, *ask.words.values()], ask.node)


def in_turn(player: Player, module: Instance, ask: Ask) -> Value:
    """Call what a container holds, one after the other, as `Sequential` does."""
    value: Value = ask.given[0] if ask.given else Plain()
    for child in children(module):
        value = player.call(child, Ask([value], {}, ask.node))
    return value


def _layer(player: Player, module: Instance, name: str, given: Sequence[Value], node: ast.AST) -> Value:
    tape, place = player.tape, player.place(node)
    inputs = [tensor for value in given for tensor in contents(value)]
    weights = [value for value in module.attributes.values() if isinstance(value, Tensor)]
    flag = module.attributes.get("(inplace)")
    if isinstance(flag, Const) and flag.value is True and inputs:
        return inplace(player, inputs[0], _SAVING_RESULT.get(name, name.lower()), node)
    simple = _SAVING_RESULT.get(name) or _KEEPING.get(name)
    if simple is not None and not weights:
        return operators.apply(tape, simple, given, {}, place) if simple else (inputs[0] if inputs else Tensor())
    saved: list[tuple[Tensor, Tensor | None]] = []
    main = module.attributes.get("weight")
    if isinstance(main, Tensor) and inputs:
        saved = [(one, main) for one in inputs[:1] if "Embedding" not in name]
        saved += [(main, one) for one in inputs[:1]]
    if name in _RECURRENT and isinstance(main, Tensor):
        saved += [(one, main) for one in inputs[1:]]
        saved.append((main, main))
    result = tape.operate(name, [*inputs, *weights], place, saved=saved)
    if name in {"RNN", "GRU"}:
        return Listed([result, _sibling(result)], "tuple")
    if name == "LSTM":
        state = Listed([_sibling(result), _sibling(result)], "tuple")
        return Listed([result, state], "tuple")
    if name in {"LSTMCell", "MultiheadAttention"}:
        return Listed([result, _sibling(result)], "tuple")
    return result


def _sibling(result: Tensor) -> Tensor:
    """Another result of the same operation."""
    return Tensor(result.node, cut=result.cut)


def _loss(player: Player, module: Instance, name: str, ask: Ask) -> Tensor:
    known = {
        "MSELoss": "mse_loss", "L1Loss": "l1_loss", "BCELoss": "binary_cross_entropy", "SmoothL1Loss": "smooth_l1_loss",
        "BCEWithLogitsLoss": "binary_cross_entropy_with_logits", "HuberLoss": "huber_loss",
    }  # fmt: skip
    reduction = module.attributes.get("(reduction)")
    said = {"reduction": reduction} if reduction is not None else {}
    result = operators.apply(
        player.tape, known.get(name, "nll_loss"), [*ask.given, *ask.words.values()], said, player.place(ask.node)
    )
    return result if isinstance(result, Tensor) else Tensor()


def inplace(player: Player, tensor: Tensor, name: str, node: ast.AST) -> Tensor:
    """An activation that writes over what it is given."""
    if isinstance(tensor, Opaque):
        return _rewritten(player, tensor, name, node)
    operators.write(player.tape, tensor, name, [], player.place(node))
    if tensor.node is not None:
        tensor.node.holds = True
    return tensor


def _rewritten(player: Player, tensor: Opaque, name: str, node: ast.AST) -> Tensor:
    tensor.is_tensor = True
    result = operators.apply(player.tape, name, [tensor], {}, player.place(node))
    return result if isinstance(result, Tensor) else Tensor()


def optimizer(player: Player, kind: str, ask: Ask) -> Optimizer:
    """A torch optimizer; what is no leaf is refused, unless it keeps its gradient."""
    value = ask.given[0] if ask.given else ask.words.get("params", ask.words.get("parameters"))
    found, exact = owned(value)
    for one in found:
        node = one.node if one.needs == YES and not one.is_leaf else None
        if node is not None and not node.retained and node.operation != operators.PERHAPS:
            player.tape.event("non-leaf-owned", player.place(ask.node), tensor=one, node=node)
    return Optimizer(kind.rpartition(".")[2], found, exact=exact)


def owned(value: Value | None) -> tuple[list[Tensor], bool]:
    """The parameters in what an optimizer is given."""
    match value:
        case Opaque():
            return [], False
        case Tensor():
            return [value], True
        case Mapped(items={"params": inner}):
            return owned(inner)
        case Listed(items=items, exact=exact) | Mapped(items=items, exact=exact):
            parts = [owned(item) for item in (items.values() if isinstance(items, dict) else items)]
            return [one for found, _ in parts for one in found], exact and all(sure for _, sure in parts)
    return [], False
