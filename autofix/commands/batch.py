"""What `batch` does once its words are read: repositories, engine, journal, results, status."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from autofix.batch import cores, driver, engines, manifest, patches, results
from autofix.batch.driver import Plan
from autofix.batch.engines import Engine
from autofix.batch.journal import Journal
from autofix.batch.progress import progress
from autofix.batch.records import UNFENCED, Terms
from autofix.batch.results import Shown
from autofix.core import config, git, limits
from autofix.render.progress import complain
from autofix.target import interpreter

CANNOT, INTERRUPTED = 2, 130


def run(given: Mapping[str, Any]) -> int:
    """`autofix batch`: bring many repositories over; started again, it goes on where it was."""
    options = _options(given)
    found = manifest.chosen(manifest.repositories(given["paths"] or ["."], options), given["limit"], given["sample"])
    plan = _plan(given, tuple(found))
    _tell_weak(plan, quiet=given["quiet"])
    signal.signal(signal.SIGTERM, _interrupt)
    with Journal(plan.out) as journal, progress(len(found), quiet=given["quiet"]) as tell:
        batch = driver.Batch(plan, journal, lambda: _engine(given, options), tell)
        try:
            shown = batch.run()
        except KeyboardInterrupt:
            shown = None
    if shown is None:
        complain("interrupted; what is done is kept, the same command goes on")
        return INTERRUPTED
    if not plan.check:
        _conclude(plan, shown)
    if reason := results.nothing_ran(shown):
        complain(f"nothing ran: {reason}")
        return CANNOT
    return driver.status(shown)


def _options(given: Mapping[str, Any]) -> Terms:
    chosen = {
        name: config.checked(name, given[name], f"--{name.replace('_', '-')}")
        for name in limits.NAMES
        if name != "python" and given[name] is not None and given[name] != []
    }
    # What is typed is seen from where it is typed; only a manifest can mean the copy that its setup command fills.
    python = interpreter.find(given["python"] or "", Path.cwd())
    return Terms(python=str(python), pytest=given["pytest"], rounds=given["rounds"], **chosen)


def _plan(given: Mapping[str, Any], repositories: tuple[Any, ...]) -> Plan:
    try:
        author = patches.author(given["author"])
    except ValueError:
        raise config.ConfigError(f"--author {given['author']!r}: write it as 'Name <mail@example.org>'") from None
    if given["engine"] not in {"local", "ray"} or (given["engine"] == "local" and (given["address"] or given["gpus"])):
        raise config.ConfigError("--engine is local or ray; --address and --gpus go with ray")
    for name in ("jobs", "limit", "gpus"):
        if given[name] < 0:
            raise config.ConfigError(f"--{name} {given[name]}: it cannot be less than 0")
    if given["branch"] and not git.is_branch_name(given["branch"]):
        raise config.ConfigError(f"--branch {given['branch']}: git takes no such name")
    if given["check"] and (given["write"] or given["branch"]):
        raise config.ConfigError("--check only tells; leave --write and --branch out")
    return Plan(
        repositories, Path(given["out"]).absolute(), write=given["write"], unsafe=given["unsafe_fixes"],
        branch=given["branch"], author=author, fail_fast=given["fail_fast"], retry_failed=given["retry_failed"],
        check=given["check"],
    )  # fmt: skip


def _engine(given: Mapping[str, Any], options: Terms) -> Engine:
    jobs = given["jobs"] or cores.count(options.memory_limit)
    if given["engine"] == "ray":
        return engines.Ray(given["address"], jobs, given["gpus"])
    return engines.Local(jobs)


def _tell_weak(plan: Plan, *, quiet: bool) -> None:
    weak = {one.options.isolation for one in plan.repositories} & set(UNFENCED)
    if weak and not quiet:
        complain(f"note: isolation {' and '.join(sorted(weak))} was asked for: what runs there can reach this machine")


def _conclude(plan: Plan, shown: list[Shown]) -> None:
    counts = results.totals(shown)
    print_to = sys.stdout
    print_to.write(f"{len(shown)} repositories, {sum(counts.values())} targets: {results.counted(counts)}\n")
    print_to.write(f"{results.trained(shown)} of {sum(counts.values())} targets came to a backward call\n")
    troubled = sum(bool(one.problem) for one in shown)
    if troubled:
        print_to.write(f"{troubled} repositories could not be worked on\n")
    print_to.write(f"{os.path.relpath(plan.out / 'index.html')}\n")


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
