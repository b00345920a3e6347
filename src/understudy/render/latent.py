"""Pictures of a latent space: its clips, where poses are likely, its bridges to others, and ways through it.

    latent.picture(model.spaces["happy"], "happy.png", bridges=model.bridges)

One colour code at a time: without bridges each clip has a colour of its own; with them the clips step back into shades
of their label's colour, and each bridge has the colour of the label it leads to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths.colour import from_hex
from understudy.render import latent_scene as parts
from understudy.render.camera import Camera, frame_camera
from understudy.render.latent_page import Entry, beside, numbered, page
from understudy.render.latent_scene import Axes, Space, Thing
from understudy.render.picture import THEMES, write_png
from understudy.render.renderer import Renderer, open_renderer
from understudy.render.scene import Stage

PALETTE = ("#D9502E", "#17807E", "#DE9A12", "#4457B4", "#BE3A78", "#6F9431", "#3E9BD0", "#7D479A", "#8B5A35", "#4D5966")
BELOW = 0.1  # the ground lies so far below the space, in its sizes
ANGLES = ((radians(28.0), radians(16.0)), (radians(118.0), radians(16.0)), (radians(28.0), radians(70.0)))


@dataclass(frozen=True)
class View:
    """How a space is looked at: from each of `angles` (azimuth, elevation in radians), the first one large.

    density: the shell around likely poses. `backend` is "gl" or "software"; None takes the first that works.
    """

    size: tuple[int, int] = (840, 640)
    angles: Sequence[tuple[float, float]] = ANGLES
    background: str = "warm"
    backend: str | None = None
    supersample: int = 2
    density: bool = True


def label_colours(labels: Iterable[str]) -> dict[str, str]:
    """A colour #rrggbb for each label, in their order; after ten they repeat."""
    return {label: PALETTE[i % len(PALETTE)] for i, label in enumerate(dict.fromkeys(labels))}


def picture(
    space: Space,
    path: str | Path,
    bridges: Sequence[Any] | None = None,
    trails: Mapping[str, Array] | Sequence[Array] = (),
    view: View | None = None,
    title: str | None = None,
) -> str:
    """The space as PNG; returns what is shown, in words.

    bridges: all those of the model (`posespace.Bridges`); the ones of this label are shown.
    trails: paths of a particle (F, Q), with or without names for the legend.
    """
    view = view or View()
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"{path}: a picture of a latent space should end in .png")
    if not view.angles:
        raise InvalidInput("a picture of a latent space needs at least one angle to look from")
    latents = checks.array(space.latents, "latents", ("N", "Q"))
    if len(latents) < 2:
        raise InvalidInput(
            f"a picture of a latent space needs at least two frames, but {space.label!r} has {len(latents)}"
        )
    things, starts, entries, said = _contents(space, Axes.of(latents), bridges, _named(trails), view)
    views = list(_views(things, starts, view))
    theme = THEMES["dark" if view.background == "studio" else "light"]
    write_png(path, page(views, title or space.label, said, entries, theme))
    return said


def _named(trails: Mapping[str, Array] | Sequence[Array]) -> dict[str, Array]:
    if isinstance(trails, Mapping):
        return dict(trails)
    one = len(trails) == 1
    return {"a performance" if one else f"performance {i}": trail for i, trail in enumerate(trails, 1)}


def _contents(
    space: Space, axes: Axes, bridges: Sequence[Any] | None, trails: dict[str, Array], view: View
) -> tuple[list[Thing], Array, list[Entry], str]:
    """What is drawn, where the clips start (S, 3), the legend, and all of it in a sentence."""
    own = [found for found in bridges or () if space.label in (found.first, found.second) and len(found)]
    labels = label_colours([name for found in bridges or () for name in (found.first, found.second)] or [space.label])
    colour = labels.get(space.label, PALETTE[0])
    count = len(space.segments)
    colours = shades(colour, count) if own else [PALETTE[i % len(PALETTE)] for i in range(count)]
    things, starts = parts.clips(space, axes, colours, parts.WIRE if own else parts.CLIP)
    entries = [
        Entry("clip", shade, segment.clip, i) for i, (segment, shade) in enumerate(zip(space.segments, colours), 1)
    ]
    for found in own:
        other = found.other(space.label)
        things.append(parts.beads(found.sides(space.label)[0], axes, labels[other]))
        entries.append(Entry("bead", labels[other], f"to {other} ({len(found)})"))
    inks = [parts.INK, *PALETTE[::-1]]
    for i, (name, trail) in enumerate(trails.items()):
        points = checks.array(trail, f"trail {name!r}", ("F", space.latents.shape[1]))
        things += parts.wire(points, axes, inks[i % len(inks)])
        entries.append(Entry("wire", inks[i % len(inks)], name))
    shell = parts.shell(space, axes, colour) if view.density else None
    if shell is not None:
        things.append(shell)
        entries.append(Entry("shell", colour, "likely poses"))
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


def _views(things: list[Thing], starts: Array, view: View) -> Iterable[Array]:
    """The pictures (H, W, 3), the large one first."""
    small = beside(view.size, len(view.angles) - 1)
    for size, angles in ((view.size, view.angles[:1]), (small, view.angles[1:])):
        if not angles:
            continue
        with open_renderer(*size, view.background, view.backend, view.supersample) as renderer:
            for azimuth, elevation in angles:
                camera, drawn = drawing(renderer, things, azimuth, elevation)
                numbers = range(1, len(starts) + 1)
                yield numbered(drawn, _pixels(camera, starts, size), numbers, 15 if size == view.size else 11)


def drawing(
    renderer: Renderer, things: list[Thing], azimuth: float, elevation: float, margin: float = 0.04
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
        stage=Stage(float(solid[:, 1].min()) - BELOW, 1.0, 1.0),
    )


def _pixels(camera: Camera, points: Array, size: tuple[int, int]) -> Array:
    """Where points (N, 3) are in a picture of that size, (N, 2) from its upper left."""
    projected = camera.project(points)
    return np.stack([0.5 + 0.5 * projected[:, 0], 0.5 - 0.5 * projected[:, 1]], axis=1) * size
