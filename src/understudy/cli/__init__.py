"""One verb a job: `understudy VERB INPUT -o OUTPUT`."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit."""
    from understudy.cli.app import run

    raise SystemExit(run())
