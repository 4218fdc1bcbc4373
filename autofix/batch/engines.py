"""Where jobs are done: on this machine, by a few supervised workers, or as tasks of a Ray cluster."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from typing import Any

import psutil

from autofix.batch.records import Event, Found, Job, Result, target_key
from autofix.batch.supervise import Supervisor
from autofix.core.model import Outcome
from autofix.probe import codec

_WAIT = 0.5
_CRASHED = str(Outcome.CRASHED)


class EngineError(Exception):
    """The engine cannot work; the message says what to do."""


class Local:
    """Workers on this machine, each held by a thread."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._waiting: queue.Queue[Job | None] = queue.Queue()
        self._events: queue.Queue[tuple[Job, Event | None] | BaseException] = queue.Queue()
        self._busy = 0
        self._lock = threading.Lock()
        self._supervisors = [Supervisor() for _ in range(jobs)]
        self._threads = [threading.Thread(target=self._serve, args=(each,), daemon=True) for each in self._supervisors]
        for thread in self._threads:
            thread.start()

    @property
    def room(self) -> int:
        """How many jobs to hand over at a time."""
        return self._jobs + 1

    def submit(self, job: Job) -> None:
        """Begin a job when there is a place for it."""
        self._waiting.put(job)

    def next(self) -> tuple[Job, Event | None]:
        """Wait for the next event."""
        found = self._events.get()
        if isinstance(found, BaseException):
            raise found
        return found

    def close(self) -> None:
        """End everything that is left."""
        for supervisor in self._supervisors:
            supervisor.close()
        with contextlib.suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(10)

    def _serve(self, supervisor: Supervisor) -> None:
        try:
            while (job := self._waiting.get()) is not None:
                self._take_place(job.repository.options.memory_limit)
                try:
                    for event in supervisor.run(job):
                        self._events.put((job, event))
                finally:
                    with self._lock:
                        self._busy -= 1
                self._events.put((job, None))
        except BaseException as error:  # noqa: BLE001 - a bug here must end the batch, not one thread of it
            self._events.put(error)

    def _take_place(self, memory: int) -> None:
        """Wait until the machine has the memory that a target may take, unless nothing else runs here."""
        while True:
            with self._lock:
                if not self._busy or psutil.virtual_memory().available > memory:
                    self._busy += 1
                    return
            time.sleep(_WAIT)


class Ray:
    """Tasks on a Ray cluster. Each holds a supervised worker, which stays warm for the tasks that follow it there."""

    def __init__(self, address: str, jobs: int, gpus: float) -> None:
        try:
            import ray  # noqa: PLC0415 - large, and only for those who have a cluster
        except ImportError:
            raise EngineError("--engine ray needs Ray: pip install 'autofix[ray]'") from None
        self._ray: Any = ray
        where: dict[str, Any] = {"address": address} if address else {"address": "local", "num_cpus": jobs}
        try:
            ray.init(
                **where, include_dashboard=None if address else False, log_to_driver=False, logging_level=logging.ERROR
            )
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            raise EngineError(f"no Ray at {address or 'this machine'}: {str(error).splitlines()[0]}") from None
        self._task = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=1)(_task)
        self._running: dict[Any, Job] = {}
        self._ready: list[tuple[Job, Event | None]] = []

    @property
    def room(self) -> int:
        """Twice what the cluster can do at once, so that nothing waits for the driver; a cluster may grow."""
        return 2 * max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, job: Job) -> None:
        self._running[self._task.remote(codec.dump(job))] = job

    def next(self) -> tuple[Job, Event | None]:
        while not self._ready:
            (done, *_), _ = self._ray.wait([*self._running], num_returns=1)
            job = self._running.pop(done)
            try:
                lines = self._ray.get(done)
            except self._ray.exceptions.RayError as error:
                lines = [codec.dump(event) for event in _lost(job, error)]
            self._ready = [*((job, codec.load(Event, line)) for line in lines), (job, None)]
        return self._ready.pop(0)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._ray.shutdown()


Engine = Local | Ray
"""Takes jobs and gives events, in whatever order they come; after a job's last event comes None."""


def _lost(job: Job, error: Exception) -> list[Event]:
    """What is told of a job whose Ray worker was lost, and then the one that had it again."""
    said = f"its Ray worker was lost twice: {str(error).splitlines()[0]}"
    if job.together:
        return [Event("joined", apart={one.command: said for one in job.together[1:]})]
    if job.only:
        keys = {line: target_key(job.key, line) for line in job.only}
        return [
            Event("result", command=line, result=Result(line, key, _CRASHED, message=said))
            for line, key in keys.items()
        ]
    return [Event("found", Found(job.repository.key(""), problem=said))]


_HERE: list[Supervisor] = []


def _task(line: bytes) -> list[bytes]:
    """One job inside of a Ray worker: never an exception, always a small list."""
    if not _HERE:
        _HERE.append(Supervisor())
    return [codec.dump(event) for event in _HERE[0].run(codec.load(Job, line))]
