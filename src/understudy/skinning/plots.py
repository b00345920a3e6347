"""Plots as SVG in the page's colours, readable without colour, with their numbers in words for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from understudy.checks import Array

WIDTH, LETTERS = 760, 13


def bars(title: str, names: Sequence[str], values: Sequence[float], unit: str, digits: int = 3) -> str:
    """Horizontal bars on a common scale from zero, each with its number; the smallest is marked."""
    rows = len(names)
    height = 24 * rows + 12
    highest = max([abs(value) for value in values if np.isfinite(value)], default=1.0) or 1.0
    best = int(np.nanargmin(np.abs(values))) if rows else -1
    parts = []
    for i, (name, value) in enumerate(zip(names, values)):
        y = 24 * i + 6
        length = max((WIDTH - 330) * abs(value) / highest, 1.0)
        kind, star = ("bar best", " ★") if i == best else ("bar", "")
        told = figure(value, digits)
        parts.append(
            f'<text class="name" x="190" y="{y + 15}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="{kind}" x="200" y="{y + 3}" width="{length:.1f}" height="15" rx="2"/>'
            f'<text x="{206 + length:.1f}" y="{y + 15}">{told} {escape(unit)}{star}</text>'
        )
    words = "; ".join(f"{name} {figure(value, digits)} {unit}" for name, value in zip(names, values))
    return _svg(title, words, height, parts)


def lines(title: str, names: Sequence[str], series: Sequence[Array], unit: str, across: str) -> str:
    """Lines over the same numbers 0, 1, ...; each ends with its number in the list beside it."""
    height, left, right, top, bottom = 320, 60, 210, 14, 40
    count = max((len(values) for values in series), default=1)
    highest = max((float(np.nanmax(values)) for values in series if len(values)), default=1.0) or 1.0
    x = lambda i: left + (WIDTH - left - right) * i / max(count - 1, 1)  # noqa: E731
    y = lambda v: top + (height - top - bottom) * (1 - v / highest)  # noqa: E731
    parts = []
    for share in (0.0, 0.5, 1.0):
        value = share * highest
        parts.append(
            f'<line class="grid" x1="{left}" x2="{WIDTH - right}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
            f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{figure(value)}</text>'
        )
    for number, (name, values) in enumerate(zip(names, series)):
        points = " ".join(f"{x(i):.1f},{y(float(value)):.1f}" for i, value in enumerate(values))
        row = top + 8 + number * min(18, (height - 20) / max(len(names), 1))
        parts.append(
            f'<polyline class="line c{number % 8} d{number // 8 % 3}" points="{points}"/>'
            f'<line class="line c{number % 8} d{number // 8 % 3}" x1="{WIDTH - right + 14}" x2="{WIDTH - right + 44}" '
            f'y1="{row:.1f}" y2="{row:.1f}"/><text x="{WIDTH - right + 50}" y="{row + 4:.1f}">{escape(name)}</text>'
        )
    middle = (left + WIDTH - right) / 2
    parts.append(f'<text x="{middle:.0f}" y="{height - 10}" text-anchor="middle">{escape(across)}</text>')
    words = "; ".join(f"{name} up to {figure(float(np.nanmax(v)))} {unit}" for name, v in zip(names, series) if len(v))
    return _svg(title, words, height, parts)


def scatter(
    title: str, names: Sequence[str], across: Sequence[float], up: Sequence[float], words: tuple[str, str]
) -> str:
    """Points on logarithmic axes, each with its name: what is cheap and near is at the lower left."""
    height, left, right, top, bottom = 340, 70, 150, 14, 44
    horizontal, vertical = (np.log10(np.maximum(values, 1e-9)) for values in (across, up))
    low = np.array([horizontal.min(initial=99.0), vertical.min(initial=99.0)]) - 0.1
    high = np.array([horizontal.max(initial=-99.0), vertical.max(initial=-99.0)]) + 0.1
    span = np.maximum(high - low, 0.2)
    parts: list[str] = []
    used: list[tuple[float, float]] = []
    for name, h, v in sorted(zip(names, horizontal, vertical), key=lambda each: each[2]):
        x = left + (WIDTH - left - right) * (h - low[0]) / span[0]
        y = top + (height - top - bottom) * (1 - (v - low[1]) / span[1])
        text = y + 4
        while any(abs(text - other) < 13 and abs(x - place) < 150 for place, other in used):
            text -= 13
        used.append((x, text))
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
        parts.append(f'<text x="{x + 9:.1f}" y="{text:.1f}">{escape(name)}</text>')
    parts.append(
        f'<text x="{(left + WIDTH - right) / 2:.0f}" y="{height - 8}" text-anchor="middle">{escape(words[0])} →</text>'
    )
    parts.append(
        f'<text transform="translate(18 {height / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(words[1])} →</text>'
    )
    parts.append(f'<path class="grid" d="M{left} {top}V{height - bottom}H{WIDTH - right}"/>')
    told = "; ".join(f"{name}: {figure(a)}, {figure(b)}" for name, a, b in zip(names, across, up))
    return _svg(title, told, height, parts)


def figure(value: float, digits: int = 3) -> str:
    """A number for people: three digits that matter, no powers of ten."""
    if not np.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{min(places, 6)}f}"


def _svg(title: str, words: str, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {height}" font-size="{LETTERS}" '
        f'aria-label="{escape(title)}: {escape(words)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
