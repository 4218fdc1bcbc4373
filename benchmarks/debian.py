"""Makes an interpreter of another torch out of Debian's packages, without installing any of them.

    python benchmarks/debian.py trixie FOLDER      # FOLDER/python: Python 3.13 with torch 2.6.0
    pytest --python FOLDER/python tests/test_rules.py tests/test_fixtures.py

bookworm has torch 1.13 under Python 3.11, trixie 2.6.0 under 3.13; forky and sid have whatever is newest. Needs Linux
on x86-64, apt-get, dpkg-deb and Debian's keys. The program is started by its own loader, whatever C library is here.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

MIRROR = "http://deb.debian.org/debian"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
_PLACES = ("lib/x86_64-linux-gnu", LIBRARIES, "usr/lib", f"{LIBRARIES}/blas", f"{LIBRARIES}/lapack")


def found(tool: str) -> str:
    """Where a tool of Debian's lies."""
    return shutil.which(tool) or tool


def fetch(suite: str, folder: Path, packages: list[str]) -> list[Path]:
    """Download packages and all that they depend on, with lists and caches of their own."""
    apt = folder / "apt"
    for name in ("etc/apt.conf.d", "etc/preferences.d", "lists/partial", "archives/partial"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    (apt / "etc" / "sources.list").write_text(f"deb [signed-by={KEYS}] {MIRROR} {suite} main\n", "utf-8")
    options = {
        "Dir": apt, "Dir::Etc": apt / "etc", "Dir::State": apt, "Dir::State::status": apt / "status", "Dir::Cache": apt,
        "APT::Sandbox::User": "root", "APT::Install-Recommends": "false", "Debug::NoLocking": "1",
    }  # fmt: skip
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    subprocess.run([found("apt-get"), *words, "update"], check=True)
    subprocess.run([found("apt-get"), *words, "--yes", "--download-only", "install", *packages], check=True)
    return sorted((apt / "archives").glob("*.deb"))


def program(root: Path, place: Path) -> Path:
    """A program that runs the Python under `root` with the libraries there."""
    python = next(path for path in sorted((root / "usr/bin").glob("python3.*")) if path.suffix[1:].isdigit())
    loader = next(path for name in ("usr/lib64", "lib64") for path in (root / name).glob("ld-linux-x86-64.so.2"))
    # Absolute links of the archive lead out of it.
    inside = root / f"lib/x86_64-linux-gnu/{loader.name}"
    loader = inside if inside.exists() else loader
    libraries = ":".join(str(root / name) for name in _PLACES)
    words = f'"{loader}" --argv0 "$0" --library-path "{libraries}" "{python}" "$@"'
    place.write_text(f'#!/bin/sh\nPYTHONHOME="{root / "usr"}" exec {words}\n', "utf-8")
    place.chmod(0o755)
    return place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    folder = given.folder.absolute()
    for package in fetch(given.suite, folder, ["python3-torch", "python3-setuptools"]):
        subprocess.run([found("dpkg-deb"), "-x", package, folder / "root"], check=True)
        package.unlink()
    python = program(folder / "root", folder / "python")
    subprocess.run([python, "-c", "import sys, torch; print(sys.version, torch.__version__)"], check=True)
    print(python)


if __name__ == "__main__":
    main()
