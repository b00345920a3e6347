"""The 52 shapes on every piece of the face: skin, lids, lashes, eyeballs, brows, teeth, tongue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from understudy.cast.face import eyes, lids, mouth_parts
from understudy.cast.face.lids import CLOSED, REST, Edge, Edges
from understudy.cast.face.measures import jaw_opened
from understudy.cast.face.shapes_skin import shapes as skin_shapes
from understudy.cast.face.skin import FacePlaces
from understudy.checks import Array
from understudy.formats.arkit_names import WEIGHTS

FLIP = np.array([-1.0, 1.0, 1.0])
NEAR = 10  # skin vertices that carry a ring of a brow
OUTSIDE = -0.012  # depth from which on a vertex counts as the outside of the skin
Deltas = dict[str, Array]  # piece -> (n, 3)


def _moved(upper: tuple[float, float, float], lower: tuple[float, float, float]) -> Edges:
    return {"Upper": REST["Upper"].moved(*upper), "Lower": REST["Lower"].moved(*lower)}


# shape without side -> where it takes the edges of the lids
EDGES: Mapping[str, Edges] = {
    "eyeBlink": CLOSED,
    "eyeWide": _moved((11, 0, 3), (-6, 0, 0)),
    "eyeSquint": _moved((-5, 0, 2), (13, 0, -9)),
    "cheekSquint": _moved((-1, 0, 0), (6, 0, -4)),
    "mouthSmile": _moved((0, 0, 0), (6, 0, -5)),
    "browDown": _moved((-5, 9, 0), (0, 0, 0)),
    "browInnerUp": _moved((0, -4, 0), (0, 0, 0)),
    # the upper lid follows the gaze by 55 % up and 80 % down, the lower one by 30 %
    "eyeLookUp": _moved((0.55 * eyes.UP, 0, 0), (0.30 * eyes.UP, 0, 0)),
    "eyeLookDown": _moved((-0.80 * eyes.DOWN, 0, 4), (-0.30 * eyes.DOWN, 0, 0)),
}
GAZES = {
    "eyeLookIn": (-eyes.YAW, 0.0),
    "eyeLookOut": (eyes.YAW, 0.0),
    "eyeLookUp": (0.0, eyes.UP),
    "eyeLookDown": (0.0, -eyes.DOWN),
}
JAWS = {"jawForward": (0.0, 0.002, 0.040), "jawLeft": (0.045, 0.0, -0.004), "jawRight": (-0.045, 0.0, -0.004)}
ON_UPPER: Mapping[str, Callable[[Edge], Array]] = {"Lashes": lids.lashes, "LidShadow": lids.shadow}


def shapes(places: FacePlaces, at_rest: Mapping[str, Array], brow_rings: Mapping[str, Array]) -> dict[str, Deltas]:
    """ARKit's name -> deltas of each piece that it moves.

    `at_rest` holds the vertices of every piece, `brow_rings` of each brow the middle that each vertex belongs to.
    """
    skin = skin_shapes(places)
    carried = {name: _carriers(places, middles) for name, middles in brow_rings.items()}
    result = {}
    for name in WEIGHTS:
        found = {**_lids(name, at_rest), **_gaze(name, at_rest), **_jaw(name, at_rest)}
        if name in skin:
            found["Skin"] = skin[name]
            for brow, (vertices, weights) in carried.items():
                found[brow] = np.einsum("nk,nkc->nc", weights, skin[name][vertices])
        result[name] = {piece: delta for piece, delta in found.items() if np.abs(delta).max() > 1e-5}
    return result


def _sides(name: str) -> tuple[str, list[str]]:
    """The name without its side, and the sides that it moves."""
    for word, side in (("Left", "L"), ("Right", "R")):
        if name.endswith(word) and name.removesuffix(word) not in ("jaw", "mouth"):
            return name.removesuffix(word), [side]
    return name, ["L", "R"]


def _on_side(piece: str, side: str, left: Array, at_rest: Mapping[str, Array]) -> Array:
    """Deltas of a piece on one side, from where its left twin goes."""
    moved = left - at_rest[f"{piece}.L"]
    return moved if side == "L" else moved * FLIP


def _lids(name: str, at_rest: Mapping[str, Array]) -> Deltas:
    plain, sides = _sides(name)
    result: Deltas = {}
    for side in sides if plain in EDGES else []:
        edges = EDGES[plain]
        for which, edge in edges.items():
            result[f"Lid{which}.{side}"] = _on_side(f"Lid{which}", side, lids.surface(which, edge), at_rest)
        for piece, made in ON_UPPER.items():
            result[f"{piece}.{side}"] = _on_side(piece, side, made(edges["Upper"]), at_rest)
    return result


def _gaze(name: str, at_rest: Mapping[str, Array]) -> Deltas:
    plain, sides = _sides(name)
    if plain not in GAZES:
        return {}
    return {f"Eyeball.{side}": _on_side("Eyeball", side, eyes.looking(*GAZES[plain]), at_rest) for side in sides}


def _jaw(name: str, at_rest: Mapping[str, Array]) -> Deltas:
    """Lower teeth and tongue go with the jaw."""
    if name == "tongueOut":
        return {"Tongue": mouth_parts.tongue_places(1.0) - mouth_parts.tongue_places()}
    if name == "jawOpen":
        return {piece: jaw_opened(at_rest[piece]) - at_rest[piece] for piece in ("TeethLower", "Tongue")}
    if name in JAWS:
        return {piece: np.tile(JAWS[name], (len(at_rest[piece]), 1)) for piece in ("TeethLower", "Tongue")}
    return {}


def _carriers(places: FacePlaces, middles: Array) -> tuple[Array, Array]:
    """(n, NEAR) the skin vertices that carry points (n, 3), and their shares, by inverse square distance."""
    from scipy.spatial import cKDTree

    outside = np.flatnonzero(places.depth > OUTSIDE)
    away, near = cKDTree(places.points[outside]).query(middles, k=NEAR)
    weights = 1.0 / (away + 0.004) ** 2
    return outside[near], weights / weights.sum(axis=1, keepdims=True)
