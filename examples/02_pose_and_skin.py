"""From a clip to joints and vertices. Animation is arrays: a pose is a row, a clip is a matrix."""

import numpy as np

from understudy import cast
from understudy.character.rig import DirectRig

asset = cast.load("lamp")
rig = DirectRig(asset.character())
clip = asset.clip("hop")

values = rig.pose(clip)  # (F, C): every joint's translation, rotation and scale
joints = rig.joints(values)  # (F, J, 4, 4) world_from_joint
vertices = rig.vertices(values)  # (F, V, 3) float32

head = asset.character().skeleton.index("Head")
highest = int(np.argmax(joints[:, head, 1, 3]))
print(f"{len(values)} frames of {values.shape[1]} columns, {vertices.shape[1]} vertices")
print(f"the head is highest at {clip.times[highest]:.2f} s: {joints[highest, head, 1, 3]:.2f} m")

# Half of one pose and half of another is a pose, as long as rotations are blended as rotations:
from understudy.maths import quaternion  # noqa: E402

turns = rig.channels.columns_of("rotation")
a, b = values[0], values[highest]
half = 0.5 * (a + b)
half[turns] = quaternion.slerp(a[turns].reshape(-1, 4), b[turns].reshape(-1, 4), 0.5).reshape(-1)
print(f"half-way there the head is at {rig.joints(half[None])[0, head, 1, 3]:.2f} m")
