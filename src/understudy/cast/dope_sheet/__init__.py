"""Dope sheets: keyframe animation as text that an animator can read, compare and change.

`parse` reads a sheet, `joint_curves` and `control_curves` make curves of it. `docs/sheets.md` is the grammar.
"""

from __future__ import annotations

from understudy.cast.dope_sheet.parser import parse
from understudy.cast.dope_sheet.sheet import EASES, Pose, Sheet, Vocabulary, of_controls, of_joints
from understudy.cast.dope_sheet.tracks import control_curves, joint_curves, sheet_columns

__all__ = [
    "EASES",
    "Pose",
    "Sheet",
    "Vocabulary",
    "control_curves",
    "joint_curves",
    "of_controls",
    "of_joints",
    "parse",
    "sheet_columns",
]
