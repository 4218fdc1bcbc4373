"""Stands in for torchvision.models: the well-known networks with their real layers, and fresh weights."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from . import standin_data

_CLASSES = 1000
_RESNETS: dict[str, tuple[bool, tuple[int, int, int, int]]] = {
    "resnet18": (False, (2, 2, 2, 2)), "resnet34": (False, (3, 4, 6, 3)), "resnet50": (True, (3, 4, 6, 3)),
    "resnet101": (True, (3, 4, 23, 3)), "resnet152": (True, (3, 8, 36, 3)),
}  # fmt: skip
"""Whether a block is a bottleneck, and how many there are in each stage."""
_VGGS = {
    "vgg11": (1, 1, 2, 2, 2), "vgg13": (2, 2, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4),
}  # fmt: skip
"""How many convolutions there are before each pooling."""


class Block(nn.Module):
    """Convolutions with a way around them."""

    def __init__(self, inner: int, width: int, stride: int, deep: bool) -> None:
        super().__init__()
        outer = width * 4 if deep else width
        sizes = ((1, 1), (3, stride), (1, 1)) if deep else ((3, stride), (3, 1))
        planes = (inner, width, width, outer) if deep else (inner, width, outer)
        for n, (size, step) in enumerate(sizes, 1):
            convolution = nn.Conv2d(planes[n - 1], planes[n], size, step, size // 2, bias=False)
            setattr(self, f"conv{n}", convolution)
            setattr(self, f"bn{n}", nn.BatchNorm2d(planes[n]))
        self.count = len(sizes)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inner != outer:
            self.downsample = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        way = x if self.downsample is None else self.downsample(x)
        for n in range(1, self.count + 1):
            x = getattr(self, f"bn{n}")(getattr(self, f"conv{n}")(x))
            x = self.relu(x) if n < self.count else x
        x += way
        result: torch.Tensor = self.relu(x)
        return result


class ResNet(nn.Module):
    """The residual network of He et al., with the names that its layers have there."""

    def __init__(self, name: str, classes: int) -> None:
        super().__init__()
        deep, counts = _RESNETS[name]
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inner = 64
        for stage, count in enumerate(counts):
            width = 64 << stage
            blocks = []
            for n in range(count):
                blocks.append(Block(inner, width, 2 if stage and not n else 1, deep))
                inner = width * 4 if deep else width
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inner, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in range(1, 5):
            x = getattr(self, f"layer{stage}")(x)
        result: torch.Tensor = self.fc(torch.flatten(self.avgpool(x), 1))
        return result


class Plain(nn.Module):
    """Features, pooled, and a classifier: what VGG and AlexNet have in common."""

    def __init__(self, features: nn.Sequential, side: int, *classifier: nn.Module) -> None:
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d(side)
        self.classifier = nn.Sequential(*classifier)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))
        return result


def _vgg(name: str, classes: int) -> nn.Module:
    layers: list[nn.Module] = []
    inner = 3
    for stage, count in enumerate(_VGGS[name.removesuffix("_bn")]):
        width = min(64 << stage, 512)
        for _ in range(count):
            layers.append(nn.Conv2d(inner, width, 3, padding=1))
            layers += [nn.BatchNorm2d(width)] if name.endswith("_bn") else []
            layers.append(nn.ReLU(inplace=True))
            inner = width
        layers.append(nn.MaxPool2d(2, 2))
    return Plain(
        nn.Sequential(*layers), 7, nn.Linear(512 * 7 * 7, 4096), nn.ReLU(inplace=True), nn.Dropout(),
        nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, classes),
    )  # fmt: skip


def _alexnet(_name: str, classes: int) -> nn.Module:
    layers: list[nn.Module] = []
    for inner, outer, size, step, padding, pooled in (
        (3, 64, 11, 4, 2, True), (64, 192, 5, 1, 2, True), (192, 384, 3, 1, 1, False), (384, 256, 3, 1, 1, False),
        (256, 256, 3, 1, 1, True),
    ):  # fmt: skip
        layers += [nn.Conv2d(inner, outer, size, step, padding), nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(3, 2)] if pooled else []
    return Plain(
        nn.Sequential(*layers), 6, nn.Dropout(), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(inplace=True), nn.Dropout(),
        nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Linear(4096, classes),
    )  # fmt: skip


def _maker(name: str, build: Callable[[str, int], nn.Module], doubt: Callable[[str], None]) -> Any:
    def made(pretrained: Any = False, *args: Any, weights: Any = None, num_classes: int = _CLASSES, **_: Any) -> Any:
        if pretrained or weights is not None:
            doubt(f"the weights of {name} are missing: it keeps its fresh values")
        else:
            standin_data.note(f"{name} is built as torchvision builds it")
        return build(name, num_classes)

    return made


def fill(made: types.ModuleType, doubt: Callable[[str], None]) -> None:
    """Give a module the makers of networks; `doubt` is told where one is asked for with what it had learnt."""
    for name in _RESNETS:
        setattr(made, name, _maker(name, ResNet, doubt))
    for name in (one + end for one in _VGGS for end in ("", "_bn")):
        setattr(made, name, _maker(name, _vgg, doubt))
    made.alexnet = _maker("alexnet", _alexnet, doubt)  # type: ignore[attr-defined]
    made.ResNet, made.VGG, made.AlexNet = ResNet, Plain, Plain  # type: ignore[attr-defined]
    for title in (*(name.replace("resnet", "ResNet") for name in _RESNETS), *map(str.upper, _VGGS), "AlexNet"):
        setattr(made, f"{title}_Weights", _Weights())


class _Weights:
    """What a network learnt, by whatever name."""

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return name
