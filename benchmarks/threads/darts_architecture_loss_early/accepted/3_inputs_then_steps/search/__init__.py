from .engine import Search
