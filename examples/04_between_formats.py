"""Write a character in several formats, read it back, and see what each could not hold."""

import numpy as np

import understudy as us

lamp = us.load("lamp")
expected = us.bake(lamp, "hop", rate=24).vertices

for name in ("lamp.glb", "lamp.gltf", "lamp.usda", "lamp.bvh"):
    try:
        lost = us.save(lamp, name)
        again = us.load(name)
    except us.UnderstudyError as error:  # USD is an optional part
        print(f"{name}: {error}")
        continue
    print(f"{name}: {len(again.animations)} animations, lost: {'; '.join(lost) or 'nothing'}")
    if again.character().vertex_count:
        found = us.bake(again, "hop", rate=24).vertices
        print(f"  the vertices agree within {np.abs(found[: len(expected)] - expected[: len(found)]).max():.1e} m")
