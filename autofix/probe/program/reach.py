"""Owns what a run tried to reach over the network: addresses and names that its Python code asked for."""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable
from typing import Any

_MOST = 50
_LOCAL = ("127.", "::1", "localhost", "0.0.0.0")  # noqa: S104 -- recognised, not bound


class Hosts:
    """Notes each host once, and lets every call through: whether it is allowed is for the fence to say."""

    def __init__(self) -> None:
        self.found: dict[str, None] = {}
        """Hosts and ports, in the order they were asked for."""

    def install(self) -> None:
        """Listen at the three calls that every library of Python's goes through."""
        for name in ("connect", "connect_ex"):
            setattr(socket.socket, name, self._connecting(getattr(socket.socket, name)))
        socket.getaddrinfo = self._looking_up(socket.getaddrinfo)

    def _connecting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def connect(self_: socket.socket, address: Any) -> Any:
            if isinstance(address, tuple):
                self._note(*address[:2])
            return original(self_, address)

        return connect

    def _looking_up(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
            self._note(host, port)
            return original(host, port, *args, **options)

        return getaddrinfo

    def _note(self, host: Any = None, port: Any = None) -> None:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if name and not name.startswith(_LOCAL) and len(self.found) < _MOST:
            self.found.setdefault(f"{name[:200]}:{str(port)[:20]}" if port else name[:200])
