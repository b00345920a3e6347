"""A sheet that shows an animation before and after an edit: poses at some times, trails, and the edit's goals.

The upper row is the animation before, with grey trails; the lower one after, with trails in colour over the grey ones.
Goals are rings, pins squares, contacts triangles, keys diamonds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from understudy.character import Clip, Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Edit, MovePoint, Point
from understudy.errors import InvalidInput
from understudy.maths.colour import from_hex
from understudy.render import picture as still
from understudy.render import trail as trails
from understudy.render.camera import Camera
from understudy.render.overlay import Overlay
from understudy.render.renderer import Renderer, open_renderer
from understudy.render.scene import Floor
from understudy.render.show import ViewSettings, cameras_of
from understudy.render.take import RenderTake
from understudy.render.trail import Trail
from understudy.render.trail_drawing import TRAIL_COLOURS, TrailPen, top_speed

PIN_COLOUR, CONTACT_COLOUR, GOAL_COLOUR = from_hex("#8b6cf0"), from_hex("#57b64f"), from_hex("#ffffff")
OCCLUDED_TRAIL_STRENGTH = 0.8  # opacity of a trail behind a surface
MARK_RADIUS_PIXELS = 7.0  # in a picture 720 pixels high
FRAMING_POSE_COUNT = 24  # poses of each animation that the camera frames


def write_before_after_sheet(
    rig: PosedRig,
    before: Clip | Curves,
    after: Clip | Curves,
    path: str | Path,
    points: Sequence[Point] = (),
    edit: Edit | None = None,
    times: Sequence[float] | None = None,
    view: ViewSettings | None = None,
    title: str = "",
    report: Callable[[int, int], None] | None = None,
) -> str:
    """Write the sheet as PNG; returns a description of it.

    points: the points with trails, besides those that `edit` moves. times: seconds, one for each column; by default
    the times of the edit's moves, or four over the range in which the trails differ.
    """
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"{path}: a sheet is a picture, and should end in .png")
    view = view or ViewSettings(size=(480, 420), supersample=2)
    chosen = tuple(dict.fromkeys([*points, *(move.point for move in (edit.moves if edit else ()))]))
    if not chosen:
        raise InvalidInput("a sheet of trails needs at least one point, or an edit that moves one")
    drawn = [[trails.trail_of_animation(rig, animation, point) for point in chosen] for animation in (before, after)]
    moments = np.array(_moments(drawn, edit) if times is None else times, np.float64)
    frames = [np.concatenate([_spread_times(each), moments]) for each in (before, after)]
    rows = np.concatenate([rig.pose(each, at) for each, at in zip((before, after), frames)])
    take = RenderTake.from_rows(rig, rows)
    camera, stage = _one_camera(take, view)
    pictures = []
    with open_renderer(*view.size, view.background, view.backend, view.supersample) as renderer:
        for late in (False, True):
            first = (len(rows) if late else len(frames[0])) - len(moments)
            for number, moment in enumerate(moments):
                canvas = _pose(renderer, camera, take, first + number, stage)
                sketch = _SheetOverlay(canvas, camera, view, renderer)
                sketch.draw(drawn, late, float(moment))
                if edit is not None:
                    sketch.draw_goals(rig, before, edit, float(moment))
                pictures.append(canvas.picture)
                if report is not None:
                    report(len(pictures), 2 * len(moments))
    captions = [f"{word}, {moment:.2f} s" for word in ("before", "after") for moment in moments]
    theme = "dark" if view.background == "studio" else "light"
    sheet = still.contact_sheet(pictures, captions, len(moments), title or f"{before.name}, before and after", theme)
    still.write_png(path, _with_legend(sheet, view, edit, drawn))
    return f"{len(chosen)} trails at {len(moments)} moments, before and after"


def _moments(drawn: list[list[Trail]], edit: Edit | None) -> list[float]:
    """The times of the edit's moves if these are 2 to 6, else four over the range in which the trails differ."""
    moved = sorted({move.time for move in edit.moves}) if edit is not None else []
    if 2 <= len(moved) <= 6:
        return moved
    times = drawn[0][0].times
    offsets = [[one.position_at(time) - other.position_at(time) for time in times] for one, other in zip(*drawn)]
    off = np.linalg.norm(offsets, axis=-1).max(axis=0)
    differ = np.flatnonzero(off > 0.02 * off.max(initial=0.0))
    span = times[differ[[0, -1]]] if len(differ) else times[[0, -1]]
    even = np.linspace(span[0], span[1], 4)
    if len(moved) == 1:  # replaces the nearest of the four
        even[np.argmin(np.abs(even - moved[0]))] = moved[0]
    return even.tolist()


def _spread_times(animation: Clip | Curves) -> Array:
    """(FRAMING_POSE_COUNT,) times over the whole animation."""
    return animation.start + animation.duration * np.linspace(0.0, 1.0, FRAMING_POSE_COUNT)


def _one_camera(take: RenderTake, view: ViewSettings) -> tuple[Camera, Floor]:
    """One camera for all pictures, so that trails can be compared."""
    cameras, stage = cameras_of(take, replace(view, follow=False, centred=False))
    return cameras[0], stage


def _pose(renderer: Renderer, camera: Camera, take: RenderTake, frame: int, stage: Floor) -> Overlay:
    drawing = take.draw(frame)
    return Overlay(renderer.draw(camera, take.surfaces, drawing.vertices, drawing.normals, stage=stage))


class _SheetOverlay:
    """Draws trails and goals over one picture of the sheet."""

    def __init__(self, canvas: Overlay, camera: Camera, view: ViewSettings, renderer: Renderer) -> None:
        self.canvas, self.camera, self.ink = canvas, camera, TRAIL_COLOURS[view.background]
        self.style, self.distances = view.trail_style, renderer.distances

    def pen(self, **style: object) -> TrailPen:
        how = replace(self.style, **style)  # type: ignore[arg-type]
        return TrailPen(self.canvas, self.camera, how, self.ink, self.distances)

    def draw(self, drawn: list[list[Trail]], late: bool, moment: float) -> None:
        """Draw the trails before in grey and, in the lower row (`late`), those after in colour over them."""
        old = self.pen(
            colour=self.ink.faded,
            dots=not late,
            keys=not late,
            now=not late,
            width=2.8,
            through=OCCLUDED_TRAIL_STRENGTH,
        )
        for trail in drawn[0]:
            old.trail(trail, moment, 1.0)
        if late:
            fastest = top_speed(drawn[1])
            colour = None if self.style.colouring == "speed" else self.ink.future
            for trail in drawn[1]:
                self.pen(colour=colour, width=3.2, through=OCCLUDED_TRAIL_STRENGTH).trail(trail, moment, fastest)

    def draw_goals(self, rig: PosedRig, before: Clip | Curves, edit: Edit, moment: float) -> None:
        """Draw goals, pins and contacts."""
        pen = self.pen()
        for pin in edit.pins:
            if _covers(pin.start, pin.stop, moment):
                pen.shapes(
                    "square",
                    _point_position(rig, before, pin.point, moment),
                    MARK_RADIUS_PIXELS,
                    PIN_COLOUR,
                    hidden=0.9,
                )
        for contact in edit.contacts:
            if _covers(contact.start, contact.stop, moment):
                pen.shapes(
                    "triangle",
                    _point_position(rig, before, contact.point, contact.start),
                    1.15 * MARK_RADIUS_PIXELS,
                    CONTACT_COLOUR,
                    hidden=0.9,
                )
        for move in edit.moves:
            place = goal_position(rig, before, move)
            if place is not None:
                pen.shapes("ring", place, 1.7 * MARK_RADIUS_PIXELS, GOAL_COLOUR, hidden=1.0)


def goal_position(rig: PosedRig, before: Clip | Curves, move: MovePoint) -> Array | None:
    """(1, 3) the goal of a move; None for a rotation."""
    if move.to is not None:
        return np.array([move.to])
    return None if move.by is None else _point_position(rig, before, move.point, move.time) + np.array(move.by)


def _point_position(rig: PosedRig, animation: Clip | Curves, point: Point, time: float) -> Array:
    return trails.point_frames(rig, rig.pose(animation, [time]), point)[0]


def _covers(start: float | None, stop: float | None, moment: float) -> bool:
    low, high = -np.inf if start is None else start, np.inf if stop is None else stop
    return bool(low - 1e-6 <= moment <= high + 1e-6)


def _with_legend(sheet: Array, view: ViewSettings, edit: Edit | None, drawn: list[list[Trail]]) -> Array:
    """The sheet (H, W, 3) with a legend at the right of its title."""
    ink, overlay = TRAIL_COLOURS[view.background], Overlay(sheet)
    size = float(np.clip(view.size[0] / 24, 11, 22))
    entries: list[tuple[str, str, Array]] = [("line", "before", ink.faded), ("line", "after", ink.future)]
    if any(len(trail.keys) for each in drawn for trail in each):
        entries.append(("diamond", "key", ink.key))
    if edit is not None:
        entries += [("ring", "goal", GOAL_COLOUR)] * any(m.to is not None or m.by is not None for m in edit.moves)
        entries += [("square", "pin", PIN_COLOUR)] * bool(edit.pins)
        entries += [("triangle", "contact", CONTACT_COLOUR)] * bool(edit.contacts)
    letters = still.font(round(size))
    margin, y = max(14.0, 1.8 * size), max(14.0, 1.8 * size) + 0.75 * size
    x = sheet.shape[1] - margin - sum(letters.getlength(word) + 2.9 * size for _, word, _ in entries)
    theme = still.SHEET_THEMES["dark" if view.background == "studio" else "light"]
    words, nothing = np.append(np.array(theme.caption) / 255.0, 1.0), np.zeros(4)
    for kind, word, colour in entries:
        at = np.array([[x + 0.7 * size, y]])
        if kind == "line":
            ends = np.tile(np.append(colour, 1.0), (1, 2, 1))
            reach = np.array([[0.6 * size, 0.0]])
            overlay.strokes(at - reach, at + reach, 0.2 * size, ends)
        else:
            overlay.shapes(kind, at, 0.5 * size + 1.2, np.append(ink.edge, 1.0))
            overlay.shapes(kind, at, 0.5 * size, np.append(colour, 1.0))
        overlay.words(word, x + 1.7 * size, y, size, words, nothing)
        x += letters.getlength(word) + 2.9 * size
    return overlay.picture
