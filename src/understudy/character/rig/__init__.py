"""Rigs: controls to joints, shape weights and lattice, and those to vertices."""

from __future__ import annotations

from understudy.character.rig.baking import bake, pose_all, rig_of
from understudy.character.rig.flatten import flatten_asset
from understudy.character.rig.layered import LayeredRig
from understudy.character.rig.rig import DirectRig, PosedRig, Rig

__all__ = ["DirectRig", "LayeredRig", "PosedRig", "Rig", "bake", "flatten_asset", "pose_all", "rig_of"]
