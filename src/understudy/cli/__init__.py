"""The command line, one verb for each job: `understudy VERB INPUT -o OUTPUT`."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit."""
    import io
    import signal
    import sys

    from understudy.cli.app import run, terminate

    if isinstance(sys.stdout, io.TextIOWrapper):  # names in any alphabet, also where the encoding lacks characters
        sys.stdout.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, terminate)
    raise SystemExit(run())
