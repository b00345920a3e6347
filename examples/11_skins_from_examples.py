"""A skin learnt from examples of an arm: methods compared, the best of them saved, and a mesh bound by itself."""

import understudy as us

arm = us.Examples.read("arm")  # solved as an elastic body when asked for
print(arm)

skin = us.Skin("eigenskin").fit(arm)
vertices = skin.transform(arm.transforms)  # (E, V, 3) float32
print(f"rms {1000 * ((vertices - arm.vertices) ** 2).sum(axis=2).mean() ** 0.5:.2f} mm on the examples")
us.save(skin, "arm.understudy")

print(us.compare_skins(arm, ["linear", "dual", "eigenskin"]).table())  # on poses that no method has seen

bound = us.Skin.bind(us.load("lamp").character())  # new weights for the skeleton that is there
us.save(us.Asset([bound]), "bound.glb")
print(f"{bound.name}: {bound.vertex_count} vertices bound to {len(bound.joints)} joints")
