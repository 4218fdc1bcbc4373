"""Overwrites, appends, deletes, renames and makes folders wherever an ordinary script might."""

import os
import shutil
from pathlib import Path

from _tricks import HOME, PROJECT, TOKEN, attempt, spoil_all

for root in (PROJECT, HOME):
    attempt(Path(root, "best_model.pt").write_bytes, b"new")
    with attempt(Path(root, "log.txt").open, "a") or open(os.devnull, "w") as log:
        log.write("appended")
    attempt(shutil.rmtree, Path(root, "runs"))
    attempt(os.makedirs, Path(root, "runs", "again"))
    attempt(os.rename, Path(root, "data"), Path(root, "moved"))
    attempt(os.unlink, Path(root, "delete_me.txt"))
Path("relative.txt").write_text(TOKEN)
spoil_all()
