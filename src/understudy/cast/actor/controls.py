"""What an animator moves on the actor: the trunk, the head, the arms, and where each foot stands in the world.

Degrees and metres. The feet are placed in the world, so that a foot that has no key does not move, whatever the body
above it does; the hips stand over them, off by what is keyed, and the legs follow. The head is turned against the
heading of the chest and not against its bend: `nod=0` looks level in a deep bow as well.
"""

from __future__ import annotations

from functools import lru_cache

from understudy.cast.vocabulary import Vocabulary, of_controls
from understudy.character.controls import Controls

# group.control: (unit, lowest, highest, whether a mirror turns its sign, whether there is a left and a right, meaning)
TABLE: dict[str, tuple[str, float, float, bool, bool, str]] = {
    "hips.x": ("metres", -0.6, 0.6, True, False, "off the middle of its feet, to its left"),
    "hips.y": ("metres", -1.1, 1.0, False, False, "height above that of standing at ease"),
    "hips.z": ("metres", -0.6, 0.6, False, False, "off the middle of its feet, forwards"),
    "hips.turn": ("degrees", -720, 720, True, False, "heading, + to the left"),
    "hips.lean": ("degrees", -60, 95, False, False, "+ forwards"),
    "hips.roll": ("degrees", -40, 40, True, False, "+ its left side up"),
    "spine.bend": ("degrees", -55, 110, False, False, "+ forwards, over three joints"),
    "spine.twist": ("degrees", -70, 70, True, False, "+ to the left"),
    "spine.side": ("degrees", -55, 55, True, False, "+ its left side up"),
    "head.nod": ("degrees", -60, 70, False, False, "+ down"),
    "head.turn": ("degrees", -85, 85, True, False, "+ to the left"),
    "head.roll": ("degrees", -45, 45, True, False, "+ its left side up"),
    "neck.breath": ("weight", -1.5, 2, False, False, "1 is a full chest"),
    "shoulders.lift": ("degrees", -12, 34, False, True, "towards the ears"),
    "shoulders.fwd": ("degrees", -25, 28, False, True, "forwards"),
    "arms.swing": ("degrees", -70, 190, False, True, "about the axis from shoulder to shoulder, + forwards and up"),
    "arms.raise": ("degrees", -45, 175, False, True, "away from the side, 90 is level"),
    "arms.twist": ("degrees", -100, 100, False, True, "about the upper arm, + inwards"),
    "arms.elbow": ("degrees", -5, 152, False, True, "0 is straight"),
    "arms.roll": ("degrees", -90, 90, False, True, "of the forearm, + palms down and forwards, - up and back"),
    "arms.wrist": ("degrees", -72, 72, False, True, "+ towards the palm"),
    "arms.fan": ("degrees", -38, 38, False, True, "of the hand, + towards the thumb"),
    "arms.curl": ("degrees", -20, 95, False, True, "fingers, 90 is a fist"),
    "feet.x": ("metres", -8, 8, True, True, "away from where it stands at first, to its left"),
    "feet.z": ("metres", -8, 8, False, True, "forwards from where it stands at first"),
    "feet.lift": ("metres", -0.001, 1.2, False, True, "above the floor; on it only at 0"),
    "feet.turn": ("degrees", -720, 720, True, True, "heading, + to the left"),
    "feet.roll": ("degrees", -55, 75, False, True, "+ heel up, on the ball; - toes up, on the heel"),
    "feet.knee": ("degrees", -40, 60, False, True, "knee outwards"),
}
SIDES = (".L", ".R")


@lru_cache(maxsize=1)
def actor_controls() -> Controls:
    """The controls, those with sides left and then right."""
    rows = [
        (name + side, *entry)
        for name, entry in TABLE.items()
        for side in (SIDES if entry[4] else ("",))  # plain names keep their place among the others
    ]
    names, units, low, high, odd, _, about = zip(*rows)
    groups = [name.partition(".")[0] for name in names]
    return Controls(names, groups, ["bones"] * len(names), units, low, [0.0] * len(names), high, odd, about)


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """What the sheets may set; a foot does not drift in holds."""
    from dataclasses import replace

    controls = actor_controls()
    standing = {name for name in controls.names if name.startswith("feet.")}
    return replace(of_controls(controls), still=frozenset(standing))
