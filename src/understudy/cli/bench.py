"""`understudy bench`: our figures and the peers' in one run, stored so that a regression shows."""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from understudy.cli import options


@click.command(name="bench", short_help="Measure our figures and the peers' in one run.")
@click.argument("name", required=False)
@options.as_json
@options.quiet
def command(name: str | None, as_json: bool, quiet: bool) -> None:
    """Run benchmark NAME, or all of them. Needs the source checkout, and `make peers` once."""
    from understudy import checks
    from understudy.errors import InvalidInput

    home = Path(__file__).resolve().parents[3] / "benchmarks"
    if not (home / "measure.py").is_file():
        raise InvalidInput("benchmarks need the source checkout of understudy, but this is an installed package")
    names = sorted(path.stem for path in home.glob("*.py") if "\ndef rows(" in path.read_text(encoding="utf-8"))
    chosen = names if name is None else [checks.one_of(name, "benchmark", names)]
    sys.path.insert(0, str(home.parent))
    alone = not any(getattr(importlib.import_module(f"benchmarks.{each}"), "PEERS", True) for each in chosen)
    if not alone and not (home.parent / ".venv-peers").is_dir():
        raise InvalidInput("the peers are not installed; run `make peers` first")
    results = [row for each in chosen for row in _run(each, home, quiet or as_json)]
    if as_json:
        options.echo_json(results)
    if any(row["met"] is False for row in results):
        click.echo("some bars are not met", err=True)


def _run(name: str, home: Path, silent: bool) -> list[dict[str, Any]]:
    rows = []
    for row in importlib.import_module(f"benchmarks.{name}").rows():
        rows.append(row.as_dict())
        if not silent:
            click.echo(_line(rows[-1]))
    with (home / "results" / f"{name}.jsonl").open("a", encoding="utf-8") as kept:
        kept.write(json.dumps({**_machine(), "rows": rows}) + "\n")
    return rows


def _line(row: dict[str, Any]) -> str:
    ratio = "" if row["ratio"] is None else f"{row['ratio']:8.2f} x"
    verdict = {True: "met", False: "NOT MET", None: ""}[row["met"]]
    bar = "" if row["bar"] is None else f"bar {row['bar']:g}"
    return f"{row['name']:<36} {row['value']:10.3f} {row['unit']:<3} {ratio}  {bar:<8} {verdict:<8} {row['peer']}"


def _machine() -> dict[str, Any]:
    from importlib.metadata import version

    from understudy import __version__

    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "understudy": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "cores": os.cpu_count(),
        "processor": platform.machine(),
    }
