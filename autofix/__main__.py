"""Where the program begins and ends, installed or as `python -m autofix`: interrupts, closed and broken outputs."""

import os
import sys

_INTERRUPTED, _UNHEARD = 130, 141  # as a shell reports Ctrl-C, and output that nobody reads any more


def main() -> int:
    """Run the command line; returns the exit status, also where Ctrl-C comes before all is imported."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  open to the end
    try:
        from autofix.core import own  # noqa: PLC0415  nothing is imported before an interrupt can be answered

        own.keep_apart()
        from autofix import cli  # noqa: PLC0415

        status = cli.main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("autofix: interrupted\n")
        return _INTERRUPTED
    except SystemExit as ended:  # typer's way to end when a pipe breaks, and after a completion
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        return _silenced(_UNHEARD)
    except BrokenPipeError:
        return _silenced(_UNHEARD)
    except OSError as error:
        sys.stderr.write(f"autofix: the output cannot be written: {error.strerror}\n")
        return _silenced(2)
    return status


def _silenced(status: int) -> int:
    """The status; what is still to be written goes nowhere, or the interpreter would complain as it ends."""
    if sys.__stdout__ is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
    return status


if __name__ == "__main__":
    sys.exit(main())
