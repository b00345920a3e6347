"""A picture of a face graph: one wheel a region, its nodes, edges, labels and a path, as SVG or PNG.

    draw(graph, "graph.svg", paths={"mouth": routes.path(0, sink)})

Neutral is in the middle and every label has a direction; the farther out, the stronger the pose. A node is as large as
the number of poses in it and has the colour of its label, grey where several pass; a ring marks a peak.

Layout. A node's distance from the middle is that of its pose from neutral. Peaks of a label fan out over the label's
share of the circle; every other node takes the direction of its neighbours' mean, with all of them solved at once
(Tutte's drawing: L x = 0 for free nodes, L the graph's Laplacian).
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
from understudy.express.graph.expression_graph import ExpressionGraph, RegionGraph

LABEL_ARC_RATIO = 0.8  # of a label's share of the circle, so that the fans of labels stay apart
MIN_NODE_RADIUS = 0.06  # least distance from the middle, in circle radii: nearer nodes would hide neutral
MAX_NODE_RADIUS = 1.1  # in circle radii: one pose twice as strong as all others would press them into the middle
RADIUS_EXPONENT = 0.7  # below 1 it gives weak poses, which are many, more room than strong ones
SEPARATION_ITERATIONS = 40  # rounds of pushing nodes apart
PANEL_PIXELS = 380  # pixels from edge to edge of a region's panel
CIRCLE_RADIUS_PIXELS = 132  # radius of the unit circle in it
PNG_SUPERSAMPLING = 3  # size at which a PNG is drawn, over its final size
PAPER_COLOUR, INK_COLOUR, GREY_COLOUR, EDGE_COLOUR, PATH_COLOUR = "#fcfbf8", "#26282b", "#9aa0a6", "#c4c1b9", "#111111"

# Okabe and Ito's palette, which colour-blind readers can tell apart; further labels reuse it from the start
LABEL_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7b6fd0")


@dataclass(frozen=True)
class SvgLine:
    """A stroke from one point to another."""

    start: tuple[float, float]
    end: tuple[float, float]
    width: float
    colour: str


@dataclass(frozen=True)
class SvgDisc:
    """A filled circle, or a ring where `line` is above zero."""

    centre: tuple[float, float]
    radius: float
    colour: str
    line: float = 0.0


@dataclass(frozen=True)
class SvgText:
    """Text about a point."""

    centre: tuple[float, float]
    text: str
    size: float
    colour: str


SvgMark = SvgLine | SvgDisc | SvgText


def draw(
    graph: ExpressionGraph,
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
    size = (PANEL_PIXELS * columns, PANEL_PIXELS * -(-len(chosen) // columns))
    marks: list[SvgMark] = []
    for number, region in enumerate(chosen):
        corner = PANEL_PIXELS * (number % columns), PANEL_PIXELS * (number // columns)
        marks += draw_region(region, graph.labels, corner, (paths or {}).get(region.name))
    with files.write_atomically(path) as temporary:
        if kind == ".svg":
            temporary.write_text(to_svg(marks, size), encoding="utf-8")
        else:
            to_png(marks, size).save(temporary, format="PNG")


def draw_region(
    region: RegionGraph, labels: tuple[str, ...], corner: tuple[int, int] = (0, 0), path: Array | None = None
) -> list[SvgMark]:
    """The marks of one region, its panel's upper left corner at `corner`; `path` (n,) are nodes drawn bold."""
    middle = np.array([corner[0] + PANEL_PIXELS / 2, corner[1] + PANEL_PIXELS / 2 + 12])
    points = middle + CIRCLE_RADIUS_PIXELS * layout_nodes(region) * np.array([1.0, -1.0])
    at = [(float(x), float(y)) for x, y in points]
    marks: list[SvgMark] = [SvgLine(at[a], at[b], 0.7, EDGE_COLOUR) for a, b in zip(region.sources, region.targets)]
    if path is not None:
        marks += [SvgLine(at[a], at[b], 2.6, PATH_COLOUR) for a, b in pairwise(path)]
    smaller = min(10.0 / np.sqrt(region.nodes), 1.0)  # from 100 nodes on there is less room for each
    sizes = smaller * (1.6 + 3.6 * np.sqrt(region.merged / max(int(region.merged[1:].max(initial=1)), 1)))
    on_path = set() if path is None else {int(node) for node in path}
    for node in np.argsort(-sizes[1:], kind="stable") + 1:
        if node in on_path:
            marks.append(SvgDisc(at[node], float(sizes[node]) + 2.2, PATH_COLOUR))
        marks.append(SvgDisc(at[node], float(sizes[node]), node_colour(region, int(node))))
        if region.peaks[node].any():
            marks.append(SvgDisc(at[node], float(sizes[node]) + 2.2, node_colour(region, int(node)), 1.1))
    marks.append(SvgDisc(at[0], 7.0, INK_COLOUR))
    for number, label in enumerate(labels):
        angle = label_angle(number, len(labels))
        place = middle + (CIRCLE_RADIUS_PIXELS + 32) * np.array([np.cos(angle), -np.sin(angle)])
        marks.append(SvgText((float(place[0]), float(place[1])), label, 11, label_colour(number)))
    title = f"{region.name}: {region.nodes} nodes, {len(region.sources)} edges"
    marks.append(SvgText((corner[0] + PANEL_PIXELS / 2, corner[1] + 14), title, 12, INK_COLOUR))
    return marks


def label_colour(label: int) -> str:
    """The colour of the label of that number."""
    return LABEL_COLOURS[label % len(LABEL_COLOURS)]


def node_colour(region: RegionGraph, node: int) -> str:
    """The colour of a node: that of its peak, or of the only label that passes, or grey."""
    labels = np.flatnonzero(region.peaks[node] if region.peaks[node].any() else region.labels[node])
    return label_colour(int(labels[0])) if len(labels) == 1 else GREY_COLOUR


def layout_nodes(region: RegionGraph) -> Array:
    """(N, 2) positions, nine in ten within the unit circle, x right and y up; node 0 is (0, 0)."""
    size = np.linalg.norm(region.displacements, axis=2).sum(axis=1)
    usual = float(np.percentile(size[1:], 90)) if len(size) > 1 else 0.0
    far = np.minimum((size / max(usual, 1e-12)) ** RADIUS_EXPONENT, MAX_NODE_RADIUS)
    fixed = np.zeros((region.nodes, 2))
    known = np.array(region.peaks.any(axis=1))
    known[0] = True
    for label in range(region.peaks.shape[1]):
        nodes = region.peaks_of(label)
        nodes = nodes[np.argsort(far[nodes], kind="stable")]
        share = np.linspace(-0.5, 0.5, len(nodes)) if len(nodes) > 1 else np.zeros(len(nodes))
        angle = label_angle(label, region.peaks.shape[1]) + 2 * np.pi * LABEL_ARC_RATIO / region.peaks.shape[1] * share
        fixed[nodes] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    position = _interpolate_positions(region, known, fixed)
    length = np.linalg.norm(position, axis=1, keepdims=True)
    # a node that its neighbours pull equally in all directions takes one by its number, so that such nodes spread
    angle = 2.399963 * np.arange(region.nodes)  # the golden angle
    direction = np.where(
        length > 1e-9, position / np.maximum(length, 1e-9), np.stack([np.cos(angle), np.sin(angle)], axis=1)
    )
    result = direction * np.maximum(far, MIN_NODE_RADIUS)[:, None]
    result[0] = 0.0
    return _separate_nodes(result)


def label_angle(label: int, labels: int) -> float:
    """The direction of a label in radians: the first up, the others clockwise."""
    return float(np.pi / 2 - 2 * np.pi * label / labels)


def _interpolate_positions(region: RegionGraph, known: Array, fixed: Array) -> Array:
    """(N, 2) every unknown position the mean of its neighbours'."""
    many = region.nodes
    joined = np.zeros((many, many))
    joined[region.sources, region.targets] = joined[region.targets, region.sources] = 1.0
    laplacian = np.diag(joined.sum(axis=1) + 1e-9) - joined  # a node without neighbours lies in the middle
    free = ~known
    result = fixed.copy()
    if free.any():
        result[free] = np.linalg.solve(laplacian[np.ix_(free, free)], -laplacian[np.ix_(free, known)] @ fixed[known])
    return result


def _separate_nodes(position: Array) -> Array:
    """The positions with overlapping nodes pushed apart; node 0 stays."""
    gap = min(0.9 / np.sqrt(len(position)), 0.08)
    for _ in range(SEPARATION_ITERATIONS):
        between = position[:, None] - position[None]
        length = np.linalg.norm(between, axis=2)
        np.fill_diagonal(length, np.inf)
        push = np.maximum(gap - length, 0.0) / np.maximum(length, 1e-6)
        position = position + 0.25 * (push[:, :, None] * between).sum(axis=1)
        position[0] = 0.0
    return position


def to_svg(marks: Iterable[SvgMark], size: tuple[int, int]) -> str:
    """The marks as an SVG document of that many pixels."""
    width, height = size
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" fill="{PAPER_COLOUR}"/>',
    ]
    for mark in marks:
        if isinstance(mark, SvgLine):
            (x, y), (u, v) = mark.start, mark.end
            rows.append(
                f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" '
                f'stroke="{mark.colour}" stroke-width="{mark.width}"/>'
            )
        elif isinstance(mark, SvgDisc):
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


def to_png(marks: Iterable[SvgMark], size: tuple[int, int]) -> Any:
    """The marks as a Pillow image of that many pixels."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (size[0] * PNG_SUPERSAMPLING, size[1] * PNG_SUPERSAMPLING), PAPER_COLOUR)
    brush = ImageDraw.Draw(image)
    for mark in marks:
        if isinstance(mark, SvgLine):
            ends = [(PNG_SUPERSAMPLING * x, PNG_SUPERSAMPLING * y) for x, y in (mark.start, mark.end)]
            brush.line(ends, mark.colour, max(round(PNG_SUPERSAMPLING * mark.width), 1))
        elif isinstance(mark, SvgDisc):
            (x, y), r = mark.centre, mark.radius + mark.line / 2
            box = [
                PNG_SUPERSAMPLING * (x - r),
                PNG_SUPERSAMPLING * (y - r),
                PNG_SUPERSAMPLING * (x + r),
                PNG_SUPERSAMPLING * (y + r),
            ]
            if mark.line > 0:
                brush.ellipse(box, outline=mark.colour, width=max(round(PNG_SUPERSAMPLING * mark.line), 1))
            else:
                brush.ellipse(box, mark.colour)
        else:
            font = ImageFont.load_default(PNG_SUPERSAMPLING * mark.size)
            x, y = (PNG_SUPERSAMPLING * coordinate for coordinate in mark.centre)
            left, top, right, bottom = brush.textbbox((0, 0), mark.text, font=font)
            brush.text((x - (left + right) / 2, y - (top + bottom) / 2), mark.text, mark.colour, font)
    return image.resize(size, Image.Resampling.LANCZOS)
