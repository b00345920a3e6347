"""Runs inside Blender's Python: makes F-curves and bones as told, and writes down what Blender makes of them.

    python keys.py order.json

The order has `bones` (name, parent, rest matrix in the armature (4, 4)), `modes` (bone -> rotation mode), `fcurves` (as
understudy's `FCurve`, arrays as lists) and `frames` (M,). The output, an npz file, has `values` (N, M), each F-curve
evaluated by itself; `poses` (M, B, 4, 4), the bones' matrices in the armature; and `again` with what Blender stored of
each F-curve: co, handle_left, handle_right (K, 6). Nothing of understudy is imported here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix


def armature(bones: list[dict], modes: dict[str, str]) -> bpy.types.Object:
    """An armature with bones that rest as told, a metre long."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    made = bpy.data.objects.new("body", bpy.data.armatures.new("body"))
    bpy.context.scene.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in bones:
        edit = made.data.edit_bones.new(bone["name"])
        edit.head, edit.tail = (0, 0, 0), (0, 1, 0)
        edit.matrix = Matrix(bone["matrix"])
        edit.parent = made.data.edit_bones[bone["parent"]] if bone["parent"] else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, mode in modes.items():
        made.pose.bones[name].rotation_mode = mode
    return made


def add(bag: bpy.types.ActionChannelbag, given: dict) -> bpy.types.FCurve:
    """One F-curve with the keys as given."""
    curve = bag.fcurves.new(given["data_path"], index=given["array_index"])
    points = curve.keyframe_points
    points.add(len(given["co"]))
    for name in ("co", "handle_left", "handle_right"):
        points.foreach_set(name, np.array(given[name], np.float32).ravel())
    for point, word in zip(points, given["interpolation"]):
        point.interpolation = word
        point.handle_left_type = point.handle_right_type = "FREE"
    for name in ("handle_left", "handle_right"):  # setting the types may have moved them
        points.foreach_set(name, np.array(given[name], np.float32).ravel())
    curve.extrapolation = given["extrapolation"]
    if given["cycles"] != ["NONE", "NONE"]:
        cycles = curve.modifiers.new("CYCLES")
        cycles.mode_before, cycles.mode_after = given["cycles"]
    curve.update()
    return curve


def main(order: dict) -> None:
    """Do what the order says."""
    body = armature(order["bones"], order["modes"])
    action = bpy.data.actions.new("take")
    slot = action.slots.new(id_type="OBJECT", name="body")
    strip = action.layers.new("layer").strips.new(type="KEYFRAME")
    curves = [add(strip.channelbag(slot, ensure=True), given) for given in order["fcurves"]]
    data = body.animation_data_create()
    data.action, data.action_slot = action, slot
    values = np.array([[curve.evaluate(frame) for frame in order["frames"]] for curve in curves])
    poses = []
    for frame in order["frames"]:
        whole = int(np.floor(frame))
        bpy.context.scene.frame_set(whole, subframe=frame - whole)
        posed = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
        poses.append([np.array(posed.pose.bones[bone["name"]].matrix) for bone in order["bones"]])
    again = {}
    for i, curve in enumerate(curves):
        keys = np.empty((3, len(curve.keyframe_points) * 2), np.float32)
        for row, name in zip(keys, ("co", "handle_left", "handle_right")):
            curve.keyframe_points.foreach_get(name, row)
        again[f"again_{i}"] = keys.reshape(3, -1, 2).transpose(1, 0, 2).reshape(-1, 6)
    np.savez(order["output"], values=values, poses=np.array(poses).reshape(len(poses), -1, 4, 4), **again)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[-1]).read_text()))
