"""The command line, one verb for each job: `understudy VERB INPUT -o OUTPUT`."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit."""
    import io
    import signal
    import sys
    import threading

    from understudy.cli.app import run, terminate

    if isinstance(sys.stdout, io.TextIOWrapper):  # names in any alphabet, also where the encoding lacks characters
        sys.stdout.reconfigure(errors="backslashreplace")
    if threading.current_thread() is threading.main_thread():  # Python allows it nowhere else
        signal.signal(signal.SIGTERM, terminate)
    raise SystemExit(run())
