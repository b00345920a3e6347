"""Runs inside Blender's Python: gives meshes Blender's own automatic weights, and writes them down.

    python automatic.py order.json

The order is a list of `{"file", "output", "joints", "heuristic"}`: `joints` are the names of the bones that may deform.
Each output is an npz file with, for every skinned mesh, vertices in the order of the file,

    names, bones_<i> (B,), weights_<i> (V, B), seconds

What artists do before they ask for weights is done here too: vertices that were split at hard edges are merged. Nothing
of understudy is imported here.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import bpy
import numpy as np

MERGE = 1e-6  # of the mesh's size: the copies of a split vertex are at the same place to rounding


def import_file(path: str, heuristic: str) -> None:
    """An empty scene with nothing but the file in it, at rest."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(
        filepath=path, merge_vertices=False, bone_heuristic=heuristic, disable_bone_shape=True, loglevel=40
    )
    for found in bpy.data.objects:
        if found.type == "ARMATURE":
            found.data.pose_position = "REST"
    bpy.context.view_layer.update()


def points_of(found: bpy.types.Object) -> np.ndarray:
    """(V, 3) in the mesh's own space."""
    points = np.empty(3 * len(found.data.vertices), np.float32)
    found.data.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)


def merge(found: bpy.types.Object) -> np.ndarray:
    """The mesh without its old weights and without doubled vertices; (V,) the vertex that stands for each old one."""
    import bmesh  # exists once bpy is loaded
    from mathutils import kdtree

    found.vertex_groups.clear()
    work = bmesh.new()
    work.from_mesh(found.data)
    before = points_of(found)
    bmesh.ops.remove_doubles(work, verts=work.verts, dist=MERGE * float(np.linalg.norm(np.ptp(before, axis=0))))
    work.to_mesh(found.data)
    work.free()
    tree = kdtree.KDTree(len(found.data.vertices))
    for i, point in enumerate(points_of(found)):
        tree.insert(point, i)
    tree.balance()
    return np.array([tree.find(point)[1] for point in before])


def bind(meshes: list[bpy.types.Object], armature: bpy.types.Object) -> None:
    """Blender's "With Automatic Weights"."""
    bpy.ops.object.select_all(action="DESELECT")
    for found in meshes:
        found.select_set(True)
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")


def weights_of(found: bpy.types.Object) -> tuple[list[str], np.ndarray]:
    """Bone names (B,) and weights (V, B), not normalised."""
    names = [group.name for group in found.vertex_groups]
    weights = np.zeros((len(found.data.vertices), len(names)))
    for vertex in found.data.vertices:
        for group in vertex.groups:
            weights[vertex.index, group.group] = group.weight
    return names, weights


def run(job: dict) -> None:
    """One file."""
    import_file(job["file"], job["heuristic"])
    skinned: dict[str, list[bpy.types.Object]] = {}
    stands_for: dict[str, np.ndarray] = {}
    for found in [o for o in bpy.data.objects if o.type == "MESH"]:
        modifier = next((m for m in found.modifiers if m.type == "ARMATURE" and m.object), None)
        if modifier is not None and found.vertex_groups:
            stands_for[found.name] = merge(found)
            skinned.setdefault(modifier.object.name, []).append(found)
    stored: dict[str, np.ndarray] = {}
    names = []
    seconds = 0.0
    for armature_name, meshes in skinned.items():
        armature = bpy.data.objects[armature_name]
        for bone in armature.data.bones:
            bone.use_deform = bone.name in job["joints"]
        began = time.process_time()
        bind(meshes, armature)
        seconds += time.process_time() - began
        for found in meshes:
            i = len(names)
            names.append(found.name)
            bones, weights = weights_of(found)
            stored[f"bones_{i}"], stored[f"weights_{i}"] = np.array(bones, dtype="U"), weights[stands_for[found.name]]
    np.savez(job["output"], names=np.array(names, dtype="U"), seconds=seconds, **stored)


if __name__ == "__main__":
    for order in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        run(order)
