"""Pictures of a latent space: its clips, where poses are likely, its bridges to others, and paths through it.

    latent.draw_latent_space(model.spaces["happy"], "happy.png", bridges=model.bridges)

A page has a title, one large view and smaller ones beside it, and a legend below. Clips are drawn as tubes, bridges as
beads, density as shells, paths as wires. Everything is rotated into the space's own axes, the widest across the
picture, and scaled to a size of one metre: latent coordinates have no unit, and their directions no meaning, so no axes
are drawn.

One colour code at a time: without bridges each clip has a colour of its own; with them the clips get shades of their
label's colour, and each bridge has the colour of the label it leads to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from tools.latent.shapes import DiagramShape, balls, isosurface, join_shapes, smooth_path, tube

from understudy import checks
from understudy.character.skinning.linear import smooth_normals
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths.colour import from_hex
from understudy.render.camera import Camera, frame_camera
from understudy.render.picture import SHEET_THEMES, SheetTheme, fit_text, font, write_png
from understudy.render.renderer import Renderer, open_renderer
from understudy.render.scene import Floor, Surface, SurfaceFinish, linear_from_srgb

MARGIN_PIXELS, GAP_PIXELS, LINE_PIXELS, FONT_PIXELS = 26, 12, 25, 15  # pixels
MARK_SUPERSAMPLING = 3  # marks are drawn this much larger and scaled down, which smooths their edges

# Radii, as parts of the space's size.
CLIP_RADIUS_RATIO, START_RADIUS_RATIO, BEAD_RADIUS_RATIO = 0.0085, 0.021, 0.018
WIRE_RADIUS_RATIO, END_RADIUS_RATIO = 0.006, 0.017
DENSITY_CELLS = 40  # cells of the density along its longest side: its folds are several cells wide
# Between the log density far away (0) and that of the clips (1): a quarter of the variance far away.
SHELL_LEVEL_RATIO = 0.15
GROUND_DEPTH_RATIO = 0.1  # of the ground below the space, as a part of its size
VIEW_ANGLES_RAD = ((radians(28.0), radians(16.0)), (radians(118.0), radians(16.0)), (radians(28.0), radians(70.0)))
INK_COLOUR = "#2B1B17"
START_WHITENING = 0.35  # of a clip's colour at its start, towards white

PALETTE = ("#D9502E", "#17807E", "#DE9A12", "#4457B4", "#BE3A78", "#6F9431", "#3E9BD0", "#7D479A", "#8B5A35", "#4D5966")
SATIN_FINISH = SurfaceFinish(roughness=0.45, softness=0.25)
GLASS_FINISH = SurfaceFinish(roughness=0.35, softness=1.0, specular=0.4)


class LatentSpaceView(Protocol):
    """The part of `perform.pose_space.PoseSpace` that a picture needs."""

    label: str
    latents: Array  # (N, Q)
    segments: Sequence[Any]  # with clip, start, stop
    mapping: Any  # with log_density(x (M, Q)) -> (M,)


@dataclass(frozen=True)
class LatentView:
    """How a space is looked at: from each of `angles` (azimuth, elevation in radians), the first one large.

    density: the shell around likely poses. `backend` is "gl" or "software"; None takes the first that works.
    """

    size: tuple[int, int] = (840, 640)
    angles: Sequence[tuple[float, float]] = VIEW_ANGLES_RAD
    background: str = "warm"
    backend: str | None = None
    supersample: int = 2
    density: bool = True


@dataclass(frozen=True, eq=False)
class LatentAxes:
    """From latents (Q,) to the picture's space: x = centre + size * u @ basis.T, with basis (Q, 3)."""

    centre: Array
    basis: Array
    size: float

    @classmethod
    def from_latents(cls, latents: Array) -> LatentAxes:
        """Principal axes, the widest first; their signs make the largest entries positive, so pictures repeat."""
        middle = 0.5 * (latents.min(axis=0) + latents.max(axis=0))
        _, vectors = np.linalg.eigh(np.cov(latents.T).reshape(latents.shape[1], -1))
        basis = np.zeros((latents.shape[1], 3))
        count = min(3, latents.shape[1])
        basis[:, :count] = vectors[:, ::-1][:, :count]
        strongest = basis[np.abs(basis).argmax(axis=0), np.arange(3)]
        basis *= np.where(strongest < 0, -1.0, 1.0)
        return cls(middle, basis, max(float(np.ptp((latents - middle) @ basis, axis=0).max()), 1e-12))

    def to_picture(self, latents: Array) -> Array:
        """(M, 3) of latents (M, Q)."""
        return np.asarray((latents - self.centre) @ self.basis / self.size)

    def to_latents(self, points: Array) -> Array:
        """(M, Q) of points (M, 3)."""
        return np.asarray(self.centre + self.size * points @ self.basis.T)


@dataclass(frozen=True, eq=False)
class DiagramItem:
    """A shape with its colours: linear (3,), or (V, 3). `glass` is a shell: seen through, more so where it faces us."""

    shape: DiagramShape
    colour: Array
    glass: float = 0.0  # opacity where the shell faces us; it grows to twenty times as much at the outline

    def surface(self, eye: Array) -> Surface:
        """As the renderer takes it, for an eye at (3,)."""
        if not self.glass:
            return Surface(self.shape.triangles, self.colour, SATIN_FINISH)
        towards = eye - self.shape.vertices
        facing = np.einsum("vi,vi->v", towards, self.shape.normals) / np.linalg.norm(towards, axis=1)
        alpha = self.glass * (1.0 + 19.0 * (1.0 - np.abs(facing)) ** 3)
        colours = np.concatenate(
            [np.broadcast_to(self.colour, (len(alpha), 3)), np.minimum(alpha, 1.0)[:, None]], axis=1
        )
        return Surface(self.shape.triangles, colours, GLASS_FINISH, alpha_mode="blend")


@dataclass(frozen=True)
class LegendItem:
    """A line of the legend: `mark` is "clip", "bead", "wire" or "shell", in a colour #rrggbb; a clip has a number."""

    mark: str
    colour: str
    text: str
    number: int = 0


def label_colours(labels: Iterable[str]) -> dict[str, str]:
    """A colour #rrggbb for each label, in their order; after ten they repeat."""
    return {label: PALETTE[i % len(PALETTE)] for i, label in enumerate(dict.fromkeys(labels))}


def draw_latent_space(
    space: LatentSpaceView,
    path: str | Path,
    bridges: Sequence[Any] | None = None,
    trails: Mapping[str, Array] | Sequence[Array] = (),
    view: LatentView | None = None,
    title: str | None = None,
) -> str:
    """The space as PNG; returns what is shown, in words.

    bridges: all those of the model (`perform.pose_space.Bridges`); the ones of this label are shown.
    trails: paths of a particle (F, Q), with or without names for the legend.
    """
    view = view or LatentView()
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"{path}: a picture of a latent space should end in .png")
    if not view.angles:
        raise InvalidInput("a picture of a latent space needs at least one angle to look from")
    latents = checks.array(space.latents, "latents", ("N", "Q"))
    if len(latents) < 2:
        raise InvalidInput(
            f"a picture of a latent space needs at least two frames, but {space.label!r} has {len(latents)}"
        )
    things, starts, entries, said = _contents(
        space, LatentAxes.from_latents(latents), bridges, _name_trails(trails), view
    )
    views = list(_views(things, starts, view))
    theme = SHEET_THEMES["dark" if view.background == "studio" else "light"]
    write_png(path, compose_page(views, title or space.label, said, entries, theme))
    return said


def _name_trails(trails: Mapping[str, Array] | Sequence[Array]) -> dict[str, Array]:
    if isinstance(trails, Mapping):
        return dict(trails)
    one = len(trails) == 1
    return {"a performance" if one else f"performance {i}": trail for i, trail in enumerate(trails, 1)}


def _contents(
    space: LatentSpaceView, axes: LatentAxes, bridges: Sequence[Any] | None, trails: dict[str, Array], view: LatentView
) -> tuple[list[DiagramItem], Array, list[LegendItem], str]:
    """What is drawn, where the clips start (S, 3), the legend, and all of it in a sentence."""
    own = [found for found in bridges or () if space.label in (found.first, found.second) and len(found)]
    labels = label_colours([name for found in bridges or () for name in (found.first, found.second)] or [space.label])
    colour = labels.get(space.label, PALETTE[0])
    count = len(space.segments)
    colours = shades(colour, count) if own else [PALETTE[i % len(PALETTE)] for i in range(count)]
    things, starts = clip_items(space, axes, colours, WIRE_RADIUS_RATIO if own else CLIP_RADIUS_RATIO)
    entries = [
        LegendItem("clip", shade, segment.clip, i) for i, (segment, shade) in enumerate(zip(space.segments, colours), 1)
    ]
    for found in own:
        other = found.other(space.label)
        things.append(bead_item(found.sides(space.label)[0], axes, labels[other]))
        entries.append(LegendItem("bead", labels[other], f"to {other} ({len(found)})"))
    inks = [INK_COLOUR, *PALETTE[::-1]]
    for i, (name, trail) in enumerate(trails.items()):
        points = checks.array(trail, f"trail {name!r}", ("F", space.latents.shape[1]))
        things += path_items(points, axes, inks[i % len(inks)])
        entries.append(LegendItem("wire", inks[i % len(inks)], name))
    shell = density_shell(space, axes, colour) if view.density else None
    if shell is not None:
        things.append(shell)
        entries.append(LegendItem("shell", colour, "likely poses"))
    said = f"{len(space.latents):,} frames of {count} clip{'s' * (count != 1)}"
    if own:
        said += f", {sum(map(len, own))} bridges to {len(own)} other label{'s' * (len(own) != 1)}"
    return things, starts, entries, said


def shades(colour: str, count: int) -> list[str]:
    """`count` shades of a colour, from light to dark: told apart from each other, and of one family."""
    own = from_hex(colour)
    mixes = [
        own + part * ((1.0 if part > 0 else -0.15) - own) * np.sign(part) for part in np.linspace(0.3, -0.45, count)
    ]
    return ["#" + "".join(f"{round(255 * float(c)):02X}" for c in np.clip(mix, 0, 1)) for mix in mixes]


def _views(things: list[DiagramItem], starts: Array, view: LatentView) -> Iterable[Array]:
    """The pictures (H, W, 3), the large one first."""
    small = side_view_size(view.size, len(view.angles) - 1)
    for size, angles in ((view.size, view.angles[:1]), (small, view.angles[1:])):
        if not angles:
            continue
        with open_renderer(*size, view.background, view.backend, view.supersample) as renderer:
            for azimuth, elevation in angles:
                camera, drawn = draw_items(renderer, things, azimuth, elevation)
                numbers = range(1, len(starts) + 1)
                yield draw_numbers(drawn, _pixels(camera, starts, size), numbers, 15 if size == view.size else 11)


def draw_items(
    renderer: Renderer, things: list[DiagramItem], azimuth: float, elevation: float, margin: float = 0.04
) -> tuple[Camera, Array]:
    """The things from an angle, all of them in the picture (H, W, 3), above a ground that shows their depth."""
    solid = np.concatenate([thing.shape.vertices for thing in things if not thing.glass])
    everything = np.concatenate([thing.shape.vertices for thing in things])
    camera = frame_camera(everything, azimuth, elevation, aspect=renderer.width / renderer.height, margin=margin)
    eye = np.array(camera.eye)
    return camera, renderer.draw(
        camera,
        [thing.surface(eye) for thing in things],
        [thing.shape.vertices for thing in things],
        [thing.shape.normals for thing in things],
        stage=Floor(float(solid[:, 1].min()) - GROUND_DEPTH_RATIO, 1.0, 1.0),
    )


def _pixels(camera: Camera, points: Array, size: tuple[int, int]) -> Array:
    """Where points (N, 3) are in a picture of that size, (N, 2) from its upper left."""
    projected = camera.project(points)
    return np.stack([0.5 + 0.5 * projected[:, 0], 0.5 - 0.5 * projected[:, 1]], axis=1) * size


def clip_items(
    space: LatentSpaceView, axes: LatentAxes, colours: Sequence[str], radius: float = CLIP_RADIUS_RATIO
) -> tuple[list[DiagramItem], Array]:
    """A tube for each segment, lighter at its start, with a ball there; and where the balls are (S, 3)."""
    things, starts = [], []
    for segment, colour in zip(space.segments, colours):
        path = axes.to_picture(space.latents[segment.start : segment.stop])
        shape = tube(smooth_path(path), radius)
        own = from_hex(colour)
        pale = own + START_WHITENING * (1.0 - own)
        things.append(DiagramItem(shape, linear_from_srgb(pale + shape.along[:, None] * (own - pale))))
        things.append(DiagramItem(balls(path[:1], START_RADIUS_RATIO), linear_from_srgb(own)))
        starts.append(path[0])
    return things, np.array(starts).reshape(-1, 3)


def bead_item(latents: Array, axes: LatentAxes, colour: str) -> DiagramItem:
    """A bead at each of the latents (B, Q)."""
    return DiagramItem(balls(axes.to_picture(latents), BEAD_RADIUS_RATIO, rounds=0), linear_from_srgb(colour))


def path_items(latents: Array, axes: LatentAxes, colour: str = INK_COLOUR) -> list[DiagramItem]:
    """A particle's path (F, Q): a thin tube, and a ball where it ends."""
    path = axes.to_picture(np.asarray(latents, float))
    return [
        DiagramItem(
            join_shapes([tube(smooth_path(path), WIRE_RADIUS_RATIO), balls(path[-1:], END_RADIUS_RATIO)]),
            linear_from_srgb(colour),
        )
    ]


def density_shell(
    space: LatentSpaceView, axes: LatentAxes, colour: str, cells: int = DENSITY_CELLS
) -> DiagramItem | None:
    """A surface of equal density around the clips; none where the density does not rise towards them.

    Its level lies between the log density far away from everything and what nine tenths of the clips' frames have.
    """
    if not np.abs(axes.basis).sum(axis=0).all():  # fewer than three dimensions: a surface would have no inside
        return None
    points = axes.to_picture(space.latents)
    low, high = points.min(axis=0) - 0.25, points.max(axis=0) + 0.25
    step = float((high - low).max() / cells)
    counts = np.ceil((high - low) / step).astype(int) + 1
    grid = np.stack(np.meshgrid(*(step * np.arange(n) for n in counts), indexing="ij"), -1).reshape(-1, 3) + low
    density = np.concatenate([space.mapping.log_density(axes.to_latents(part)) for part in _chunks(grid)])
    far = float(density.min())
    near = float(np.percentile(space.mapping.log_density(space.latents), 10.0))
    vertices, triangles = isosurface(density.reshape(counts), far + SHELL_LEVEL_RATIO * (near - far))
    if near <= far or not len(triangles):
        return None
    placed = vertices * step + low
    shape = DiagramShape(placed, smooth_normals(placed, triangles), triangles, np.zeros(len(placed)))
    return DiagramItem(shape, linear_from_srgb(colour), 0.018)


def _chunks(grid: Array, rows: int = 4096) -> list[Array]:
    """Parts of a long list of points, so that the covariances with all frames need little memory."""
    return [grid[start : start + rows] for start in range(0, len(grid), rows)]


def side_view_size(size: tuple[int, int], count: int) -> tuple[int, int]:
    """The size of `count` smaller views, one below the other, beside a large one of `size`; of the same proportions."""
    height = (size[1] - GAP_PIXELS * (count - 1)) // max(count, 1)
    return round(height * size[0] / size[1]), height


def compose_page(
    views: Sequence[Array], title: str, subtitle: str, entries: Sequence[LegendItem], theme: SheetTheme
) -> Array:
    """The finished page (H, W, 3) uint8: views[0] (H, W, 3) is the large one, the others are of one size."""
    from PIL import Image, ImageDraw

    large = views[0].shape
    side = views[1].shape[1] + GAP_PIXELS if len(views) > 1 else 0
    width = 2 * MARGIN_PIXELS + large[1] + side
    top = MARGIN_PIXELS + 58
    columns = max(1, (width - 2 * MARGIN_PIXELS) // 210)
    rows = -(-len(entries) // columns)
    height = top + large[0] + (18 + rows * LINE_PIXELS if rows else 0) + MARGIN_PIXELS
    sheet = Image.new("RGB", (width, height), theme.paper)
    pen = ImageDraw.Draw(sheet)
    pen.text(
        (MARGIN_PIXELS, MARGIN_PIXELS + 2),
        fit_text(pen, title, font(27), width - 2 * MARGIN_PIXELS),
        theme.title,
        font(27),
        anchor="lt",
    )
    words = fit_text(pen, subtitle, font(FONT_PIXELS), width - 2 * MARGIN_PIXELS)
    pen.text((MARGIN_PIXELS, MARGIN_PIXELS + 36), words, theme.caption, font(FONT_PIXELS), anchor="lt")
    sheet.paste(Image.fromarray(views[0]), (MARGIN_PIXELS, top))
    for i, view in enumerate(views[1:]):
        sheet.paste(
            Image.fromarray(view), (MARGIN_PIXELS + large[1] + GAP_PIXELS, top + i * (view.shape[0] + GAP_PIXELS))
        )
    column = (width - 2 * MARGIN_PIXELS) // columns
    for i, entry in enumerate(entries):
        x, y = MARGIN_PIXELS + (i // rows) * column, top + large[0] + 18 + (i % rows) * LINE_PIXELS
        sheet.paste(_mark(entry, theme), (x, y))
        text = fit_text(pen, entry.text, font(FONT_PIXELS), column - 44)
        pen.text((x + 34, y + LINE_PIXELS // 2), text, theme.title, font(FONT_PIXELS), anchor="lm")
    return np.array(sheet)


def _mark(entry: LegendItem, theme: SheetTheme) -> Any:
    """A small picture of what the entry stands for."""
    from PIL import Image, ImageDraw

    k = MARK_SUPERSAMPLING
    mark = Image.new("RGB", (28 * k, LINE_PIXELS * k), theme.paper)
    pen = ImageDraw.Draw(mark)
    x, y = 14 * k, LINE_PIXELS * k // 2
    if entry.mark == "clip":
        pen.line([(x, y), (27 * k, y)], entry.colour, 4 * k)
        pen.ellipse([x - 9 * k, y - 9 * k, x + 9 * k, y + 9 * k], entry.colour)
    elif entry.mark == "bead":
        pen.polygon([(x, y - 8 * k), (x + 8 * k, y), (x, y + 8 * k), (x - 8 * k, y)], entry.colour)
    elif entry.mark == "wire":
        pen.line([(2 * k, y), (20 * k, y)], entry.colour, 3 * k)
        pen.ellipse([16 * k, y - 6 * k, 28 * k, y + 6 * k], entry.colour)
    else:
        pale = Image.blend(Image.new("RGB", (1, 1), theme.paper), Image.new("RGB", (1, 1), entry.colour), 0.25)
        box = [3 * k, y - 8 * k, 25 * k, y + 8 * k]
        pen.ellipse(box, pale.getpixel((0, 0)), entry.colour, k)
    mark = mark.resize((28, LINE_PIXELS), Image.Resampling.LANCZOS)
    if entry.number:
        ImageDraw.Draw(mark).text((14, LINE_PIXELS / 2), str(entry.number), "#FFFFFF", font(12), anchor="mm")
    return mark


def draw_numbers(view: Array, places: Array, numbers: Sequence[int], size: int) -> Array:
    """The view with numbers at places (N, 2) in pixels, white with a dark rim, readable on any colour."""
    from PIL import Image, ImageDraw

    sheet = Image.fromarray(view)
    pen = ImageDraw.Draw(sheet)
    for (x, y), number in zip(places, numbers):
        pen.text((x, y), str(number), "#FFFFFF", font(size), anchor="mm", stroke_width=1, stroke_fill="#2B1B17")
    return np.array(sheet)
