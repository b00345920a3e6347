"""A picture of a face graph: one wheel a region, its nodes, edges, labels and a path, as SVG or PNG.

    draw(graph, "graph.svg", paths={"mouth": routes.path(0, sink)})

Neutral is in the middle and every label has a direction; the farther out, the stronger the pose. A node is as large as
the number of poses in it and has the colour of its label, grey where several pass; a ring marks a peak.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks, files
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.expression.graph.face_graph import FaceGraph, RegionGraph
from understudy.expression.graph.layout import petal, placed

WHEEL = 380  # pixels from edge to edge of a region's panel
RADIUS = 132  # of the unit circle in it
FINER = 3  # times the size at which a PNG is drawn before it is made smaller
PAPER, INK, GREY, EDGE, WAY = "#fcfbf8", "#26282b", "#9aa0a6", "#c4c1b9", "#111111"
# Okabe and Ito's, told apart also by colour-blind readers; the eighth and later labels go round again
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7b6fd0")


@dataclass(frozen=True)
class Line:
    """A stroke from one point to another."""

    start: tuple[float, float]
    end: tuple[float, float]
    width: float
    colour: str


@dataclass(frozen=True)
class Disc:
    """A filled circle, or a ring where `line` is above zero."""

    centre: tuple[float, float]
    radius: float
    colour: str
    line: float = 0.0


@dataclass(frozen=True)
class Word:
    """Text about a point."""

    centre: tuple[float, float]
    text: str
    size: float
    colour: str


Mark = Line | Disc | Word


def draw(
    graph: FaceGraph,
    path: str | Path,
    *,
    paths: Mapping[str, Array] | None = None,
    regions: Iterable[str] | None = None,
) -> None:
    """Draw all regions, or those named, into an .svg or a .png; `paths` are nodes (n,) by region, drawn bold."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise InvalidInput(f"a picture of a graph should be an .svg or a .png, but {path.name!r} is neither")
    chosen = [graph.region(name) for name in regions] if regions is not None else list(graph.regions)
    if not chosen:
        raise InvalidInput("a picture should show at least one region, but none is named")
    for name, nodes in (paths or {}).items():
        checks.indices(np.asarray(nodes), f"the path of region {name!r}", graph.region(name).nodes)
    columns = min(len(chosen), 3)
    size = (WHEEL * columns, WHEEL * -(-len(chosen) // columns))
    marks: list[Mark] = []
    for number, region in enumerate(chosen):
        corner = WHEEL * (number % columns), WHEEL * (number // columns)
        marks += wheel(region, graph.labels, corner, (paths or {}).get(region.name))
    with files.written_whole(path) as temporary:
        if kind == ".svg":
            temporary.write_text(svg(marks, size), encoding="utf-8")
        else:
            png(marks, size).save(temporary, format="PNG")


def wheel(
    region: RegionGraph, labels: tuple[str, ...], corner: tuple[int, int] = (0, 0), way: Array | None = None
) -> list[Mark]:
    """What one region looks like, its panel's upper left corner at `corner`."""
    middle = np.array([corner[0] + WHEEL / 2, corner[1] + WHEEL / 2 + 12])
    points = middle + RADIUS * placed(region) * np.array([1.0, -1.0])
    at = [(float(x), float(y)) for x, y in points]
    marks: list[Mark] = [Line(at[a], at[b], 0.7, EDGE) for a, b in zip(region.sources, region.targets)]
    if way is not None:
        marks += [Line(at[a], at[b], 2.6, WAY) for a, b in pairwise(way)]
    smaller = min(10.0 / np.sqrt(region.nodes), 1.0)  # from 100 nodes on there is less room for each
    sizes = smaller * (1.6 + 3.6 * np.sqrt(region.merged / max(int(region.merged[1:].max(initial=1)), 1)))
    on_way = set() if way is None else {int(node) for node in way}
    for node in np.argsort(-sizes[1:], kind="stable") + 1:
        if node in on_way:
            marks.append(Disc(at[node], float(sizes[node]) + 2.2, WAY))
        marks.append(Disc(at[node], float(sizes[node]), colour_of(region, int(node))))
        if region.peaks[node].any():
            marks.append(Disc(at[node], float(sizes[node]) + 2.2, colour_of(region, int(node)), 1.1))
    marks.append(Disc(at[0], 7.0, INK))
    for number, label in enumerate(labels):
        angle = petal(number, len(labels))
        place = middle + (RADIUS + 32) * np.array([np.cos(angle), -np.sin(angle)])
        marks.append(Word((float(place[0]), float(place[1])), label, 11, colour(number)))
    title = f"{region.name}: {region.nodes} nodes, {len(region.sources)} edges"
    marks.append(Word((corner[0] + WHEEL / 2, corner[1] + 14), title, 12, INK))
    return marks


def colour(label: int) -> str:
    """Of the label of that number."""
    return COLOURS[label % len(COLOURS)]


def colour_of(region: RegionGraph, node: int) -> str:
    """Of a node: that of its peak, or of the only label that passes, or grey."""
    mine = np.flatnonzero(region.peaks[node] if region.peaks[node].any() else region.labels[node])
    return colour(int(mine[0])) if len(mine) == 1 else GREY


def svg(marks: Iterable[Mark], size: tuple[int, int]) -> str:
    """The marks as an SVG document of that many pixels."""
    width, height = size
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
    ]
    for mark in marks:
        if isinstance(mark, Line):
            (x, y), (u, v) = mark.start, mark.end
            rows.append(
                f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" '
                f'stroke="{mark.colour}" stroke-width="{mark.width}"/>'
            )
        elif isinstance(mark, Disc):
            (x, y), ring = mark.centre, mark.line > 0
            paint = (
                f'fill="none" stroke="{mark.colour}" stroke-width="{mark.line}"' if ring else f'fill="{mark.colour}"'
            )
            rows.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{mark.radius:.1f}" {paint}/>')
        else:
            (x, y) = mark.centre
            rows.append(
                f'<text x="{x:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="{mark.size}" '
                f'text-anchor="middle" dominant-baseline="middle" fill="{mark.colour}">{escape(mark.text)}</text>'
            )
    return "\n".join([*rows, "</svg>", ""])


def png(marks: Iterable[Mark], size: tuple[int, int]) -> Any:
    """The marks as a Pillow image of that many pixels."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (size[0] * FINER, size[1] * FINER), PAPER)
    brush = ImageDraw.Draw(image)
    for mark in marks:
        if isinstance(mark, Line):
            ends = [(FINER * x, FINER * y) for x, y in (mark.start, mark.end)]
            brush.line(ends, mark.colour, max(round(FINER * mark.width), 1))
        elif isinstance(mark, Disc):
            (x, y), r = mark.centre, mark.radius + mark.line / 2
            box = [FINER * (x - r), FINER * (y - r), FINER * (x + r), FINER * (y + r)]
            if mark.line > 0:
                brush.ellipse(box, outline=mark.colour, width=max(round(FINER * mark.line), 1))
            else:
                brush.ellipse(box, mark.colour)
        else:
            font = ImageFont.load_default(FINER * mark.size)
            x, y = (FINER * each for each in mark.centre)
            left, top, right, bottom = brush.textbbox((0, 0), mark.text, font=font)
            brush.text((x - (left + right) / 2, y - (top + bottom) / 2), mark.text, mark.colour, font)
    return image.resize(size, Image.Resampling.LANCZOS)
