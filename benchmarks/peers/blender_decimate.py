"""Blender's own decimation of F-curves, run in Blender's Python: a table of columns in, keys and values out.

Reads lines from standard input, each the path of an .npz with `values` (C, F) and `margin`; writes beside it, with the
ending `.out.npz`, `keys` (C,) and `values` (C, F), and answers with the seconds that the operator took.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np


def graph_editor() -> dict[str, Any]:
    """A context in which the graph editor's operators run, without anything to be seen."""
    window = bpy.context.window_manager.windows[0]
    area = max(window.screen.areas, key=lambda each: each.width * each.height)
    area.type = "GRAPH_EDITOR"
    region = next(region for region in area.regions if region.type == "WINDOW")
    return {
        "window": window,
        "screen": window.screen,
        "area": area,
        "region": region,
        "space_data": area.spaces.active,
    }


def decimated(values: np.ndarray, margin: float, context: dict[str, Any]) -> tuple[list[int], np.ndarray, float]:
    """Keys of each column, its values at the frames, and seconds, after `graph.decimate` by error."""
    thing = bpy.context.scene.objects["thing"]
    action = bpy.data.actions.new("action")
    thing.animation_data_create().action = action
    slot = action.slots.new("OBJECT", "thing")
    thing.animation_data.action_slot = slot
    bag = action.layers.new("layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    frames = values.shape[1]
    curves = []
    for column, row in enumerate(values):
        thing[f"c{column}"] = 0.0
        curve = bag.fcurves.new(f'["c{column}"]')
        curve.keyframe_points.add(frames)
        curve.keyframe_points.foreach_set("co", np.stack([np.arange(frames), row], axis=1).ravel())
        curve.keyframe_points.foreach_set("interpolation", np.ones(frames, np.int32))  # linear
        curve.keyframe_points.foreach_set("select_control_point", np.ones(frames, bool))
        curve.select = True
        curve.update()
        curves.append(curve)
    start = time.perf_counter()
    with bpy.context.temp_override(**context):
        bpy.ops.graph.decimate(mode="ERROR", remove_error_margin=margin)
    taken = time.perf_counter() - start
    keys = [len(curve.keyframe_points) for curve in curves]
    result = np.array([[curve.evaluate(frame) for frame in range(frames)] for curve in curves])
    bpy.data.actions.remove(action)
    return keys, result, taken


def main() -> None:
    """Serve until the input ends."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    thing = bpy.data.objects.new("thing", None)
    bpy.context.scene.collection.objects.link(thing)
    bpy.context.view_layer.objects.active = thing
    thing.select_set(True)
    context = graph_editor()
    answer = sys.stdout
    sys.stdout = sys.stderr  # Blender's own remarks
    for line in sys.stdin:
        path = Path(line.strip())
        with np.load(path) as given:
            keys, values, taken = decimated(given["values"], float(given["margin"]), context)
        np.savez(path.with_suffix(".out.npz"), keys=keys, values=values)
        answer.write(f"DONE {taken} {bpy.app.version_string}\n")
        answer.flush()


if __name__ == "__main__":
    main()
