"""Runs inside Blender's Python: imports files, plays them, and writes down what Blender shows.

    python evaluate.py order.json

The order is a list of `{"file", "output", "clip", "rate", "frames"}`: `frames` (M,) are Blender's frame numbers, `clip`
names the animation (null: whatever the importer made active). Each output is an npz file with, in Blender's Z-up space,

    mesh_names, mesh_<i> (M, V, 3)      world positions of the evaluated meshes
    bone_names, bones (M, B, 4, 4)      world matrices; bones_rest (B, 4, 4)
    object_names, objects (M, O, 4, 4)  world matrices

Nothing of understudy is imported here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy
import numpy as np


def import_file(path: str, rate: float) -> None:
    """An empty scene with nothing but the file in it; glTF's seconds become frames by the scene's rate."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = round(rate), round(rate) / rate
    ending = Path(path).suffix.lower()
    if ending in (".glb", ".gltf"):
        # BLENDER: bones keep the joints' own axes; no merging: vertices keep number and order
        bpy.ops.import_scene.gltf(
            filepath=path, merge_vertices=False, bone_heuristic="BLENDER", disable_bone_shape=True, loglevel=40
        )
    elif ending == ".bvh":
        bpy.ops.import_anim.bvh(filepath=path, axis_forward="-Z", axis_up="Y", frame_start=1, update_scene_fps=False)
    elif ending == ".fbx":
        bpy.ops.wm.fbx_import(filepath=path, anim_offset=0.0, ignore_leaf_bones=False)
        scene.render.fps, scene.render.fps_base = round(rate), round(rate) / rate
    elif ending.startswith(".usd"):
        bpy.ops.wm.usd_import(filepath=path, set_frame_range=False)
    else:
        raise SystemExit(f"{path}: no importer for {ending}")


def choose_clip(name: str | None) -> None:
    """Play one animation: glTF's importer leaves each as an NLA track of everything that it moves, FBX's as an action
    with a slot for each of them."""
    if name is None:
        return
    action = bpy.data.actions.get(name)
    for block in [*bpy.data.objects, *bpy.data.shape_keys]:
        data = block.animation_data
        if data is None:
            continue
        found = [strip for track in data.nla_tracks for strip in track.strips if track.name == name]
        chosen = [(strip.action, strip.action_slot) for strip in found]
        if not data.nla_tracks and action is not None and data.action_slot is not None:
            chosen = [(action, slot) for slot in action.slots if slot.identifier == data.action_slot.identifier]
        for track in list(data.nla_tracks):
            data.nla_tracks.remove(track)
        data.action = None
        for action_of_block, slot in chosen:
            data.action, data.action_slot = action_of_block, slot


def mesh_positions(mesh_object: bpy.types.Object, graph: bpy.types.Depsgraph) -> np.ndarray:
    """(V, 3) world positions after modifiers and shape keys."""
    evaluated = mesh_object.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    points = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    world = np.array(evaluated.matrix_world, np.float64)
    return points.reshape(-1, 3).astype(np.float64) @ world[:3, :3].T + world[:3, 3]


def evaluate(frames: list[float]) -> dict[str, np.ndarray]:
    """Everything at every frame."""
    meshes = [o for o in bpy.data.objects if o.type == "MESH"]
    armatures = [o for o in bpy.data.objects if o.type == "ARMATURE"]
    positions: list[list[np.ndarray]] = [[] for _ in meshes]
    bones, objects = [], []
    for frame in frames:
        whole = int(np.floor(frame))
        bpy.context.scene.frame_set(whole, subframe=frame - whole)
        graph = bpy.context.evaluated_depsgraph_get()
        for place, mesh_object in zip(positions, meshes):
            place.append(mesh_positions(mesh_object, graph))
        posed = [a.evaluated_get(graph) for a in armatures]
        bones.append([np.array(a.matrix_world @ bone.matrix) for a in posed for bone in a.pose.bones])
        objects.append([np.array(o.evaluated_get(graph).matrix_world) for o in bpy.data.objects])
    result = {f"mesh_{i}": np.array(place) for i, place in enumerate(positions)}
    result["mesh_names"] = np.array([o.name for o in meshes], dtype=str)
    result["bone_names"] = np.array([b.name for a in armatures for b in a.pose.bones], dtype=str)
    result["bones"] = np.array(bones).reshape(len(frames), -1, 4, 4)
    rest = [np.array(a.matrix_world @ b.bone.matrix_local) for a in armatures for b in a.pose.bones]
    result["bones_rest"] = np.array(rest).reshape(-1, 4, 4)
    result["object_names"] = np.array([o.name for o in bpy.data.objects], dtype=str)
    result["objects"] = np.array(objects).reshape(len(frames), -1, 4, 4)
    return result


if __name__ == "__main__":
    for job in json.loads(Path(sys.argv[-1]).read_text()):
        import_file(job["file"], job["rate"])
        choose_clip(job["clip"])
        np.savez(job["output"], **evaluate(job["frames"]))
