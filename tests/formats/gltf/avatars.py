"""Small avatars made by hand: a humanoid of odd joint names with the extensions of VRM."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.formats.gltf.minimal import TRIANGLE, Minimal

from understudy.character.asset import REQUIRED_BONES

BONES = [bone[0].lower() + bone[1:] for bone in REQUIRED_BONES]


def humanoid(**extensions: Any) -> Minimal:
    """A humanoid of odd joint names, a face with two shapes, and the extensions of an avatar."""
    made = Minimal()
    parents = {"spine": "hips", "head": "spine", "leftUpperArm": "spine", "rightUpperArm": "spine"}
    parents |= {
        f"{side}{part}": f"{side}{above}"
        for side in ("left", "right")
        for part, above in (
            ("LowerArm", "UpperArm"),
            ("Hand", "LowerArm"),
            ("LowerLeg", "UpperLeg"),
            ("Foot", "LowerLeg"),
        )
    }
    parents |= {"leftUpperLeg": "hips", "rightUpperLeg": "hips"}
    places = {"spine": (0, 0.3, 0), "head": (0, 0.4, 0), "hips": (0, 1, 0)}
    for side, sign in (("left", 1), ("right", -1)):
        places |= {f"{side}UpperArm": (0.2 * sign, 0.2, 0), f"{side}LowerArm": (0.25 * sign, 0, 0)}
        places |= {f"{side}Hand": (0.2 * sign, 0, 0), f"{side}UpperLeg": (0.1 * sign, 0, 0)}
        places |= {f"{side}LowerLeg": (0, -0.4, 0), f"{side}Foot": (0, -0.4, 0)}
    for i, bone in enumerate(BONES):
        turn = np.array([0.1 * (i % 3), 0.2 * (i % 2), 0.0, 1.0])
        node = {"name": f"j{i}", "translation": places[bone], "rotation": (turn / np.linalg.norm(turn)).tolist()}
        made.add("nodes", node)
    for child, parent in parents.items():
        made.root["nodes"][BONES.index(parent)].setdefault("children", []).append(BONES.index(child))
    mesh = made.mesh(targets=[TRIANGLE, 2 * TRIANGLE], extras={"targetNames": ["open", "shut"]}, name="face")
    primitive = made.root["meshes"][mesh]["primitives"][0]
    primitive["attributes"]["TEXCOORD_0"] = made.accessor(np.zeros((3, 2)), "VEC2")
    made.add("images", {"bufferView": made.view(b"\x89PNG\r\n\x1a\nskin"), "mimeType": "image/png", "name": "skin"})
    made.add("images", {"bufferView": made.view(b"\x89PNG\r\n\x1a\nthumb"), "mimeType": "image/png", "name": "thumb"})
    made.add("textures", {"source": 0})
    made.add("textures", {"source": 1})
    primitive["material"] = made.add("materials", {"name": "skin"})
    made.add("nodes", {"name": "face", "mesh": mesh})
    made.root["nodes"][BONES.index("head")].setdefault("children", []).append(len(BONES))
    made.add("scenes", {"nodes": [BONES.index("hips")]})
    made.root |= {"extensions": extensions, "extensionsUsed": list(extensions)}
    return made


def vrm1() -> dict[str, Any]:
    face = len(BONES)
    return {
        "VRMC_vrm": {
            "specVersion": "1.0",
            "meta": {"name": "Ann", "authors": ["me"], "licenseUrl": "x", "thumbnailImage": 1, "own": [1.5, None]},
            "humanoid": {"humanBones": {bone: {"node": i} for i, bone in enumerate(BONES)}},
            "firstPerson": {"meshAnnotations": [{"node": face, "type": "auto"}]},
            "lookAt": {"type": "bone", "offsetFromHeadBone": [0, 0.06, 0]},
            "expressions": {
                "preset": {
                    "happy": {
                        "morphTargetBinds": [{"node": face, "index": 1, "weight": 0.5}],
                        "materialColorBinds": [{"material": 0, "type": "color", "targetValue": [1, 0, 0, 1]}],
                        "isBinary": True,
                        "overrideBlink": "block",
                    }
                },
                "custom": {"puff": {"textureTransformBinds": [{"material": 0, "scale": [1, 1], "offset": [0, 0.5]}]}},
            },
        },
        "VRMC_springBone": {
            "specVersion": "1.0",
            "colliders": [{"node": 2, "shape": {"sphere": {"radius": 0.1}}}],
            "springs": [{"name": "hair", "center": 0, "joints": [{"node": 1, "stiffness": 2}, {"node": 2}]}],
        },
    }


def vrm0() -> dict[str, Any]:
    return {
        "VRM": {
            "specVersion": "0.0",
            "meta": {"title": "Old Ann", "texture": 1},
            "humanoid": {"humanBones": [{"bone": bone, "node": i} for i, bone in enumerate(BONES)], "armStretch": 0.05},
            "firstPerson": {
                "firstPersonBone": 2,
                "lookAtTypeName": "Bone",
                "meshAnnotations": [{"mesh": 0, "firstPersonFlag": "Auto"}],
            },
            "blendShapeMaster": {
                "blendShapeGroups": [
                    {"name": "Joy", "presetName": "joy", "binds": [{"mesh": 0, "index": 1, "weight": 50}]},
                    {"name": "Puff", "presetName": "unknown", "binds": [], "isBinary": True},
                ]
            },
            "secondaryAnimation": {
                "boneGroups": [{"bones": [2], "center": -1, "colliderGroups": [0], "stiffiness": 2}],
                "colliderGroups": [{"node": 1, "colliders": []}],
            },
            "materialProperties": [{"name": "skin", "shader": "VRM/MToon", "textureProperties": {"_MainTex": 0}}],
        }
    }


def vrm_animation() -> dict[str, Any]:
    """The extension of a VRM animation of all bones, with an expression and a gaze."""
    bones = {bone: {"node": i} for i, bone in enumerate(BONES)}
    expressions = {"preset": {"happy": {"node": len(BONES)}}, "custom": {"puff": {"node": 3}}}
    return {
        "VRMC_vrm_animation": {
            "specVersion": "1.0",
            "humanoid": {"humanBones": bones},
            "expressions": expressions,
            "lookAt": {"node": 2},
        }
    }
