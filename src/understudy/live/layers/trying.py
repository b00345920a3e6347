"""Finding out what controls do by trying them: the signs and gains of a rig are in the rig, not in the names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.rig import LayeredRig

TRIED = 1e-3  # of a control's range: small enough for a slope, large enough against rounding


class Trial(NamedTuple):
    """The rest row, then one row for each control that can move a joint, with that control moved a little."""

    columns: Array  # (n,) the controls
    step: Array  # (n,) by how much each is moved
    rows: Array  # (1 + n, C)


def trial(rig: LayeredRig, share: float = TRIED) -> Trial:
    """Rows to evaluate; `share` of its range is what each control is moved, upwards where there is room."""
    layers, controls = rig.layers, rig.controls
    count = len(layers.components)
    rules = (
        (layers.drive_parameter, layers.drive_control),
        (layers.corrective_parameter, layers.corrective_a),
        (layers.corrective_parameter, layers.corrective_b),
        (layers.toward_parameter, layers.toward_control),
    )
    columns = np.unique(np.concatenate([control[parameter < count] for parameter, control in rules]))
    step = share * (controls.high - controls.low)[columns]
    columns, step = columns[step > 0], step[step > 0]
    step = np.where(controls.rest[columns] + step > controls.high[columns], -step, step)
    rows = np.tile(rig.rest, (1 + len(columns), 1))
    rows[np.arange(1, len(rows)), columns] += step
    return Trial(columns, step, rows)
