"""Between two keys the lamp's head is dragged higher. The tangents do it: no key is added."""

import understudy as us

lamp = us.load("lamp")
rig, curves = us.rig_of(lamp.character()), lamp.animation("curious")

# The head passes 8 cm higher at 3.7 s; the base keeps its path.
result = us.edit_curves(rig, curves, us.MovePoint("Head", 3.7, by=(0, 0.08, 0)), us.Pin("Base"))
print(f"reached: {result.reached}, {1000 * result.distance:.2f} mm off, after {result.iterations} steps")
print(f"keys: {curves.key_count} before, {result.curves.key_count} after")

# What cannot be done is done as far as possible, and explained.
blocked = us.edit_curves(rig, curves, us.MovePoint("Head", 3.7, by=(0, 2, 0)))
print(f"two metres up: {blocked.obstacles[0].sentence}")

# Dense animation becomes keys first: the fewest that stay within a tolerance.
reduced = us.reduce_keys(lamp.clip("curious", rate=24), rig, tolerance=0.005)
print(f"{reduced.source_keys} keys to {reduced.keys}, within {1000 * reduced.error_m:.1f} mm")

us.save(result.curves, "edited.glb", lamp.character())
print(us.show(result.curves, "edit.png", character=lamp.character(), pictures=8, size=(160, 160)))
