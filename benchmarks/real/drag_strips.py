"""Strips of drags to look at: figures before and after around the moment, with the trails of the point and the head.

Above: before, with the trail of the dragged point in grey and that of the head in pale blue. Below: after, with the
point's trail in red over the grey one and the head's in blue. A ring is the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.measures.drag_motion import Motion, sample_motion
from benchmarks.real import instant_ik
from benchmarks.real.drag_cases import DragCase
from benchmarks.real.drag_judge import Judge, goals_of, radius_of

import understudy as us
from understudy.checks import Array
from understudy.edit.goals import Point
from understudy.maths.colour import from_hex
from understudy.render import picture
from understudy.render.camera import Camera
from understudy.render.overlay import Overlay
from understudy.render.renderer import open_renderer
from understudy.render.show import ViewSettings, cameras_of
from understudy.render.take import RenderTake

GREY, RED, PALE, BLUE = "#8a8a8a", "#d62828", "#9db8dd", "#1f5fbf"
FIGURE_SIZE = (300, 300)
SHARES = (-1.0, -0.4, 0.0, 0.4, 1.0)  # of the window, at which figures are drawn
TRAIL_PIXELS = 2.5


def write_strips(cases: Sequence[DragCase], folder: Path) -> None:
    """A picture for each case, named by its number, and a text with what reproduces each and its figures."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, case in enumerate(cases):
        judge = Judge(case.clip)
        result = us.edit_curves(case.clip.rig, case.clip.curves, *goals_of(case.edit), hold_feet=False)
        after = sample_motion(case.clip.rig, result.curves, judge.before.times)
        measure = judge.measure(case, result.curves, radius_of(result))
        told = f"goal {measure.goal_mm:.2f} mm, held {measure.held_mm:.2f} mm, furthest {measure.furthest:.2f}, "
        told += f"acceleration {measure.acceleration:.2f}, head {measure.head:.2f}, beyond {measure.beyond:.3f}"
        title = f"{number:02d}  {case.role}, {case.held}: {told}"
        picture.write_png(folder / f"{number:02d}.png", strip(case, judge.before, after, radius_of(result), title))
        lines.append(f"{title}\n    {case.reproduction()}")
        print(lines[-1], flush=True)
    (folder / "strips.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def strip(case: DragCase, before: Motion, after: Motion, radius: float, title: str) -> Array:
    """(H, W, 3) two rows of figures."""
    times = np.clip(case.move.time + radius * np.array(SHARES), before.times[0], before.times[-1])
    rig, view = case.clip.rig, ViewSettings(size=FIGURE_SIZE, supersample=2, follow=False)
    rows = np.concatenate([rig.pose(motion.curves, times) for motion in (before, after)])
    take = RenderTake.from_rows(rig, rows)
    cameras, stage = cameras_of(take, view)
    near = np.abs(before.times - case.move.time) <= 1.5 * radius
    head = Point(case.clip.source.points.head)
    paths = {
        (kind, late): motion.path(point)[near]
        for late, motion in ((False, before), (True, after))
        for kind, point in (("point", case.move.point), ("head", head))
    }
    goal = instant_ik.goal_place(rig, case.clip.curves, case.move)
    figures = []
    with open_renderer(*FIGURE_SIZE, view.background, view.backend, view.supersample) as renderer:
        for number in range(len(rows)):
            late, drawing = number >= len(times), take.draw(number)
            shown = renderer.draw(cameras[0], take.surfaces, drawing.vertices, drawing.normals, stage=stage)
            overlay = Overlay(shown)
            _trail(overlay, cameras[0], paths["head", False], PALE)
            _trail(overlay, cameras[0], paths["point", False], GREY)
            if late:
                _trail(overlay, cameras[0], paths["head", True], BLUE)
                _trail(overlay, cameras[0], paths["point", True], RED)
            if goal is not None:
                overlay.shapes("ring", _pixels(overlay, cameras[0], goal[None]), 6.0, np.append(from_hex(RED), 1.0))
            figures.append(overlay.picture)
    captions = [f"{word}, {time:.2f} s" for word in ("before", "after") for time in times]
    return picture.contact_sheet(figures, captions, len(times), title)


def _trail(overlay: Overlay, camera: Camera, path: Array, colour: str) -> None:
    """Draw a path (F, 3) as a line."""
    pixels = _pixels(overlay, camera, path)
    tint = np.tile(np.append(from_hex(colour), 1.0), (len(path) - 1, 2, 1))
    overlay.strokes(pixels[:-1], pixels[1:], TRAIL_PIXELS, tint)


def _pixels(overlay: Overlay, camera: Camera, places: Array) -> Array:
    """(N, 2) where places (N, 3) are in the picture."""
    seen = camera.project(places)
    return np.stack([(seen[:, 0] + 1) * 0.5 * overlay.width, (1 - seen[:, 1]) * 0.5 * overlay.height], axis=-1)
