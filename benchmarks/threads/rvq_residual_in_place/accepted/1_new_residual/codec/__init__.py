from .model import Codec
