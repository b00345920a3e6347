"""Write a character in several formats, read it back, and see what each could not hold."""

import numpy as np

from understudy import cast, formats
from understudy.character.rig import bake
from understudy.errors import MissingExtra

lamp = cast.load("lamp")
expected = bake(lamp, "hop", rate=24).vertices

for name in ("lamp.glb", "lamp.gltf", "lamp.usda", "lamp.bvh"):
    try:
        lost = formats.write(lamp, name)
        again = formats.read(name)
    except MissingExtra as missing:
        print(f"{name}: {missing}")
        continue
    print(f"{name}: {len(again.animations)} animations, lost: {'; '.join(lost) or 'nothing'}")
    if again.character().vertex_count:
        found = bake(again, "hop", rate=24).vertices
        print(f"  the vertices agree within {np.abs(found[: len(expected)] - expected[: len(found)]).max():.1e} m")
