"""The table: where the board stands before a character, so that both sides can see it.

The board leans towards the player, like a lectern: its upper row is the far one. A square's middle, with the row r and
the column c counted from the middle (-1, 0, 1), the size s of a square and the lean a, is

    p = centre + s (c x + r (cos a z − sin a y)).

The player sits across, so the player's left is -x, the character's right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy.rig import PosedRig

Place = tuple[float, float, float]

LEAN = math.radians(15.0)
WIDTH = 0.7  # of the character's height
GAP = 0.13  # of its height, between it and the board
FOOT = 0.06  # of the board's width: its near edge stands that high
LEAST = 1e-3  # metres


@dataclass(frozen=True)
class Table:
    """The middle of the board, the width of its nine squares together, how far it leans (radians); metres.

    `ground` is the height that it stands on, `tall` how tall the character is that sits behind it.
    """

    centre: Place
    width: float
    lean: float = LEAN
    ground: float = 0.0
    tall: float = 1.0

    def square(self, number: int) -> Place:
        """The middle of a square."""
        if not 0 <= number < 9:
            raise IndexError(f"a board has squares 0 to 8, not {number}")
        row, column = divmod(number, 3)
        size, r, c = self.width / 3, row - 1, column - 1
        x, y, z = self.centre
        return x + size * c, y - size * r * math.sin(self.lean), z + size * r * math.cos(self.lean)


def table_for(rig: PosedRig) -> Table:
    """A table before a character as it rests, on the ground that it stands on; it faces +z."""
    points = rig.vertices(rig.rest[None])[0]
    if not len(points):
        points = rig.joints(rig.rest[None])[0, :, :3, 3]
    low, high = points.min(axis=0), points.max(axis=0)
    height = max(float(high[1] - low[1]), LEAST)
    width = WIDTH * height
    half = 0.5 * width
    middle = float(low[0] + high[0]) / 2
    y = float(low[1]) + FOOT * width + half * math.sin(LEAN)
    z = float(high[2]) + GAP * height + half * math.cos(LEAN)
    return Table((middle, y, z), width, LEAN, float(low[1]), height)
