"""Show a take as one picture, as a contact sheet, or as a video."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.render import picture as still
from understudy.render import trail_drawing
from understudy.render.camera import DEFAULT_AZIMUTH_RAD, DEFAULT_ELEVATION_RAD, Camera, frame_clip
from understudy.render.overlay import Overlay
from understudy.render.renderer import Renderer, open_renderer
from understudy.render.scene import Floor, floor_of
from understudy.render.take import RenderTake
from understudy.render.trail import Trail
from understudy.render.video import check_ending, open_video

__all__ = ["RenderTake", "ViewSettings", "contact_sheet", "picture", "video"]

Report = Callable[[int, int], None]


@dataclass(frozen=True)
class ViewSettings:
    """The camera and the picture. Angles in radians; `follow` None follows a character only if it walks away.

    `azimuth` is counted from the front of the character, towards its left. Which way it stands and looks is found
    (`find_facing`), unless `us.load` was told.

    The camera frames the whole take, or all of `target`: a named point, a region, a part or a joint of the character.
    `zoom` narrows the view from there. `centred` moves the camera in every frame, so that its target is in the middle:
    for sheets of poses, not for videos. `supersample` 2 is finer and takes three times as long.
    """

    size: tuple[int, int] = (960, 720)
    azimuth: float = DEFAULT_AZIMUTH_RAD
    elevation: float = DEFAULT_ELEVATION_RAD
    background: str = "warm"
    follow: bool | None = None
    backend: str | None = None  # "gl" or "software"; None: the first that works
    supersample: int = 1
    target: str | None = None
    zoom: float = 1.0
    centred: bool = False
    trails: tuple[Trail, ...] = ()  # motion trails, drawn over every picture
    trail_style: trail_drawing.TrailStyle = field(default_factory=trail_drawing.TrailStyle)


def picture(take: RenderTake, path: str | Path, view: ViewSettings | None = None, time: float | None = None) -> str:
    """Write one moment as PNG, framed as the whole take would be; returns a description."""
    view = view or ViewSettings(supersample=2)
    frame = 0 if time is None else int(np.argmin(np.abs(take.times - time)))
    if time is not None and not take.times[0] - 1e-6 <= time <= take.times[-1] + 1e-6:
        raise InvalidInput(f"the clip lasts from {take.times[0]:g} to {take.times[-1]:g} s; {time:g} s is outside")
    with _draw_frames(take, view, [frame]) as (renderer, pictures):
        still.write_png(path, next(pictures))
        return f"{view.size[0]}x{view.size[1]}, {_describe_renderer(renderer)}"


def contact_sheet(
    take: RenderTake,
    path: str | Path,
    view: ViewSettings,
    count: int | None = None,
    report: Report | None = None,
    captions: bool = True,
    columns: int | None = None,
) -> str:
    """Write `count` moments, evenly spread over the take, or all of its frames, as one PNG; returns a description.

    With `ViewSettings.supersample` 2, pictures of 128 pixels are as smooth as large ones.
    """
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"{path}: a contact sheet is a picture, and should end in .png")
    wanted = len(take) if count is None else count
    chosen = np.unique(np.linspace(0, len(take) - 1, wanted).round().astype(int))
    pictures = []
    with _draw_frames(take, view, chosen) as (renderer, drawn):
        for shown in drawn:
            pictures.append(shown)
            if report:
                report(len(pictures), len(chosen))
        theme = "dark" if view.background == "studio" else "light"
        words = [take.captions[f] for f in chosen] if captions else None
        title = take.name if captions else ""
        still.write_png(path, still.contact_sheet(pictures, words, columns, title, theme))
        return f"{len(pictures)} frames, {_describe_renderer(renderer)}"


def video(take: RenderTake, path: str | Path, view: ViewSettings | None = None, report: Report | None = None) -> str:
    """Write the whole take as .mp4, .webm or .gif, at its own rate; returns a description."""
    view = view or ViewSettings()
    check_ending(path)
    with (
        _draw_frames(take, view, range(len(take))) as (renderer, pictures),
        open_video(path, take.rate, len(take)) as writer,
    ):
        for done, shown in enumerate(pictures, 1):
            writer.add(shown)
            if report:
                report(done, len(take))
        return f"{len(take)} frames at {take.rate:g} fps, {view.size[0]}x{view.size[1]}, {_describe_renderer(renderer)}"


def cameras_of(take: RenderTake, view: ViewSettings) -> tuple[list[Camera], Floor]:
    """The camera of each frame of a take, and the floor."""
    azimuth = view.azimuth + _stand_up(take)
    outlines = take.outlines()
    stage = floor_of(outlines, ground=_ground_height(outlines))
    follow = _walks_away(outlines) if view.follow is None else view.follow
    seen = outlines if view.target is None else take.outlines(view.target)
    ground = stage.ground if view.target is None and not view.centred else None
    aspect = view.size[0] / view.size[1]
    how = {"follow": True, "smoothing": 0.0, "level": False} if view.centred else {"follow": follow}
    cameras = frame_clip(seen, azimuth, view.elevation, aspect=aspect, ground=ground, **how)
    if view.zoom != 1.0:
        cameras = [camera.with_zoom(view.zoom) for camera in cameras]
    return cameras, stage


def _stand_up(take: RenderTake) -> float:
    """Turn a take so that its character stands along +Y; returns the angle of its front from +Z about Y, in radians."""
    facing = take.find_facing()
    if facing is None:
        return 0.0
    left, up, forward = facing.axes.T
    if facing.up != "+y":
        take.turn = np.stack([left, up, forward])  # into left, up and forward of the character
        return 0.0
    return float(np.arctan2(forward[0], forward[2]))


@contextmanager
def _draw_frames(
    take: RenderTake, view: ViewSettings, frames: Iterable[int]
) -> Iterator[tuple[Renderer, Iterator[Array]]]:
    """A renderer, and the pictures of the given frames as they are drawn."""
    cameras, stage = cameras_of(take, view)

    def draw(renderer: Renderer) -> Iterator[Array]:
        for frame in frames:
            drawing = take.draw(int(frame))
            shown = renderer.draw(
                cameras[frame], take.surfaces, drawing.vertices, drawing.normals, dots=drawing.dots, stage=stage
            )
            yield (
                _with_trails(shown, renderer, cameras[frame], view, float(take.times[frame])) if view.trails else shown
            )

    with open_renderer(*view.size, view.background, view.backend, view.supersample) as renderer:
        yield renderer, draw(renderer)


def _with_trails(shown: Array, renderer: Renderer, camera: Camera, view: ViewSettings, now: float) -> Array:
    """A picture (H, W, 3) with the view's trails over it."""
    overlay = Overlay(shown)
    trail_drawing.draw_trails(overlay, camera, view.trails, now, view.trail_style, view.background, renderer.distances)
    return overlay.picture


def _ground_height(outlines: Array) -> float | None:
    """0 if the figure's lowest point is near height 0 in a quarter of the frames, else None for the lowest of all.

    Near is up to a fifth of the size: the feet of a standing character lie a little below or above the ground, and a
    character that is modelled around its centre, or floats, is off by more. A fall may end below the ground, and a
    sword may cut through it.
    """
    heights, size = outlines[..., 1].min(axis=1), float(np.ptp(outlines[0], axis=0).max())
    near = (-0.02 * size <= heights) & (heights <= 0.2 * size)
    return 0.0 if near.mean() >= 0.25 else None


def _walks_away(outlines: Array) -> bool:
    """Whether the figure moves by more than 1.5 times its size."""
    centres, size = outlines.mean(axis=1)[:, (0, 2)], float(np.ptp(outlines[0], axis=0).max())
    return bool(np.ptp(centres, axis=0).max() > 1.5 * size)


def _describe_renderer(renderer: Renderer) -> str:
    if renderer.backend == "gl":
        return "drawn with OpenGL"
    return f"drawn without OpenGL ({renderer.reason})"
