"""Types a command into the terminal that it was started from."""

import fcntl
import os
import termios

from _tricks import attempt, escaped

for way in (0, 1, 2, attempt(os.open, "/dev/tty", os.O_RDWR)):
    if way is not None and attempt(fcntl.ioctl, way, termios.TIOCSTI, b"#") is not None:
        escaped("terminal")
