"""The curves of docs/transfer.md, from the last kept run of the benchmark: pairs suggested and at random.

.venv/bin/understudy bench transfer
.venv/bin/python tools/transfer_curves.py
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
KEPT = HOME / "benchmarks" / "results" / "transfer.jsonl"
OUTPUT = HOME / "docs" / "images" / "transfer_suggested.svg"
COLUMNS, WIDTH, HEIGHT = 3, 250, 170  # of panels
EDGE = {"left": 42, "right": 12, "top": 30, "bottom": 26}
OURS, DRAWN, TEXT, LINE = "#0b7a75", "#d9822b", "#3a3a3a", "#d8d4cc"
ROW = re.compile(r"(\w+) (\d+) of (\d+) suggested")

Curve = list[tuple[int, float, float]]  # pairs, millimetres suggested, millimetres at random


def curves(rows: list[dict[str, object]]) -> dict[str, tuple[int, Curve]]:
    """By character, how many pairs it has and its curve."""
    found: dict[str, tuple[int, Curve]] = {}
    for row in rows:
        match = ROW.fullmatch(str(row["name"]))
        if match:
            name, count, total = match[1], int(match[2]), int(match[3])
            drawn = float(str(row["peer"]).removeprefix("at random "))
            found.setdefault(name, (total, []))[1].append((count, float(str(row["value"])), drawn))
    return found


def panel(name: str, total: int, curve: Curve, x: float, y: float) -> list[str]:
    """One character: error over the number of pairs."""
    left, right = x + EDGE["left"], x + WIDTH - EDGE["right"]
    top, bottom = y + EDGE["top"], y + HEIGHT - EDGE["bottom"]
    most = 1.08 * max(max(ours, drawn) for _, ours, drawn in curve)

    def at(count: int, value: float) -> str:
        return f"{left + (right - left) * count / total:.1f},{bottom - (bottom - top) * value / most:.1f}"

    said = [
        f'<text x="{left}" y="{y + 18}" font-weight="600">{name.replace("_", ", ")}</text>',
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="{LINE}"/>',
        f'<text x="{left - 6}" y="{top + 8}" text-anchor="end">{most:.0f}</text>',
        f'<text x="{left - 6}" y="{bottom}" text-anchor="end">0 mm</text>',
        f'<text x="{right}" y="{bottom + 16}" text-anchor="end">{total} pairs</text>',
        f'<text x="{left + 0.5 * (right - left)}" y="{bottom + 16}" text-anchor="middle">{total // 2}</text>',
    ]
    for column, colour, dash in ((2, DRAWN, ' stroke-dasharray="5 4"'), (1, OURS, "")):
        points = " ".join(at(row[0], row[column]) for row in curve)
        said.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
    return said


def main() -> None:
    """Write the picture."""
    if not KEPT.is_file():
        sys.exit("there is no kept run: `understudy bench transfer` makes one")
    found = curves(json.loads(KEPT.read_text(encoding="utf-8").splitlines()[-1])["rows"])
    wide, high = COLUMNS * WIDTH, 28 + -(-len(found) // COLUMNS) * HEIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        f'font-family="sans-serif" font-size="11" fill="{TEXT}">',
        f'<rect width="{wide}" height="{high}" fill="#fffdf8"/>',
        f'<path d="M42 16h26" stroke="{OURS}" stroke-width="2"/><text x="74" y="20">chosen by suggest</text>',
        f'<path d="M196 16h26" stroke="{DRAWN}" stroke-width="2" stroke-dasharray="5 4"/>'
        '<text x="228" y="20">at random, mean of 20 draws</text>',
    ]
    for number, (name, (total, curve)) in enumerate(found.items()):
        lines += panel(name, total, curve, number % COLUMNS * WIDTH, 28 + number // COLUMNS * HEIGHT)
    OUTPUT.write_text("\n".join([*lines, "</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
