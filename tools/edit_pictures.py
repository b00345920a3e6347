"""The picture of an edit in the README and docs/edit.md: the lamp's head dragged higher between two keys.

.venv/bin/python -m tools.edit_pictures
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image

from understudy import cast
from understudy.character.rig import rig_of
from understudy.edit.goals import Edit, MovePoint, Pin, Point
from understudy.edit.solver.sqp import solve
from understudy.render.before_after import write_before_after_sheet
from understudy.render.show import ViewSettings

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


def main() -> None:
    lamp = cast.load("lamp")
    rig = rig_of(lamp.characters[0])
    curves = next(animation for animation in lamp.curves if animation.name == "curious")
    edit = Edit([MovePoint(Point("Head"), 3.7, by=(0.0, 0.08, 0.0))], pins=[Pin(Point("Base"))])
    after = solve(rig, curves, edit).curves
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder) / "sheet.png"
        write_before_after_sheet(
            rig,
            curves,
            after,
            sheet,
            edit=edit,
            times=[3.5, 3.7, 3.85],
            view=ViewSettings(size=(400, 340), supersample=2),
        )
        Image.open(sheet).convert("RGB").save(IMAGES / "edit_before_after.jpg", quality=88)


if __name__ == "__main__":
    main()
