"""Build the dragon and write the file that the package ships: `python -m assets.dragon.build`.

Needs the `sculpt` extra. Nothing is random: the same libraries give the same file.
"""

from __future__ import annotations

from pathlib import Path

from assets.dragon.body import Body, build
from assets.dragon.controls import dragon_controls, driven_components, lattice, layer_arrays
from assets.dragon.places import Places, named_points, region_masks, sparse_shapes
from assets.dragon.shapes import coarse_shapes, fine_shapes
from understudy import cast
from understudy.cast import archive
from understudy.character import Asset, Character
from understudy.character.controls import RigLayers


def character() -> Character:
    """The dragon with its layers."""
    body = build()
    plain = body.character
    return Character(plain.name, plain.skeleton, plain.parts, layers=layers(body))


def layers(body: Body) -> RigLayers:
    """Bones, coarse shapes, fine shapes and lattice of a body."""
    controls = dragon_controls()
    places = Places(body.skin)
    shapes = sparse_shapes({**coarse_shapes(body, places), **fine_shapes(body, places)})
    components = driven_components(controls, shapes.names)
    return RigLayers(
        controls,
        components,
        shapes,
        **layer_arrays(controls, components, shapes.names),
        lattice=lattice(controls),
        masks=region_masks(body, places),
        points=named_points(body, places),
    )


def main(path: Path | None = None) -> None:
    """Build and write."""
    archive.write(Asset([character()]), path or cast.arrays_file("dragon"))


if __name__ == "__main__":
    main()
