"""The lamp looks at something; between two keys its head is dragged higher. The tangents do it: no key is added."""

from understudy import cast
from understudy.character.rig import rig_of
from understudy.edit.goals import Edit, MovePoint, Pin, Point
from understudy.edit.solver.sqp import solve
from understudy.render.before_after import write_before_after_sheet

lamp = cast.load("lamp")
rig = rig_of(lamp.characters[0])
curves = next(animation for animation in lamp.curves if animation.name == "curious")

# The head passes 8 cm higher at 3.7 s; the base keeps its path.
head = Point("Head")
edit = Edit([MovePoint(head, 3.7, by=(0.0, 0.08, 0.0))], pins=[Pin(Point("Base"))])
outcome = solve(rig, curves, edit)
print(f"reached: {outcome.reached}, {1000 * outcome.distance:.2f} mm off, after {outcome.iterations} steps")
print(f"keys: {curves.key_count} before, {outcome.curves.key_count} after")

# What cannot be done is done as far as possible, and explained.
far = solve(rig, curves, Edit([MovePoint(head, 3.7, by=(0.0, 2.0, 0.0))]))
print(f"two metres up: {far.blocks[0].sentence}")

print("edit.png:", write_before_after_sheet(rig, curves, outcome.curves, "edit.png", edit=edit, times=[3.5, 3.7, 3.85]))
