"""Build bodies of the cast and write what the package ships: `python -m understudy.cast.sculpting.build penguin`.

Needs the `sculpt` extra. Nothing is random: the same libraries give the same files.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from understudy.cast.sculpting import store


def main(name: str, path: Path | None = None) -> None:
    """Build one body and write it."""
    body = importlib.import_module(f"understudy.cast.{name}.body")
    store.write(body.build(), path or importlib.import_module(f"understudy.cast.{name}").FILE)


if __name__ == "__main__":
    for body_name in sys.argv[1:]:
        main(body_name)
