"""Points by name: what people write for a point of a character, and the point that they mean."""

from __future__ import annotations

from difflib import get_close_matches

from understudy.character import Character
from understudy.errors import InvalidInput, listed
from understudy.keyframes.goals import Point


def point_named(character: Character, name: str) -> Point:
    """The point that `name` means: a joint, or a named point of the mesh (`nose_tip` of the dragon).

    A joint is also found without its prefix, as `LeftHand` for `mixamorig:LeftHand`, where no other ends so.
    """
    joints = character.skeleton.names
    if name in joints:
        return Point(name)
    points = {} if character.layers is None else character.layers.points
    if name in points:
        return Point(vertex=int(points[name]))
    short = [joint.replace("|", ":").rpartition(":")[2] for joint in joints]
    if short.count(name) == 1:
        return Point(joints[short.index(name)])
    close = get_close_matches(name, [*joints, *points, *short], 1)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    raise InvalidInput(
        f"there is no joint or point {name!r}{meant}; character {character.name!r} has {listed([*joints, *points], 12)}"
    )


def check_point(character: Character, point: Point) -> Point:
    """The point itself, its joint by full name; refused where the character has no such joint or vertex."""
    if point.vertex is None:
        found = point_named(character, point.joint)
        return found if found.vertex is not None else Point(found.joint, point.offset)
    if not 0 <= point.vertex < character.vertex_count:
        count = character.vertex_count
        held = f"vertices 0 to {count - 1}" if count else "no vertices"
        raise InvalidInput(f"there is no {point.name}; character {character.name!r} has {held}")
    return point
