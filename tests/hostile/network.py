"""Talks to a server outside: over loopback, over the machine's own address, over local and abstract sockets."""

import os
import socket

from _tricks import PORT, escaped

PATHS = [os.environ["HOSTILE_SOCKET"], os.environ["HOSTILE_FAR_SOCKET"], "\0" + os.environ["HOSTILE_TOKEN"]]
own = {"127.0.0.1", "::1"}
for address in own:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as client:
            client.settimeout(1)
            client.connect((address, PORT))
            escaped(address)
    except OSError:
        continue
for path in PATHS:
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            escaped(repr(path))
    except OSError:
        continue
