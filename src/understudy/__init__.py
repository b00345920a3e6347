"""understudy makes new character animation out of animation that already exists.

>>> import understudy as us
>>> lamp = us.load("lamp")
>>> [animation.name for animation in lamp.animations]
['hop', 'curious', 'sad', 'happy']

The names below are the public interface. They are imported when they are first used, so `import understudy` costs
nothing. Everything else is importable from its room (`understudy.edit`, `understudy.perform`, ...), and may still
change before version 1.0.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.character.asset import Asset, Character
    from understudy.character.clip import Clip
    from understudy.character.curves import Curves
    from understudy.character.rig.baking import bake, rig_of
    from understudy.character.rig.rig import Rig
    from understudy.deform.comparison import compare_skins
    from understudy.deform.examples import Examples
    from understudy.deform.skin import Skin
    from understudy.edit.edit_curves import blend_edit, edit_curves
    from understudy.edit.goals import Contact, Hold, Limit, MovePoint, Pin, Point
    from understudy.edit.posing import pose_character
    from understudy.edit.reduce.reduction import reduce_keys
    from understudy.edit.sketches import sketch_path
    from understudy.errors import NotFitted, UnderstudyError
    from understudy.express.face_capture import capture_face
    from understudy.express.face_graph import FaceGraph
    from understudy.io import cast_names, load, save, show
    from understudy.perform.commands import Go, GoTo, Idle, LookAt, Mix, PlayClip, Transition, TurnTo
    from understudy.perform.pose_model import PoseModel
    from understudy.perform.runtime.live import LivePerformer
    from understudy.perform.runtime.performer import Performer
    from understudy.perform.script_run import run_script
    from understudy.transfer.pairs import PosePairs
    from understudy.transfer.pose_suggestions import suggest_poses
    from understudy.transfer.retargeter import Retargeter

__version__ = "0.1.0"

__all__ = [
    "Asset",
    "Character",
    "Clip",
    "Contact",
    "Curves",
    "Examples",
    "FaceGraph",
    "Go",
    "GoTo",
    "Hold",
    "Idle",
    "Limit",
    "LivePerformer",
    "LookAt",
    "Mix",
    "MovePoint",
    "NotFitted",
    "Performer",
    "Pin",
    "PlayClip",
    "Point",
    "PoseModel",
    "PosePairs",
    "Retargeter",
    "Rig",
    "Skin",
    "Transition",
    "TurnTo",
    "UnderstudyError",
    "bake",
    "blend_edit",
    "capture_face",
    "cast_names",
    "compare_skins",
    "edit_curves",
    "load",
    "pose_character",
    "reduce_keys",
    "rig_of",
    "run_script",
    "save",
    "show",
    "sketch_path",
    "suggest_poses",
]

_HOMES = {  # name -> module:name
    # data
    "Asset": "character.asset:Asset",
    "Character": "character.asset:Character",
    "Clip": "character.clip:Clip",
    "Curves": "character.curves:Curves",
    "Rig": "character.rig.rig:Rig",
    "rig_of": "character.rig.baking:rig_of",
    "bake": "character.rig.baking:bake",
    # files
    "load": "io:load",
    "save": "io:save",
    "show": "io:show",
    "cast_names": "io:cast_names",
    # perform
    "PoseModel": "perform.pose_model:PoseModel",
    "Performer": "perform.runtime.performer:Performer",
    "LivePerformer": "perform.runtime.live:LivePerformer",
    "run_script": "perform.script_run:run_script",
    "GoTo": "perform.commands:GoTo",
    "Idle": "perform.commands:Idle",
    "Transition": "perform.commands:Transition",
    "PlayClip": "perform.commands:PlayClip",
    "Mix": "perform.commands:Mix",
    "LookAt": "perform.commands:LookAt",
    "Go": "perform.commands:Go",
    "TurnTo": "perform.commands:TurnTo",
    # edit
    "Point": "edit.goals:Point",
    "MovePoint": "edit.goals:MovePoint",
    "Pin": "edit.goals:Pin",
    "Contact": "edit.goals:Contact",
    "Hold": "edit.goals:Hold",
    "Limit": "edit.goals:Limit",
    "edit_curves": "edit.edit_curves:edit_curves",
    "blend_edit": "edit.edit_curves:blend_edit",
    "pose_character": "edit.posing:pose_character",
    "sketch_path": "edit.sketches:sketch_path",
    "reduce_keys": "edit.reduce.reduction:reduce_keys",
    # express
    "FaceGraph": "express.face_graph:FaceGraph",
    "capture_face": "express.face_capture:capture_face",
    # transfer
    "PosePairs": "transfer.pairs:PosePairs",
    "Retargeter": "transfer.retargeter:Retargeter",
    "suggest_poses": "transfer.pose_suggestions:suggest_poses",
    # deform
    "Examples": "deform.examples:Examples",
    "Skin": "deform.skin:Skin",
    "compare_skins": "deform.comparison:compare_skins",
    # errors
    "UnderstudyError": "errors:UnderstudyError",
    "NotFitted": "errors:NotFitted",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'understudy' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(importlib.import_module(f"understudy.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
