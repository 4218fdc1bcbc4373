from .data import frames_of, through_device
from .model import Codec

__all__ = ["Codec", "frames_of", "through_device"]
