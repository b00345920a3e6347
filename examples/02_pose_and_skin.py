"""From an animation to joints and vertices. Animation is arrays: a pose is a row, a clip is a matrix."""

import numpy as np

import understudy as us
from understudy.maths import quaternion

lamp = us.load("lamp")
rig = us.rig_of(lamp.character())
clip = lamp.clip("hop")

rows = rig.pose(clip)  # (F, C): translation, rotation and scale of every joint
joints = rig.joints(rows)  # (F, J, 4, 4) world_from_joint
vertices = rig.vertices(rows)  # (F, V, 3) float32

head = lamp.character().skeleton.index("Head")
highest = int(np.argmax(joints[:, head, 1, 3]))
print(f"{len(rows)} frames of {rows.shape[1]} columns, {vertices.shape[1]} vertices")
print(f"the head is highest at {clip.times[highest]:.2f} s: {joints[highest, head, 1, 3]:.2f} m")

# Half of one pose and half of another is a pose, as long as rotations are blended as rotations:
turns = rig.channels.columns_of("rotation")
a, b = rows[0], rows[highest]
half = 0.5 * (a + b)
half[turns] = quaternion.slerp(a[turns].reshape(-1, 4), b[turns].reshape(-1, 4), 0.5).reshape(-1)
print(f"half-way there the head is at {rig.joints(half[None])[0, head, 1, 3]:.2f} m")
