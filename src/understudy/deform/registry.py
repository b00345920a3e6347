"""Every method by its name, loaded when it is asked for."""

from __future__ import annotations

import importlib

from understudy import checks
from understudy.deform.deformer import Deformer

METHODS: dict[str, str] = {
    "linear": "understudy.deform.linear_fit:LinearSkin",
    "dual": "understudy.deform.dual_skin:DualSkin",
    "multi-weight": "understudy.deform.multi_weight:MultiWeight",
    "animation-space": "understudy.deform.animation_space:AnimationSpace",
    "added-joints": "understudy.deform.added_joints:AddedJoints",
    "pose-space": "understudy.deform.pose_space:PoseSpace",
    "weighted-pose-space": "understudy.deform.weighted_pose_space:WeightedPoseSpace",
    "eigenskin": "understudy.deform.eigenskin:EigenSkin",
    "shape-by-example": "understudy.deform.shape_by_example:ShapeByExample",
    "blend-shapes": "understudy.deform.blend_shapes:BlendShapes",
    "rotational-regression": "understudy.deform.rotational_regression:RotationalRegression",
    "deformation-styles": "understudy.deform.deformation_styles:DeformationStyles",
    "centres-of-rotation": "understudy.deform.centres_of_rotation:CentresOfRotation",
    "neuro-enveloping": "understudy.deform.neuro_enveloping:NeuroEnveloping",
}
"""name -> module:class, in the order of the comparison table."""


def method(name: str) -> type[Deformer]:
    """The class of that name, or an error that lists what exists."""
    module, _, kind = METHODS[checks.one_of(name, "deformer", METHODS)].partition(":")
    return getattr(importlib.import_module(module), kind)
