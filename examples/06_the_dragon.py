"""The built-in dragon: named controls, a library of expressions, and a face of our own as a picture."""

from understudy import cast
from understudy.character import rig
from understudy.render import show

asset = cast.load("dragon")
face = rig.rig_of(asset.character())
controls = asset.character().layers.controls
print(f"{len(controls.names)} controls; {controls.names[0]} goes from {controls.low[0]:g} to {controls.high[0]:g}")

poses = cast.poses("dragon")  # a pose is a row (C,), so expressions can be added, mixed and mirrored
row = 0.6 * poses["curious"] + 0.4 * poses["happy"]
row[controls.index("lids.blink.L")] = 1.0  # and a wink
print("vertices:", face.vertices(controls.clip(row)[None]).shape)

take = show.RenderTake.from_rows(face, [row, controls.mirror_pose(row)], ["a wink", "the other eye"])
print("wink.png:", show.contact_sheet(take, "wink.png", show.ViewSettings(size=(240, 240), target="Head")))
