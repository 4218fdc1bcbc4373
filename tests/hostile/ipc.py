"""Leaves System V memory, semaphores and queues, and a POSIX queue, which outlive every process."""

import os

from _tricks import TOKEN, libc

KEY = int(TOKEN[-7:], 16)
libc.shmget(KEY, 4096, 0o1666)
libc.semget(KEY, 1, 0o1666)
libc.msgget(KEY, 0o1666)
for name in (f"/{TOKEN}",):
    getattr(libc, "mq_open", print)(name.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
