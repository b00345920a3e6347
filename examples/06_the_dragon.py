"""The built-in dragon: named controls, a library of expressions, and a face of our own as a picture."""

import understudy as us
from understudy import cast

dragon = us.load("dragon").character()
rig, controls = us.rig_of(dragon), dragon.layers.controls
print(f"{len(controls.names)} controls; {controls.names[0]} goes from {controls.low[0]:g} to {controls.high[0]:g}")

poses = cast.poses("dragon")  # a pose is a row (C,), so expressions can be added, mixed and mirrored
row = 0.6 * poses["curious"] + 0.4 * poses["happy"]
row[controls.index("lids.blink.L")] = 1.0  # and a wink
row = controls.clip(row)
print("vertices:", rig.vertices(row[None]).shape)

wink = us.Clip("wink", rig.channels, [row, controls.mirror_pose(row)], rate=1)  # one eye, then the other
print(us.show(wink, "wink.png", character=dragon, size=(240, 240), target="Head"))
