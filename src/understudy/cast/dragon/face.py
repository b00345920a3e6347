"""The dragon's rig: 742 controls in four layers over its body."""

from __future__ import annotations

from understudy.cast.dragon import cage, coarse, drives, fine, regions
from understudy.cast.dragon.body import Body
from understudy.cast.dragon.controls import dragon_controls
from understudy.cast.dragon.places import Places
from understudy.cast.dragon.whole import sparse
from understudy.character.layers import Layers


def layers(body: Body) -> Layers:
    """Bones, coarse shapes, fine shapes and lattice of a body."""
    controls = dragon_controls()
    places = Places(body.skin)
    shapes = sparse({**coarse.shapes(body, places), **fine.shapes(body, places)})
    components = drives.components(controls, shapes.names)
    return Layers(
        controls,
        components,
        shapes,
        **drives.arrays(controls, components, shapes.names),
        lattice=cage.lattice(controls),
        masks=regions.masks(body, places),
        points=regions.points(body, places),
    )
