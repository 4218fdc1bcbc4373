from .agent import Dreamer
