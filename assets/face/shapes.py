"""ARKit's 52 shapes on every piece of the face: skin, lids, lashes, eyeballs, brows, teeth, tongue.

On the skin they are falloffs times directions; x points outwards, and both sides are made together. `mouthClose` is the
difference that it makes on top of an open jaw, since it means nothing without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from assets.face import parts
from assets.face.measures import CORNER_X, EYE, EYE_RADIUS, HINGE, JAW, LIP_Y, jaw_opened
from assets.face.parts import LIDS_AT_REST, LIDS_CLOSED, Edge, Edges
from assets.face.sculpt import FacePlaces
from assets.sculpting.clay import turn
from assets.sculpting.fields import ramp
from understudy.checks import Array
from understudy.formats.arkit_names import SHAPE_NAMES

CORNER = (CORNER_X, LIP_Y + 0.016, 0.295)
CHEEK = (0.195, -0.130, 0.265)
BROW_IN, BROW_MID, BROW_OUT = (0.075, 0.130, 0.315), (0.160, 0.170, 0.29), (0.262, 0.120, 0.215)
FOLD = ((0.068, -0.135), (0.172, -0.262))  # x, y of the fold from the nose's wing past the mouth's corner
FOLD_WAY = np.array([FOLD[1][0] - FOLD[0][0], FOLD[1][1] - FOLD[0][1]])
OVER_LIDS = 1.135  # of the eye's radius: skin slides over the lids and does not come nearer
SHARP = frozenset(
    {
        *("mouthRollLower", "mouthRollUpper", "mouthPress", "mouthClose"),
        *("jawOpen", "jawForward", "jawLeft", "jawRight"),
    }
)
SIDED = frozenset(
    {
        *("mouthSmile", "mouthFrown", "mouthDimple", "mouthStretch", "mouthPress", "mouthLowerDown", "mouthUpperUp"),
        *("browDown", "browOuterUp", "cheekSquint", "noseSneer", "eyeBlink", "eyeSquint", "eyeWide"),
    }
)


def skin_shapes(p: FacePlaces) -> dict[str, Array]:
    """ARKit's name -> (V, 3) deltas of the skin, for those that move it."""
    both = {**_corners(p), **_round(p), **_lips(p), **_jaws(p), **_upper_face(p)}
    folds = _folds(p)
    result = {}
    for name, delta in both.items():
        smooth = delta if name in SHARP else p.smooth(delta, 8 if name.startswith("brow") else 4)
        smooth = _over_lids(p, smooth)
        if name in folds:
            smooth = smooth + p.normals * folds[name][:, None]
        if name in SIDED:
            result[f"{name}Left"] = smooth * p.left[:, None]
            result[f"{name}Right"] = smooth * (1 - p.left)[:, None]
        else:
            result[name] = smooth
    return result


def _over_lids(p: FacePlaces, delta: Array) -> Array:
    """The deltas with skin pushed out of the lids, but not beyond where it rests."""
    eye = np.where(p.points[:, :1] < 0, [-1.0, 1.0, 1.0], 1.0) * EYE
    away = p.points + delta - eye
    length = np.linalg.norm(away, axis=1)
    least = np.minimum(p.eye, OVER_LIDS * EYE_RADIUS)
    push = np.maximum(least - length, 0.0) / np.maximum(length, 1e-9)
    return delta + away * push[:, None]


def _folds(p: FacePlaces) -> dict[str, Array]:
    """(V,) how far skin goes out along its normal where it folds: furrows of a frown, lines of forehead and nose."""
    x, y, _ = p.folded.T
    outside = p.depth > -0.004
    between = p.blob((0.02, 0.110, 0.33), (0.06, 0.08, 0.10)) * outside
    furrow = 0.006 * np.exp(-(((x - 0.040) / 0.012) ** 2)) - 0.009 * np.exp(-(((x - 0.020) / 0.008) ** 2))
    bridge = p.blob((0.015, 0.010, 0.34), (0.07, 0.07, 0.10)) * outside
    forehead = p.blob((0.03, 0.225, 0.33), (0.16, 0.075, 0.14)) * outside
    on_fold = np.clip(((x - FOLD[0][0]) * FOLD_WAY[0] + (y - FOLD[0][1]) * FOLD_WAY[1]) / (FOLD_WAY @ FOLD_WAY), 0, 1)
    off = np.hypot(x - FOLD[0][0] - on_fold * FOLD_WAY[0], y - FOLD[0][1] - on_fold * FOLD_WAY[1])
    off = np.where(p.points[:, 2] > 0.1, off, 1.0)
    crease = -0.007 * np.exp(-((off / 0.011) ** 2)) * ramp(0.0, 0.25, on_fold) * ramp(1.0, 0.7, on_fold) * outside
    return {
        "browDown": between * furrow,
        "noseSneer": 0.0035 * bridge * np.cos(2 * np.pi * (y - 0.4 * x) / 0.032) + 0.5 * crease,
        "browInnerUp": -0.0028 * forehead * np.cos(2 * np.pi * (y - 0.225) / 0.046),
        "mouthSmile": crease,
    }


def _corners(p: FacePlaces) -> dict[str, Array]:
    low, up = p.lower_half, 1 - p.lower_half
    smile = p.push(p.blob(CORNER, (0.125, 0.105, 0.15)), 0.036, 0.050, -0.030)
    smile += p.push(p.blob(CHEEK, (0.125, 0.11, 0.14)), 0.012, 0.026, 0.014)
    smile += p.push(p.blob((0.065, -0.262, 0.34), (0.085, 0.07, 0.10)), 0.010, 0.006, -0.010)
    smile += p.push(p.blob((0.175, -0.205, 0.24), (0.07, 0.07, 0.1)), 0.012, 0.0, 0.010)
    smile += p.push(p.blob((0.0, -0.245, 0.36), (0.11, 0.07, 0.1)), 0.0, 0.011, -0.006)
    frown = p.push(p.blob(CORNER, (0.115, 0.105, 0.14)), 0.008, -0.058, -0.006)
    frown += p.push(p.blob((0.06, -0.275, 0.34), (0.08, 0.06, 0.1)), 0.004, -0.010, 0.0)
    frown += p.push(p.blob((0, -0.262, 0.36), (0.06, 0.05, 0.1)), 0, 0.015, 0.004)
    frown += p.push(p.blob((0.05, -0.35, 0.28), (0.10, 0.06, 0.1)), 0, 0.008, 0.004)
    stretch = p.push(p.blob(CORNER, (0.125, 0.10, 0.15)), 0.044, -0.018, -0.034)
    stretch += p.push(p.blob((0.06, -0.28, 0.34), (0.08, 0.06, 0.1)) * low, 0.012, -0.012, -0.004)
    press = p.push(p.lips * p.fullness / 0.04, 0, -0.030, -0.006)
    press += p.push(p.blob(CORNER, (0.08, 0.07, 0.12)), 0.010, -0.009, -0.012)  # the resting line smiles a little
    raised = p.push(p.blob((0.045, -0.232, 0.355), (0.085, 0.08, 0.12)) * up, 0.002, 0.038, 0.0)
    raised += p.push(p.blob((0.095, -0.175, 0.32), (0.07, 0.07, 0.10)) * up, 0.006, 0.014, 0.006)
    return {
        "mouthSmile": smile,
        "mouthFrown": frown,
        "mouthDimple": p.push(p.blob(CORNER, (0.075, 0.065, 0.12)), 0.020, 0.006, -0.026),
        "mouthStretch": stretch,
        "mouthPress": press,
        "mouthLowerDown": p.push(p.blob((0.045, -0.280, 0.345), (0.095, 0.085, 0.12)) * low, 0.004, -0.042, -0.002),
        "mouthUpperUp": raised,
    }


def _round(p: FacePlaces) -> dict[str, Array]:
    """Shapes that draw the mouth together: x is scaled on a flat-topped mask, since a pulled corner folds the lips."""
    low, up, x = p.lower_half, 1 - p.lower_half, p.folded[:, 0]
    flat = ramp(0, 0.55, p.blob((0, -0.256, 0.33), (0.26, 0.15, 0.24)))
    corner = p.blob(CORNER, (0.13, 0.10, 0.17))
    upper = ramp(0, 0.5, p.blob((0, -0.235, 0.37), (0.16, 0.085, 0.17))) * up
    lower = ramp(0, 0.5, p.blob((0, -0.280, 0.36), (0.16, 0.090, 0.17))) * low
    pucker = p.push(flat * x, -0.50) + p.push(corner, 0, 0, 0.026)
    pucker += p.push(p.blob((0, -0.256, 0.36), (0.145, 0.10, 0.16)), 0, 0, 0.046)
    pucker += p.push(p.lips * p.fullness, 0, 0.40)
    line = 0.016 * np.minimum(x / CORNER_X, 1.0) ** 2  # the resting line smiles, and an O of it would be a heart
    pucker += p.push(flat * line, 0, -0.8)
    funnel = p.push(flat * x, -0.46) + p.push(corner, 0, 0, 0.026) + p.push(flat * line, 0, -1.5)
    funnel += p.push(p.blob((0, -0.256, 0.36), (0.145, 0.11, 0.16)), 0, 0, 0.036)
    # an ellipse's own power would make a diamond: a lower one lets the sides of the O stand up
    o = p.arch**0.75
    funnel += p.push(upper * o, 0, 0.030, 0.010) + p.push(lower * o, 0, -0.042, 0.008)
    out = p.push(ramp(0, 0.5, p.blob((0, -0.235, 0.37), (0.13, 0.07, 0.15))) * up * p.arch, 0, 0.012)
    out += p.push(ramp(0, 0.5, p.blob((0, -0.280, 0.36), (0.13, 0.08, 0.15))) * low * p.arch, 0, -0.016)
    return {"mouthPucker": pucker, "mouthFunnel": funnel, "tongueOut": out}


def _lips(p: FacePlaces) -> dict[str, Array]:
    low, up = p.lower_half, 1 - p.lower_half
    across = p.blob((0, -0.262, 0.32), (0.21, 0.135, 0.20))[:, None]
    lower = p.push(p.lips * low, 0, 0.006, -0.026)
    lower += p.push(p.blob((0, -0.29, 0.36), (0.10, 0.05, 0.10)) * low, 0, 0.010, -0.004)
    upper = p.push(p.lips * up, 0, -0.006, -0.024)
    upper += p.push(p.blob((0, -0.215, 0.37), (0.10, 0.05, 0.1)) * up, 0, -0.010)
    return {
        "mouthLeft": across * [0.056, 0, -0.006],
        "mouthRight": across * [-0.056, 0, -0.006],
        "mouthRollLower": lower,
        "mouthRollUpper": upper,
        # both lips, or a shrug opens the mouth
        "mouthShrugLower": p.push(p.blob((0, -0.300, 0.34), (0.15, 0.10, 0.14)), 0, 0.024, 0.012),
        "mouthShrugUpper": p.push(p.blob((0, -0.235, 0.36), (0.12, 0.07, 0.12)), 0, 0.018, 0.010),
    }


def _jaws(p: FacePlaces) -> dict[str, Array]:
    """Jaw shapes turn or move what the jaw holds, and the upper lip goes along a part of the way."""
    low, up, jaw = p.lower_half, 1 - p.lower_half, p.jaw[:, None]
    opened = (jaw_opened(p.points) - p.points) * jaw
    follow = (p.blob((0, -0.235, 0.36), (0.13, 0.08, 0.14)) * up)[:, None]
    sideways = jaw * [0.045, 0, -0.004] + follow * [0.034, 0, 0]
    fold = p.push(p.blob((0, -0.325, 0.31), (0.10, 0.035, 0.10)), 0, 0.004, -0.012)  # between lip and chin
    return {
        "jawOpen": opened,
        "jawForward": jaw * [0, 0.002, 0.040] + follow * [0, 0, 0.022] + fold,
        "jawLeft": sideways,
        "jawRight": sideways[p.mirror] * [-1.0, 1.0, 1.0],
        "mouthClose": _mouth_close(p, opened, low, up),
    }


def _mouth_close(p: FacePlaces, opened: Array, low: Array, up: Array) -> Array:
    """On top of an open jaw: the lower lip comes back 78 % of its way, the upper lip down for the rest."""
    points, jaw = p.points, p.jaw[:, None]
    mask = ramp(0, 0.45, p.blob((0, -0.268, 0.33), (0.20, 0.135, 0.22)))
    back = ((points - HINGE) @ turn(x=JAW) + HINGE - points) * jaw  # the inverse turn
    middle = np.argmin(np.abs(points[:, 0]) + np.abs(p.height + 0.02) + np.abs(p.depth))
    arch = np.sqrt(np.clip(1 - (p.folded[:, 0] / (CORNER_X + 0.02)) ** 2, 0, 1))
    moved = back * (0.78 * mask * low)[:, None] + opened[middle] * [0, 1, 1] * (0.22 * mask * up * arch)[:, None]

    def posed(places: Array) -> Array:
        return places * (1 - jaw) + jaw_opened(places) * jaw

    return np.asarray(posed(points + moved) - posed(points))


def _upper_face(p: FacePlaces) -> dict[str, Array]:
    low, up = p.lower_half, 1 - p.lower_half
    over_rim = ramp(0.055, 0.105, p.points[:, 1]) * (0.35 + 0.65 * ramp(1.13, 1.45, p.eye / EYE_RADIUS))
    down = p.push(p.blob(BROW_IN, (0.135, 0.12, 0.17)), -0.018, -0.060, 0.012)
    down += p.push(p.blob(BROW_MID, (0.13, 0.11, 0.17)), -0.006, -0.030, 0.006)
    down += p.push(p.blob((0.02, 0.10, 0.34), (0.05, 0.08, 0.1)), -0.006, -0.014, 0.008)
    outer = 0.6 * p.blob(BROW_MID, (0.13, 0.13, 0.17)) + 0.75 * p.blob(BROW_OUT, (0.13, 0.12, 0.17))
    puff = p.push(p.blob((0.175, -0.215, 0.22), (0.15, 0.13, 0.18)), 0.058, 0.0, 0.034)
    puff += p.push(p.blob((0, -0.225, 0.36), (0.09, 0.05, 0.1)) * up, 0, 0, 0.014)
    puff += p.push(p.blob((0, -0.30, 0.34), (0.09, 0.05, 0.1)) * low, 0, 0, 0.014)
    sneer = p.push(p.blob((0.050, -0.130, 0.39), (0.065, 0.065, 0.09)), 0.009, 0.032, -0.006)
    sneer += p.push(p.blob((0.085, -0.170, 0.33), (0.080, 0.085, 0.11)) * up, 0.004, 0.034, 0.008)
    sneer += p.push(p.blob((0.025, 0.02, 0.34), (0.06, 0.08, 0.1)), 0, 0.004, 0.010)
    sneer += p.push(p.blob(BROW_IN, (0.09, 0.08, 0.14)), -0.006, -0.014, 0.004)
    return {
        "browDown": down,
        "browInnerUp": p.push(p.blob(BROW_IN, (0.125, 0.13, 0.18)) * over_rim, -0.006, 0.098, -0.002),
        "browOuterUp": p.push(outer * over_rim, 0.0, 0.084, -0.004),
        "cheekPuff": puff,
        "cheekSquint": p.push(p.blob(CHEEK, (0.135, 0.105, 0.15)), 0.004, 0.042, 0.014),
        "noseSneer": sneer,
        "eyeWide": p.push(p.blob((0.16, 0.10, 0.30), (0.13, 0.07, 0.16)), 0, 0.010, 0),
        "eyeSquint": p.push(p.blob((0.17, -0.085, 0.30), (0.12, 0.06, 0.14)), 0, 0.012, 0.004),
        "eyeBlink": p.push(p.blob((0.16, 0.10, 0.30), (0.12, 0.06, 0.14)), 0, -0.006, 0.001),
    }


FLIP = np.array([-1.0, 1.0, 1.0])
CARRYING_VERTICES = 10  # skin vertices that carry a ring of a brow
OUTSIDE_DEPTH = -0.012  # depth from which on a vertex counts as the outside of the skin
Deltas = dict[str, Array]  # piece -> (n, 3)


def _moved_edges(upper: tuple[float, float, float], lower: tuple[float, float, float]) -> Edges:
    return {"Upper": LIDS_AT_REST["Upper"].moved(*upper), "Lower": LIDS_AT_REST["Lower"].moved(*lower)}


# shape without side -> where it takes the edges of the lids
LID_EDGES: Mapping[str, Edges] = {
    "eyeBlink": LIDS_CLOSED,
    "eyeWide": _moved_edges((11, 0, 3), (-6, 0, 0)),
    "eyeSquint": _moved_edges((-5, 0, 2), (13, 0, -9)),
    "cheekSquint": _moved_edges((-1, 0, 0), (6, 0, -4)),
    "mouthSmile": _moved_edges((0, 0, 0), (6, 0, -5)),
    "browDown": _moved_edges((-5, 9, 0), (0, 0, 0)),
    "browInnerUp": _moved_edges((0, -4, 0), (0, 0, 0)),
    # the upper lid follows the gaze by 55 % up and 80 % down, the lower one by 30 %
    "eyeLookUp": _moved_edges((0.55 * parts.LOOK_UP, 0, 0), (0.30 * parts.LOOK_UP, 0, 0)),
    "eyeLookDown": _moved_edges((-0.80 * parts.LOOK_DOWN, 0, 4), (-0.30 * parts.LOOK_DOWN, 0, 0)),
}
GAZES = {
    "eyeLookIn": (-parts.LOOK_YAW, 0.0),
    "eyeLookOut": (parts.LOOK_YAW, 0.0),
    "eyeLookUp": (0.0, parts.LOOK_UP),
    "eyeLookDown": (0.0, -parts.LOOK_DOWN),
}
JAWS = {"jawForward": (0.0, 0.002, 0.040), "jawLeft": (0.045, 0.0, -0.004), "jawRight": (-0.045, 0.0, -0.004)}
ON_UPPER: Mapping[str, Callable[[Edge], Array]] = {"Lashes": parts.lashes, "LidShadow": parts.lid_shadow}


def face_shapes(places: FacePlaces, at_rest: Mapping[str, Array], brow_rings: Mapping[str, Array]) -> dict[str, Deltas]:
    """ARKit's name -> deltas of each piece that it moves.

    `at_rest` holds the vertices of every piece, `brow_rings` of each brow the middle that each vertex belongs to.
    """
    skin = skin_shapes(places)
    carried = {name: _carriers(places, middles) for name, middles in brow_rings.items()}
    result = {}
    for name in SHAPE_NAMES:
        found = {**_lids(name, at_rest), **_gaze(name, at_rest), **_jaw_pieces(name, at_rest)}
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
    for side in sides if plain in LID_EDGES else []:
        edges = LID_EDGES[plain]
        for which, edge in edges.items():
            result[f"Lid{which}.{side}"] = _on_side(f"Lid{which}", side, parts.lid_surface(which, edge), at_rest)
        for piece, made in ON_UPPER.items():
            result[f"{piece}.{side}"] = _on_side(piece, side, made(edges["Upper"]), at_rest)
    return result


def _gaze(name: str, at_rest: Mapping[str, Array]) -> Deltas:
    plain, sides = _sides(name)
    if plain not in GAZES:
        return {}
    return {
        f"Eyeball.{side}": _on_side("Eyeball", side, parts.eyeball_looking(*GAZES[plain]), at_rest) for side in sides
    }


def _jaw_pieces(name: str, at_rest: Mapping[str, Array]) -> Deltas:
    """Lower teeth and tongue go with the jaw."""
    if name == "tongueOut":
        return {"Tongue": parts.tongue_places(1.0) - parts.tongue_places()}
    if name == "jawOpen":
        return {piece: jaw_opened(at_rest[piece]) - at_rest[piece] for piece in ("TeethLower", "Tongue")}
    if name in JAWS:
        return {piece: np.tile(JAWS[name], (len(at_rest[piece]), 1)) for piece in ("TeethLower", "Tongue")}
    return {}


def _carriers(places: FacePlaces, middles: Array) -> tuple[Array, Array]:
    """(n, NEAR) the skin vertices that carry points (n, 3), and their shares, by inverse square distance."""
    from scipy.spatial import cKDTree

    outside = np.flatnonzero(places.depth > OUTSIDE_DEPTH)
    away, near = cKDTree(places.points[outside]).query(middles, k=CARRYING_VERTICES)
    weights = 1.0 / (away + 0.004) ** 2
    return outside[near], weights / weights.sum(axis=1, keepdims=True)
