"""Stands in for torchvision where it, or the data of its data sets, is missing: images of the right shape."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from . import standin_data, standin_models
from .standin_data import Samples

_GREY, _SMALL, _LARGE = (1, 28, 28), (3, 32, 32), (3, 224, 224)
SHAPES: dict[str, tuple[tuple[int, int, int], int, int]] = {
    "MNIST": (_GREY, 10, 60000), "FashionMNIST": (_GREY, 10, 60000), "KMNIST": (_GREY, 10, 60000),
    "EMNIST": (_GREY, 47, 112800), "QMNIST": (_GREY, 10, 60000), "USPS": ((1, 16, 16), 10, 7291),
    "CIFAR10": (_SMALL, 10, 50000), "CIFAR100": (_SMALL, 100, 50000), "SVHN": (_SMALL, 10, 73257),
    "STL10": ((3, 96, 96), 10, 5000), "ImageFolder": (_LARGE, 10, 1280), "ImageNet": (_LARGE, 1000, 12800),
    "CelebA": ((3, 218, 178), 40, 16277), "LSUN": ((3, 256, 256), 10, 3000), "FakeData": (_LARGE, 10, 1000),
    "Omniglot": ((1, 105, 105), 964, 19280), "Caltech101": (_LARGE, 101, 8677), "Flowers102": (_LARGE, 102, 1020),
    "OxfordIIITPet": (_LARGE, 37, 3680), "Food101": (_LARGE, 101, 7575), "VOCSegmentation": (_LARGE, 21, 1464),
}  # fmt: skip
_MOST = 2048
"""Images of a data set that stands in: enough for epochs, few enough to be made."""
_SAME = (
    "ToPILImage", "RandomHorizontalFlip", "RandomVerticalFlip", "ColorJitter",
    "RandomRotation", "RandomAffine", "RandomErasing", "ConvertImageDtype", "RandomGrayscale", "GaussianBlur",
    "RandomPerspective", "AutoAugment", "RandAugment", "RandomAutocontrast", "RandomInvert",
)  # fmt: skip
_SIZED = ("Resize", "Scale", "CenterCrop", "RandomCrop", "RandomResizedCrop", "RandomSizedCrop", "FiveCrop")


class VisionDataset(Samples):
    """A data set of torchvision, by its name: images and classes, through the transforms that it is given."""

    name = "MNIST"

    def __init__(
        self, root: Any = "", *args: Any, transform: Any = None, target_transform: Any = None, **kwargs: Any
    ) -> None:
        shape, classes, size = SHAPES[self.name]
        self.root, self.train = root, bool(kwargs.get("train", args[0] if args else True))
        self.transform = transform or next((one for one in args if callable(one)), None)
        self.target_transform = target_transform
        size = min(size, _MOST)
        super().__init__(size if self.train else size // 4, self._sample)
        self.classes = [str(n) for n in range(classes)]
        self.class_to_idx = {name: n for n, name in enumerate(self.classes)}
        self._shape = shape
        shown = "x".join(map(str, shape))
        standin_data.note(f"the data set {self.name} is missing: {len(self)} random images of {shown} stand in")

    def _sample(self, index: int) -> Any:
        key = (self.name, self.train, index)
        image: Any = standin_data.image(self._shape, *key)
        image = self.transform(_as_picture(image)) if self.transform is not None else image
        target: Any = standin_data.label(len(self.classes), *key)
        if self.name == "CelebA":
            target = torch.randint(2, (40,), generator=standin_data.generator(*key))
        if self.name == "VOCSegmentation":
            target = torch.randint(21, self._shape[1:], generator=standin_data.generator(*key))
        return image, self.target_transform(target) if self.target_transform is not None else target

    @property
    def targets(self) -> list[int]:
        """All classes."""
        return [standin_data.label(len(self.classes), self.name, self.train, n) for n in range(len(self))]

    @property
    def data(self) -> torch.Tensor:
        """All images, as bytes, grey ones without a channel as torchvision keeps them."""
        images = torch.stack([standin_data.image(self._shape, self.name, self.train, n) for n in range(len(self))])
        pixels = (images * 255).to(torch.uint8)
        return pixels[:, 0] if self._shape[0] == 1 else pixels.permute(0, 2, 3, 1)

    @property
    def samples(self) -> list[tuple[str, int]]:
        """Names and classes, as a folder has them."""
        return [(f"{n:05}.png", target) for n, target in enumerate(self.targets)]

    train_data, test_data = data, data
    imgs = samples

    @property
    def labels(self) -> torch.Tensor:
        """All classes, as a tensor."""
        return torch.tensor(self.targets)

    train_labels, test_labels = labels, labels


def _as_picture(image: torch.Tensor) -> Any:
    """An image as real transforms want it: a picture where PIL is there, else the tensor that ours take."""
    if "torchvision" in sys.modules and isinstance(sys.modules["torchvision"], Vision):
        return image
    try:
        picture = importlib.import_module("PIL.Image")
    except ImportError:
        return image
    return picture.fromarray((image * 255).to(torch.uint8).permute(1, 2, 0).numpy().squeeze())


def opened(path: Any, *args: Any, **kwargs: Any) -> Any:
    """What `PIL.Image.open` gives for a file that is not there."""
    standin_data.note("images are stood in for by random ones of 3x256x256")
    return StandInImage(standin_data.image((3, 256, 256), str(path)))


def from_array(pixels: Any, *args: Any, **kwargs: Any) -> StandInImage:
    """What `PIL.Image.fromarray` gives for an array of bytes."""
    return StandInImage(_ToTensor()(pixels))


class StandInImage:
    """An image as PIL would have it: converted and resized as a script wants, an array of bytes where asked."""

    def __init__(self, pixels: torch.Tensor) -> None:
        self.pixels = pixels

    @property
    def size(self) -> tuple[int, int]:
        return int(self.pixels.shape[-1]), int(self.pixels.shape[-2])

    def convert(self, mode: str = "RGB") -> StandInImage:
        return StandInImage(self.pixels[:1] if mode in {"L", "1", "P"} else self.pixels)

    def resize(self, size: tuple[int, int], *args: Any, **kwargs: Any) -> StandInImage:
        return StandInImage(_Sized((size[1], size[0]))(self.pixels))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return (self.pixels * 255).to(torch.uint8).permute(1, 2, 0).numpy().squeeze()


# Transforms ---------------------------------------------------------------------------------------------------------


def _plain(image: Any) -> Any:
    return image.pixels if isinstance(image, StandInImage) else image


class _Compose:
    def __init__(self, transforms: Any) -> None:
        self.transforms = list(transforms)

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


class _Same:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, image: Any) -> Any:
        return _plain(image)


class _ToTensor(_Same):
    def __call__(self, image: Any) -> Any:
        image = _plain(image)
        if isinstance(image, torch.Tensor):
            return image
        pixels = torch.as_tensor(image)
        pixels = pixels[None] if pixels.dim() < len(_GREY) else pixels.permute(2, 0, 1)
        return pixels / 255 if pixels.dtype == torch.uint8 else pixels


class _Sized:
    def __init__(self, size: Any, *args: Any, **kwargs: Any) -> None:
        self.size = size

    def __call__(self, image: Any) -> Any:
        height, width = (self.size, self.size) if isinstance(self.size, int) else tuple(self.size)[-2:]
        return torch.nn.functional.interpolate(_plain(image)[None].float(), (height, width), mode="nearest")[0]


class _Normalize:
    def __init__(self, mean: Any, std: Any, *args: Any) -> None:
        self.mean, self.std = (torch.as_tensor(part).reshape(-1, 1, 1) for part in (mean, std))

    def __call__(self, image: Any) -> Any:
        return (_plain(image) - self.mean) / self.std


class _Grayscale:
    def __init__(self, num_output_channels: int = 1) -> None:
        self.channels = num_output_channels

    def __call__(self, image: Any) -> Any:
        return _plain(image).mean(0, keepdim=True).expand(self.channels, -1, -1)


class _Lambda:
    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        self.lambd = lambd

    def __call__(self, image: Any) -> Any:
        return self.lambd(image)


class _Apply(_Compose):
    def __init__(self, transforms: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(transforms)


# The package --------------------------------------------------------------------------------------------------------


class Vision(types.ModuleType):
    """A module of the package: what it is asked for and cannot give is named."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{self.__name__}.{name} has no stand-in; install torchvision to run this script")


def module(name: str) -> types.ModuleType:
    """The module of the package with this name."""
    made: Any = Vision(name)
    made.__path__ = []
    match name.partition(".")[2]:
        case "":
            made.__version__ = "0.0"
        case "datasets":
            for one in SHAPES:
                setattr(made, one, type(one, (VisionDataset,), {"name": one}))
            made.VisionDataset = VisionDataset
        case "transforms" | "transforms.transforms" | "transforms.v2":
            _fill_transforms(made)
        case part if part.partition(".")[0] == "models":
            standin_models.fill(made, standin_data.doubt)
        case "utils":
            made.save_image = lambda *args, **kwargs: None
            made.make_grid = _grid
    if name == "torchvision":
        for part in ("datasets", "transforms", "utils", "models"):
            sys.modules[name] = made
            setattr(made, part, importlib.import_module(f"{name}.{part}"))
    return made


def _fill_transforms(made: Any) -> None:
    for one in _SAME:
        setattr(made, one, type(one, (_Same,), {}))
    for one in _SIZED:
        setattr(made, one, type(one, (_Sized,), {}))
    made.Compose, made.Normalize, made.Grayscale, made.Lambda = _Compose, _Normalize, _Grayscale, _Lambda
    made.ToTensor = made.PILToTensor = made.ToImage = _ToTensor
    made.RandomApply = made.RandomChoice = _Apply
    made.Pad = _Same
    made.InterpolationMode = types.SimpleNamespace(BICUBIC=3, BILINEAR=2, NEAREST=0)


def _grid(tensor: Any, *args: Any, **kwargs: Any) -> Any:
    images = tensor if isinstance(tensor, torch.Tensor) else torch.stack(list(tensor))
    return images[0] if images.dim() > len(_GREY) else images


def wrap_installed() -> None:
    """Where torchvision is installed: a data set that cannot be made, for want of its files, is stood in for."""
    import importlib.util

    try:
        there = importlib.util.find_spec("torchvision")
    except (ImportError, ValueError):
        return
    if there is None or there.origin is None:
        return
    datasets: Any = importlib.import_module("torchvision.datasets")
    for name in SHAPES:
        if isinstance(real := getattr(datasets, name, None), type):
            setattr(datasets, name, _falling_back(real, name))


def _falling_back(real: Any, name: str) -> Any:
    stand_in = type(name, (VisionDataset,), {"name": name})

    class Made(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            try:
                return real(*args, **kwargs)
            except (OSError, RuntimeError):  # no files, or none that may be downloaded
                return stand_in(*args, **kwargs)

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, (real, stand_in))

    return Made(name, (), {})
