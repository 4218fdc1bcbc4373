"""Plays with links: swaps folders for links to elsewhere and writes through them, and links hard to originals."""

import os
import shutil

from _tricks import HOME, PROJECT, TOKEN, attempt, spoil, spoil_all

attempt(os.link, f"{PROJECT}/best_model.pt", f"/tmp/{TOKEN}.hard")
attempt(os.link, f"{HOME}/log.txt", f"{PROJECT}/{TOKEN}.hard")
attempt(os.link, "/etc/hostname", f"/tmp/{TOKEN}.host")
attempt(shutil.rmtree, PROJECT)
attempt(os.symlink, HOME, PROJECT)
attempt(os.symlink, HOME, f"/tmp/{TOKEN}.home")
attempt(os.symlink, HOME, "linked")
for way in (PROJECT, f"/tmp/{TOKEN}.home", "linked"):
    spoil(way)
spoil_all()
