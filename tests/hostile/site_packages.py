"""Writes into the interpreter: its packages, its library, its own file, and the caches beside them."""

import os
import sys
import sysconfig

from _tricks import TOKEN, attempt, spoil_all

for place in {*sysconfig.get_paths().values(), os.path.dirname(sys.executable), os.path.dirname(os.__file__), "/etc"}:
    attempt(os.makedirs, os.path.join(place, "__pycache__"))
    for name in (TOKEN, f"{TOKEN}.pth", f"__pycache__/{TOKEN}.pyc"):
        attempt(lambda path: open(path, "w").close(), os.path.join(place, name))
attempt(lambda: open(sys.executable, "r+b").close())
attempt(lambda: open(os.__file__, "a").close())
spoil_all()
