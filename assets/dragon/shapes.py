"""The dragon's shapes: coarse ones of face, mouth and parts with their correctives, and the fine layer.

**Brows, eyes, nose, throat.** A brow is moved by one weight round its whole ridge, with a longer reach into the
forehead than towards the eye; sums of blobs would leave knobs. The skin above the eye goes along, or the brow would
only slide over it.

**Mouth, jaw, cheeks.** Lips are moved by profiles along the mouth's line (arc 0 in front, 1 at the corner): the corner
lies far back, under and behind the eye, so that what is seen from the front is made between 0 and 0.6. The resting line
curls up into a smile; `frown`, `o` and `purse` therefore lower the sides more than they raise the middle.

**Parts**: lids, eyeballs, fins, spikes and tongue. Each shape is made for one amount of its control (LID_EDGE_DEGREES,
RIB_DEGREES, ...); `drives.txt` scales it. Lids are moved along tangents of their spheres, which errs outwards, away
from the eye.

**The coarse layer** has one shape for each coarse control that is not made by joints alone, and the correctives. **The
fine layer** has small bumps at the places of `fine.txt`, each smooth, each in the directions that its row names.
"""

from __future__ import annotations

import numpy as np

from assets.dragon import measures, parts
from assets.dragon.body import Body
from assets.dragon.controls import FinePlace, dragon_controls, fine_places
from assets.dragon.measures import EAR_ROOT, EYE, EYE_RADIUS, eye_frame
from assets.dragon.places import Carried, Places, Whole, unfold
from assets.sculpting.fields import ramp
from understudy.character.controls import Controls
from understudy.checks import Array

NOSTRIL = (0.078, -0.020, 0.545)
LIFT_TAKEN_BACK = 0.75  # share of a brow's way off the surface that is taken back
EYE_CLEARANCE = 1.12 * EYE_RADIUS  # nearer to the eye's centre skin would cut through the lids


def upper_face_shapes(p: Places) -> dict[str, Array]:
    """Name without side -> (V, 3) deltas in HL of both sides together."""
    brows = {name: p.smooth(delta, 16) for name, delta in _brows(p).items()}
    others = {**_eyes(p), **_nose(p), **_neck(p)}
    return brows | {name: p.smooth(delta, 5) for name, delta in others.items()}


def _brows(p: Places) -> dict[str, Array]:
    inner, outer = ramp(0.75, 0.0, p.brow), ramp(0.35, 1.0, p.brow)
    middle = np.clip(1 - inner - outer, 0, 1) + 0.35 * np.minimum(inner, outer)
    wide, heavy = _brow_weight(p, 0.26, 0.13), _brow_weight(p, 0.22, 0.16 + 0.09 * inner)
    lifted = p.rim(0.34, 0.225)
    lower = p.push(heavy * (0.34 + 0.66 * inner) * (1 - 0.50 * outer), -0.018, -0.090, 0.034)
    ends = _brow_weight(p, 0.20, 0.12)
    return {
        "brows.raise": along_skin(p, p.push(wide * (1 - 0.25 * outer) * lifted, 0.0, 0.110, -0.030)),
        "brows.lower": p.smooth(outside_eye(p, lower), 6),
        "brows.sad": along_skin(p, p.push(wide * inner * lifted, -0.024, 0.094, 0.0))
        + along_skin(p, p.push(wide * outer * lifted, 0.004, -0.066, 0.0)),
        "brows.inner": along_skin(p, p.push(ends * inner * lifted, -0.006, 0.070, 0.0)),
        "brows.mid": along_skin(p, p.push(ends * middle * lifted, 0.0, 0.062, 0.0)),
        "brows.outer": along_skin(p, p.push(ends * outer * lifted, 0.004, 0.066, 0.0)),
        "brows.knit": p.push(ends * ramp(0.85, 0.0, p.brow) * p.rim(0.5, 0.22), -0.046, -0.018, 0.018),
        "brows.bulge": p.push(_brow_weight(p, 0.10, 0.09) * p.rim(0.4, 0.21), 0.006, -0.008, 0.034),
        "brows.furrow": _furrow(p),
    }


def _brow_weight(p: Places, above: float, below: float | Array) -> Array:
    """(V,) 1 on the ridge, 0 at `above` over it and at `below` under it; only on the outside."""
    ridge = np.interp(p.brow, [0.0, 0.5, 1.0], [0.20, 0.247, 0.175])
    reach = below + (above - below) * ramp(-0.03, 0.06, p.folded[:, 1] - ridge)
    return ramp(1.0, 0.0, p.brow_off / reach)


def along_skin(p: Places, delta: Array) -> Array:
    """The same deltas, led along the surface: a brow that rises straight up would make a shelf of the forehead."""
    normals = p.smooth(p.normals, 8)
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    lifting = np.einsum("vi,vi->v", normals, delta)
    return delta - LIFT_TAKEN_BACK * lifting[:, None] * normals


def _furrow(p: Places) -> Array:
    """A groove between the brows, with a fold on each side of it."""
    x, y, z = p.folded.T
    band = ramp(0.14, 0.0, np.abs(y - 0.215)) * ramp(0.20, 0.30, z)
    groove = np.exp(-((x / 0.020) ** 2)) * -0.030 + np.exp(-(((x - 0.050) / 0.026) ** 2)) * 0.030
    return p.normals * (band * groove)[:, None]


def outside_eye(p: Places, delta: Array) -> Array:
    """The same deltas, led round the eye where they would go through it."""
    centre = np.array(EYE) * np.stack([np.where(p.points[:, 0] < 0, -1.0, 1.0), *np.ones((2, len(p)))], axis=1)
    moved = p.points + delta - centre
    distance = np.linalg.norm(moved, axis=1)
    wanted = np.maximum(distance, np.minimum(p.eye, EYE_CLEARANCE + 0.02))
    return centre + moved * (wanted / np.maximum(distance, 1e-9))[:, None] - p.points


def _eyes(p: Places) -> dict[str, Array]:
    near = ramp(0.29, 0.17, p.eye) * ramp(-0.05, 0.10, p.points[:, 2]) * ramp(-0.03, -0.005, p.depth)
    above = ramp(0.0, 0.12, p.folded[:, 1] - EYE[1])
    below = ramp(0.0, -0.12, p.folded[:, 1] - EYE[1])
    outer = p.blob([0.345, 0.02, 0.17], (0.13, 0.15, 0.14))
    squint = p.push(near * below, 0.0, 0.034, 0.010) + p.push(near * above, 0.0, -0.022, 0.010)
    squint += p.push(outer, -0.010, 0.0, 0.024)
    bags = p.normals * (0.018 * np.exp(-(((p.eye - 0.205) / 0.022) ** 2)) * below * near)[:, None]
    bags += p.push(near * below, 0.0, -0.012, 0.004)
    return {"lids.squint": outside_eye(p, squint), "lids.bags": bags}


def _nose(p: Places) -> dict[str, Array]:
    wing = p.blob(NOSTRIL, 0.095)
    side = p.blob([0.110, 0.020, 0.430], (0.10, 0.10, 0.14))
    wrinkle = p.push(side, -0.004, 0.034, -0.006) + p.push(wing, 0.008, 0.020)
    ridges = 0.012 * np.sin(95.0 * (p.folded[:, 2] - 0.30)) * p.blob([0.075, 0.045, 0.385], (0.075, 0.08, 0.12))
    wrinkle += p.normals * ridges[:, None]
    tip = p.blob([0.0, -0.045, 0.53], (0.19, 0.13, 0.17))
    sideways = np.zeros((len(p), 3))
    sideways[:, 0] = 0.040 * tip
    return {
        "nose.flare": p.push(wing, 0.034, 0.014, -0.006),
        "nose.wrinkle": wrinkle * p.rim(0.2)[:, None],
        "nose.up": p.push(tip, 0.0, 0.040, 0.006),
        "nose.side": sideways,
    }


def _neck(p: Places) -> dict[str, Array]:
    x, y, z = p.folded.T
    front = ramp(-0.24, -0.12, z) * ramp(-0.20, -0.30, y)
    cords = np.exp(-(((x - 0.100) / 0.030) ** 2)) * front * ramp(-0.95, -0.80, y) * ramp(-0.30, -0.42, y)
    hollow = np.exp(-((x / 0.050) ** 2)) * front * ramp(-0.90, -0.70, y) * ramp(-0.34, -0.46, y)
    swell = p.blob([0.0, -0.46, -0.09], (0.20, 0.30, 0.20))
    return {
        "neck.breath": p.normals * (0.026 * swell * front)[:, None],
        "neck.swallow_high": p.normals * (0.034 * p.blob([0, -0.44, -0.09], (0.14, 0.11, 0.15)))[:, None],
        "neck.swallow": p.normals * (0.034 * p.blob([0, -0.62, -0.06], (0.15, 0.12, 0.16)))[:, None],
        "neck.tense": p.normals * (0.024 * cords - 0.012 * hollow)[:, None],
        "neck.pouch": p.push(
            p.blob([0, -0.36, 0.04], (0.26, 0.24, 0.30)) * ramp(-0.02, -0.004, p.depth), 0, -0.060, 0.060
        )
        + p.normals
        * (0.050 * p.blob([0, -0.36, 0.02], (0.24, 0.22, 0.28)))[:, None]
        * ramp(-0.02, -0.004, p.depth)[:, None],
    }


CHEEK = (0.300, -0.040, 0.140)
LINING_ROUNDS = 12  # rounds of smoothing inside the mouth
O_JAW_DEGREES = 18.0  # degrees of jaw for which the sides of the O are made to meet


def mouth_shapes(p: Places) -> dict[str, Array]:
    """Name without side -> (V, 3) deltas in HL of both sides together."""
    result = {**_corners(p), **_lips(p), **_round(p), **_cheeks(p)}
    rounds = {
        "mouth.smile": 9,
        "mouth.frown": 12,
        "mouth.funnel": 20,
        "mouth.purse": 20,
        "mouth.o": 20,
        "mouth.narrow": 24,
    }
    return {
        name: _lined(p, p.smooth(delta * p.rim(0.14, 0.235)[:, None], rounds.get(name, 6)))
        for name, delta in result.items()
    }


def _lined(p: Places, delta: Array) -> Array:
    """The same deltas with the mouth's lining, whose triangles are long and thin, following evenly."""
    return p.smooth(delta, LINING_ROUNDS, held=p.depth > -0.012)


def correctives(p: Places) -> dict[str, Array]:
    """What two controls need together, besides what each does alone (see `drives.txt`)."""
    smile = p.push(p.blob([0.33, -0.02, 0.11], 0.15), 0.018, 0.014, 0.004)
    smile += p.lip(p.lower(0.16), up=[(0, 0), (0.4, 0.006), (0.7, 0.018), (1, 0.004), (1.3, 0)])
    frown = p.lip(
        both_lips(p, 0.14, 0.22),
        up=[(0, 0.008), (0.3, -0.010), (0.6, -0.028), (1, -0.026), (1.4, 0)],
        along=[(0, 0), (0.5, 0.006), (0.9, 0.012), (1.4, 0)],
    )
    folds = 0.014 * p.blob([0.125, 0.0, 0.455], (0.07, 0.07, 0.09)) * (1 + 0.5 * np.sin(110.0 * p.folded[:, 1]))
    snarl = p.normals * folds[:, None] + p.lip(p.upper(0.10), up=[(0, 0.004), (0.3, 0.010), (0.6, 0.002), (1, 0)])
    soft = {"mouth.smile_open": smile, "mouth.frown_open": frown, "nose.snarl": snarl}
    result = {name: p.smooth(delta * p.rim(0.14, 0.235)[:, None], 6) for name, delta in soft.items()}
    result["mouth.o_open"] = p.smooth(_o_sides(p), 6)
    return {name: _lined(p, delta) for name, delta in result.items()}


def both_lips(p: Places, upper: float | Array, lower: float | Array) -> Array:
    """(V,) both lips and the skin behind the corner, with reaches above and below the line."""
    return np.maximum(p.upper(upper), p.lower(lower))


def _corners(p: Places) -> dict[str, Array]:
    lips = both_lips(p, 0.15, 0.20)
    behind_eye = ramp(0.70, 1.0, p.arc)  # where there is room above the mouth's line
    smile = p.lip(
        both_lips(p, 0.14 + 0.14 * behind_eye, 0.20),
        along=[(0, 0), (0.5, 0.012), (0.8, 0.034), (1, 0.046), (1.2, 0.026), (1.5, 0)],
        up=[(0, -0.012), (0.2, -0.002), (0.45, 0.022), (0.75, 0.044), (1, 0.066), (1.2, 0.044), (1.6, 0)],
        out=[(0, -0.004), (0.5, 0.006), (1, 0.022), (1.5, 0)],
    )
    smile += p.push(p.blob(CHEEK, 0.18), 0.028, 0.022, 0.004)
    frown = p.lip(
        both_lips(p, 0.16, 0.24),
        along=[(0, 0), (0.6, -0.008), (1, -0.024), (1.5, 0)],
        up=[(0, 0.034), (0.14, 0.022), (0.3, -0.022), (0.5, -0.056), (0.8, -0.056), (1, -0.048), (1.5, 0)],
        out=[(0, 0.006), (0.4, 0.004), (1, -0.012), (1.5, 0)],
    )
    return {
        "mouth.smile": smile,
        "mouth.frown": frown,
        "mouth.stretch": p.lip(
            lips,
            along=[(0, 0), (0.3, 0.012), (0.7, 0.040), (1, 0.056), (1.2, 0.034), (1.5, 0)],
            up=[(0, 0.004), (0.4, -0.008), (0.8, -0.014), (1.5, 0)],
            out=[(0, -0.012), (0.4, -0.004), (0.8, 0.016), (1, 0.018), (1.5, 0)],
        ),
        "mouth.narrow": p.lip(
            both_lips(p, 0.18, 0.24),
            along=[(0, 0), (0.2, -0.026), (0.5, -0.052), (1, -0.072), (1.25, -0.045), (1.7, 0)],
            up=[(0, 0), (0.4, -0.012), (0.8, -0.026), (1, -0.026), (1.5, 0)],
            out=[(0, 0.018), (0.25, 0.006), (0.5, -0.022), (0.9, -0.026), (1.5, 0)],
        ),
        "mouth.corner_in_roll": p.push(p.blob(measures.CORNER, (0.11, 0.09, 0.12)), -0.034, 0.0, 0.012),
    }


def _lips(p: Places) -> dict[str, Array]:
    upper, lower = p.upper(0.14), p.lower(0.16)
    sneer = p.lip(
        upper,
        up=[(0, 0.010), (0.18, 0.048), (0.34, 0.056), (0.55, 0.020), (0.8, 0.004), (1, 0)],
        out=[(0, 0.004), (0.2, 0.010), (0.4, 0.014), (0.6, 0.004), (1, 0)],
    )
    sneer += p.push(p.blob([0.085, -0.015, 0.52], 0.10), 0.010, 0.024, -0.006)
    press = p.lip(p.upper(0.05), up=[(0, -0.007), (1, -0.003)], out=[(0, -0.016), (0.8, -0.012), (1, 0)])
    press += p.lip(p.lower(0.05), up=[(0, 0.012), (1, 0.004)], out=[(0, -0.018), (0.8, -0.012), (1, 0)])
    press += p.lip(p.lower(0.14), up=[(0, 0.012), (0.5, 0.008), (1, 0)])
    pout = p.lip(
        lower,
        up=[(0, 0.026), (0.18, 0.020), (0.4, -0.014), (0.8, -0.016), (1.2, 0)],
        out=[(0, 0.066), (0.18, 0.056), (0.4, 0.010), (1, 0)],
    )
    pout += p.lip(p.upper(0.10), up=[(0, 0.012), (0.2, 0.008), (0.45, -0.006), (1, 0)])
    return {
        "mouth.sneer": sneer,
        "mouth.upper_up": p.lip(
            upper,
            up=[(0, 0.046), (0.3, 0.050), (0.55, 0.026), (0.85, 0.008), (1, 0)],
            out=[(0, 0.008), (0.4, 0.010), (0.8, 0)],
        ),
        "mouth.upper_down": p.lip(
            upper, up=[(0, -0.026), (0.4, -0.026), (0.8, -0.012), (1, 0)], out=[(0, -0.008), (1, 0)]
        ),
        "mouth.lower_down": p.lip(
            lower,
            up=[(0, -0.046), (0.3, -0.048), (0.6, -0.034), (0.85, -0.014), (1, 0)],
            out=[(0, 0.010), (0.5, 0.012), (1, 0)],
        ),
        "mouth.lower_up": p.lip(lower, up=[(0, 0.026), (0.4, 0.026), (0.8, 0.012), (1, 0)], out=[(0, 0.010), (1, 0)]),
        "mouth.press": press,
        "mouth.pout": pout,
        "mouth.shift": _shift(p),
        "mouth.chin_up": p.push(p.blob([0, -0.26, 0.46], (0.15, 0.13, 0.15)), 0, 0.034, 0.016)
        + p.lip(lower, up=[(0, 0.020), (0.2, 0.014), (0.5, 0), (1, 0)], out=[(0, 0.016), (0.4, 0)]),
        "mouth.upper_mid": p.lip(p.upper(0.13), up=[(0, 0.032), (0.12, 0.026), (0.34, 0)]),
        "mouth.lower_mid": p.lip(p.lower(0.14), up=[(0, 0.032), (0.12, 0.026), (0.34, 0)]),
    }


def _shift(p: Places) -> Array:
    """The lips' front to the left: x is of the world here, not outwards."""
    delta = np.zeros((len(p), 3))
    delta[:, 0] = both_lips(p, 0.17, 0.22) * p.profile([(0, 0.062), (0.35, 0.050), (0.7, 0.026), (1, 0.020), (1.5, 0)])
    return delta


def _round(p: Places) -> dict[str, Array]:
    """Lips gathered to the front: an open funnel, a shut purse, and the O at rest of the jaw."""
    lips = both_lips(p, 0.16, 0.22)
    funnel = p.lip(
        lips,
        along=[(0, 0), (0.15, -0.016), (0.35, -0.040), (0.7, -0.056), (1, -0.070), (1.3, -0.036), (1.7, 0)],
        up=[(0, 0), (0.3, -0.006), (0.6, -0.022), (1, -0.030), (1.5, 0)],
        out=[(0, 0.046), (0.15, 0.040), (0.32, 0.014), (0.5, -0.016), (0.9, -0.020), (1.5, 0)],
    )
    funnel += p.lip(p.upper(0.12), up=[(0, 0.018), (0.15, 0.014), (0.35, 0)])
    funnel += p.lip(p.lower(0.14), up=[(0, -0.026), (0.15, -0.020), (0.35, 0)])
    purse = p.lip(
        lips,
        along=[(0, 0), (0.12, -0.026), (0.3, -0.076), (0.6, -0.076), (1, -0.070), (1.3, -0.036), (1.7, 0)],
        up=[(0, 0.006), (0.14, 0.002), (0.32, -0.028), (0.7, -0.048), (1, -0.040), (1.5, 0)],
        out=[(0, 0.070), (0.1, 0.064), (0.26, 0.012), (0.42, -0.026), (0.9, -0.024), (1.5, 0)],
    )
    purse += p.lip(both_lips(p, 0.07, 0.08), out=[(0, 0.030), (0.08, 0.026), (0.2, 0)])
    o = p.lip(
        both_lips(p, 0.18, 0.24),
        along=[
            (0, 0),
            (0.1, -0.012),
            (0.2, -0.036),
            (0.32, -0.074),
            (0.6, -0.070),
            (1, -0.060),
            (1.3, -0.030),
            (1.7, 0),
        ],
        up=[(0, 0), (0.25, -0.004), (0.45, -0.030), (0.8, -0.046), (1, -0.036), (1.5, 0)],
        out=[(0, 0.040), (0.15, 0.036), (0.3, 0.012), (0.5, -0.018), (0.9, -0.024), (1.5, 0)],
    )
    o += p.lip(p.upper(0.12), up=[(0, 0.024), (0.12, 0.018), (0.3, 0)])
    o += p.lip(p.lower(0.14), up=[(0, -0.024), (0.12, -0.018), (0.3, 0)])
    return {"mouth.funnel": funnel, "mouth.purse": purse, "mouth.o": o}


def _o_sides(p: Places) -> Array:
    """What an open jaw needs besides `mouth.o`: beside the O, from arc 0.27 on, upper and lower lip meet.

    Measured for O_JAW degrees, where the edges of the lips then lie on a circle of radius 0.11 in front and on one line
    behind it.
    """
    down = p.lip(
        p.upper(0.15, 0.13) * p.rim(0.10, 0.205),
        along=[(0, 0), (0.15, -0.004), (0.3, -0.020), (0.5, -0.012), (1, 0)],
        up=[
            (0, 0.004),
            (0.1, -0.008),
            (0.2, -0.080),
            (0.28, -0.132),
            (0.4, -0.118),
            (0.6, -0.088),
            (1, -0.044),
            (1.4, 0),
        ],
    )
    up = p.lip(
        p.lower(0.26, 0.13),
        along=[(0, 0), (0.15, -0.004), (0.3, -0.020), (0.5, -0.012), (1, 0)],
        up=[(0, 0.024), (0.1, 0.034), (0.2, 0.076), (0.28, 0.130), (0.6, 0.098), (0.8, 0.072), (1, 0.024), (1.4, 0)],
    )
    return down + up


def _cheeks(p: Places) -> dict[str, Array]:
    full = p.blob([0.28, -0.12, 0.11], (0.23, 0.22, 0.25)) * ramp(-0.05, -0.01, p.depth)
    full = full * (1 - 0.55 * np.exp(-((p.height / 0.040) ** 2)))  # the lips hold, the cheek swells above and below
    puff = p.push(full, 0.045, 0.0, 0.012) + p.smooth(p.normals, 6) * (0.090 * full)[:, None]
    puff += p.lip(both_lips(p, 0.12, 0.18), out=[(0, 0.006), (0.3, 0.014), (0.6, 0.016), (1, 0.006), (1.3, 0)])
    dimple = p.push(p.blob([0.385, -0.085, 0.015], (0.07, 0.07, 0.07)), -0.030)
    dimple += p.push(p.blob([0.365, -0.02, 0.10], 0.10), 0.014, 0.010)
    clench = p.push(p.blob([0.31, -0.17, -0.02], (0.13, 0.12, 0.13)), 0.034, -0.004)
    clench += p.push(p.blob([0.36, 0.19, -0.06], 0.13), 0.014)
    clench += p.push(p.blob([0.36, -0.09, 0.06], 0.10), 0.006, -0.010)
    return {
        "cheeks.puff": puff,
        "cheeks.raise": p.push(p.blob([0.30, -0.06, 0.20], (0.16, 0.13, 0.18)), 0.022, 0.040, 0.008),
        "cheeks.dimple": dimple,
        "jaw.clench": clench,
    }


LID_EDGE_DEGREES = 20.0  # degrees of the lids' tilt and curve shapes
RIB_DEGREES = 25.0  # degrees of the ribs' shapes
PUPIL_GROWTH, IRIS_GROWTH = 0.4, 0.15  # by how much those shapes enlarge
SPIKE_DEGREES = 28.0  # degrees that a spike is raised
Pieces = dict[str, Array]  # piece -> (v, 3) deltas in HL


def part_shapes(body: Body) -> dict[str, Pieces]:
    """Name without side -> the left pieces (or those of the midline) that it moves."""
    return {
        **_lid_shapes(body),
        **_eyeball_shapes(body),
        **_fin_shapes(body),
        **_spike_shapes(body),
        **_tongue_shapes(body),
    }


def edge_shift(body: Body, which: str, degrees: Array) -> Array:
    """(v, 3) a lid whose edge is turned by `degrees` (v,) about the corner axis, hidden end and corners at rest."""
    lid = body.lids[which]
    along = np.radians(parts.LID_SPAN * lid.a)
    return _lid_tangent(along, np.radians(lid.beta), lid.radius) * (np.radians(degrees) * lid.share)[:, None]


def shadow_shift(a: Array, beta: Array, degrees: Array) -> Array:
    """(v, 3) the same for the shadow under the upper lid, at places a and beta (v,)."""
    height = np.full(len(a), parts.SHADOW_HEIGHT)
    return _lid_tangent(np.radians(parts.LID_SPAN * a), np.radians(beta), height) * np.radians(degrees)[:, None]


def shadow_places(body: Body) -> tuple[Array, Array]:
    """(v,) a and beta, in degrees, of the left shadow's vertices."""
    local = (body.points[body.pieces["LidShadow.L"]] - EYE) @ eye_frame().T / (EYE_RADIUS * parts.SHADOW_HEIGHT)
    return (
        np.degrees(np.arcsin(np.clip(local[:, 0], -1, 1))) / parts.LID_SPAN,
        np.degrees(np.arctan2(local[:, 1], local[:, 2])),
    )


def _lid_tangent(along: Array, beta: Array, radius: Array) -> Array:
    """(v, 3) derivative of places on the lid by beta."""
    way = np.stack([0 * beta, np.cos(along) * np.cos(beta), -np.cos(along) * np.sin(beta)], axis=1)
    return EYE_RADIUS * radius[:, None] * way @ eye_frame()


def _lid_shapes(body: Body) -> dict[str, Pieces]:
    a, beta = shadow_places(body)
    result = {}
    for name, which, power in (
        ("lids.tilt", "Upper", 1),
        ("lids.curve", "Upper", 2),
        ("lids.lower_tilt", "Lower", 1),
        ("lids.lower_curve", "Lower", 2),
    ):
        pieces = {f"Lid{which}.L": edge_shift(body, which, LID_EDGE_DEGREES * body.lids[which].a ** power)}
        if which == "Upper":
            pieces["LidShadow.L"] = shadow_shift(a, beta, LID_EDGE_DEGREES * a**power)
        result[name] = pieces
    return result


def _eyeball_shapes(body: Body) -> dict[str, Pieces]:
    ball = body.eyeball

    def grown(**sizes: float) -> Array:
        """Half of the way from the smaller to the larger eye: exact slope on both sides."""
        more = parts.on_eye(ball.ring, ball.azimuth, **sizes)
        less = parts.on_eye(ball.ring, ball.azimuth, **{name: 2 - size for name, size in sizes.items()})
        return EYE_RADIUS * 0.5 * (more - less) @ ball.axes

    return {
        "eyes.pupil": {"Eyeball.L": grown(pupil=1 + PUPIL_GROWTH)},
        "eyes.iris": {"Eyeball.L": grown(iris=1 + IRIS_GROWTH, pupil=1 + 0.6 * IRIS_GROWTH)},
    }


def fan(body: Body) -> tuple[Array, Array, Array, Array]:
    """The left fin in its own plane, (v,) each: distance from the root, radians, height over the plane, rib number."""
    local = (body.points[body.pieces["Fin.L"]] - EAR_ROOT) @ body.fin.axes.T
    return np.hypot(local[:, 0], local[:, 1]), np.arctan2(local[:, 1], local[:, 0]), local[:, 2], body.fin.across


def unfan(body: Body, reach: Array, angle: Array, height: Array) -> Array:
    """(v, 3) deltas of the left fin for new places in its plane."""
    local = np.stack([reach * np.cos(angle), reach * np.sin(angle), height], axis=1)
    return EAR_ROOT + local @ body.fin.axes - body.points[body.pieces["Fin.L"]]


def _fin_shapes(body: Body) -> dict[str, Pieces]:
    reach, angle, height, across = fan(body)
    along = body.fin.along
    middle = np.radians(12.0)
    pleat = np.cos(2 * np.pi * across)
    folded = unfan(
        body,
        reach * (1 - 0.06 * along),
        middle + (angle - middle) * (1 - 0.72 * ramp(0.0, 0.15, along)),
        height + 0.020 * pleat * ramp(0.0, 0.5, along),
    )
    spread = unfan(body, reach * (1 + 0.10 * along), middle + (angle - middle) * 1.40, height)
    cup = unfan(body, reach, angle, height + 0.14 * along**2 * (0.25 + ((across - 1.5) / 1.5) ** 2))
    result = {"ears.fold": {"Fin.L": folded}, "ears.spread": {"Fin.L": spread}, "ears.cup": {"Fin.L": cup}}
    for rib in range(len(parts.RIBS)):
        near = ramp(1.0, 0.0, np.abs(across - rib)) * ramp(0.0, 0.35, along)
        result[f"ears.rib{rib + 1}"] = {"Fin.L": unfan(body, reach, angle + np.radians(RIB_DEGREES) * near, height)}
    return result


def _spike_shapes(body: Body) -> dict[str, Pieces]:
    result: dict[str, Pieces] = {f"neck.{place}_spikes": {} for place in ("crown", "nape", "neck")}
    turn = np.radians(SPIKE_DEGREES)
    for spike in body.spikes:
        y, z = (spike.patch.vertices - spike.base).T[1:]
        # leaning backwards is a turn about x with the sign of (outwards x back); raising undoes it
        tip = spike.patch.vertices[np.argmax((spike.patch.vertices - spike.base) @ spike.outwards)] - spike.base
        lean = np.sign(spike.outwards[1] * tip[2] - spike.outwards[2] * tip[1])
        s, c = np.sin(-lean * turn), np.cos(turn)
        grow = 1.12
        moved = np.stack([0 * y, grow * (c * y - s * z) - y, grow * (s * y + c * z) - z], axis=1)
        result[f"neck.{spike.place}_spikes"][spike.patch.name] = moved
    return result


def _tongue_shapes(body: Body) -> dict[str, Pieces]:
    points = body.points[body.pieces["Tongue"]]
    along = ramp(0.05, 0.35, body.tongue.along)
    middle = np.interp(points[:, 2], *_tongue_line(body))
    wide = np.stack([0.30 * points[:, 0] * along, -0.35 * (points[:, 1] - middle) * along, 0 * along], axis=1)
    return {"tongue.wide": {"Tongue": wide}}


def _tongue_line(body: Body) -> tuple[Array, Array]:
    """z and y of the tongue's middle line, from root to tip."""
    points, along = body.points[body.pieces["Tongue"]], body.tongue.along
    stations = np.unique(along)
    rings = [points[along == station].mean(axis=0) for station in stations]
    line = np.array(rings)
    order = np.argsort(line[:, 2])
    return line[order, 2], line[order, 1]


TUCKED = {
    "mouth.purse": 0.040,
    "mouth.pout": 0.030,
    "mouth.funnel": 0.030,
    "mouth.o": 0.045,
    "mouth.o_open": 0.020,
    "mouth.narrow": 0.012,
    "mouth.press": 0.010,
}
"""HL by which shapes draw the teeth in behind the lips."""
BARED = {"mouth.sneer": 0.45, "mouth.upper_up": 0.45, "mouth.lower_down": 0.4}
"""Shares of a lip's way that its teeth do not take: they are bared."""
CORRECTIVES = (  # shapes that no control is named after
    *(
        f"{name}.{side}"
        for name in ("mouth.o_open", "mouth.smile_open", "mouth.frown_open", "nose.snarl")
        for side in "LR"
    ),
    "neck.swallow_high",
)
MENDED = ("jaw.side", "jaw.roll", "jaw.forward")  # bones that would fold the mouth's lining


def coarse_shapes(body: Body, places: Places) -> dict[str, Array]:
    """Shape -> (V, 3) deltas of the whole character in HL; sides written out."""
    whole, controls = Whole(body), dragon_controls()
    carried = Carried(body, controls, (*controls.names, *CORRECTIVES))
    on_skin = {**mouth_shapes(places), **correctives(places), **upper_face_shapes(places)}
    result: dict[str, Array] = {}
    for name, both_sides in on_skin.items():
        sided = f"{name}.L" in controls or f"{name}.L" in CORRECTIVES
        own = f"{name}.L" if sided else name
        delta = whole.left(both_sides) if sided else both_sides
        delta = unfold(places, delta, _ends(controls, own), carried.by(own))
        moved = whole.skin(delta, TUCKED.get(name, 0.0), BARED.get(name, 0.0))
        result |= whole.pair(name, moved) if sided else {name: whole.centre(moved, _flips(controls, name))}
    for name in MENDED:
        result[name] = whole.centre(whole.skin(_mended(places, carried, controls, name)), _flips(controls, name))
    for name, pieces in part_shapes(body).items():
        delta = whole.pieces(pieces)
        result |= {name: whole.centre(delta, False)} if name in controls else whole.pair(name, delta)
    return result


def _ends(controls: Controls, name: str) -> tuple[float, ...]:
    """How far from rest the control of a shape goes; a corrective is used as it was made."""
    if name not in controls:
        return (1.0,)
    number = controls.index(name)
    ends = (controls.low[number], controls.high[number])
    return tuple(float(end - controls.rest[number]) for end in ends if end != controls.rest[number])


def _flips(controls: Controls, name: str) -> bool:
    return name in controls and bool(controls.odd[controls.index(name)])


def _mended(places: Places, carried: Carried, controls: Controls, name: str) -> Array:
    """(v, 3) what has to be added to the jaw's motion at the end of its range so that nothing folds."""
    swung = carried.of_jaw(name, float(controls.high[controls.index(name)]))
    return unfold(places, swung, (1.0, -1.0)) - swung


FINE_ROUNDS = 3  # of smoothing
RIM_SPAN = np.radians(82.0)  # from the middle of the eye's opening to its corner
RIM_RADIUS = 0.172  # HL from the eye's centre to the rim


def fine_shapes(body: Body, places: Places) -> dict[str, Array]:
    """Shape -> (V, 3) deltas of the whole character in HL; sides written out."""
    whole = Whole(body)
    result: dict[str, Array] = {}
    for place in fine_places():
        for name, direction in zip(place.controls, place.directions or ("",)):
            if place.where[0] == "rib" or place.name.startswith(("lids.edge", "tongue")):
                delta = whole.pieces(_on_pieces(body, place, direction))
            else:
                skin = places.smooth(_on_skin(places, place, direction), FINE_ROUNDS)
                skin = whole.left(skin) if place.sided else skin
                delta = whole.skin(unfold(places, skin, (-1.0, 1.0)))
            result |= whole.pair(name, delta) if place.sided else {name: whole.centre(delta, False)}
    return result


def _on_skin(p: Places, place: FinePlace, direction: str) -> Array:
    """(v, 3) both sides of one bump."""
    if place.where[0] == "lip":
        return _on_lip(p, place, direction)
    if place.where[0] == "rim":
        return _on_rim(p, place)
    vertex = int(np.argmin(np.linalg.norm(p.folded - np.array(place.where, float), axis=1) - 0.2 * p.depth))
    weight = p.blob(p.folded[vertex], place.reach) * ramp(-0.03, -0.01, p.depth) * _same_lip(p, p.low[vertex])
    if place.name.partition(".")[0] in ("cheeks", "mouth", "nose", "brows"):
        weight = weight * p.rim(0.25)
    moved = _moved(p, weight * place.height, direction)
    return along_skin(p, moved) if place.name.startswith("brows") and direction != "out" else moved


def _moved(p: Places, weight: Array, direction: str) -> Array:
    if direction == "up":
        return p.push(weight, y=1.0)
    if direction == "in":
        return p.push(weight, x=-1.0)
    return p.smooth(p.normals, 6) * weight[:, None]


def _same_lip(p: Places, low: float) -> Array:
    """(v,) 1 on the lip that the place is on; at the corner both are one."""
    if 0.2 < low < 0.8:
        return np.ones(len(p))
    return p.low if low > 0.5 else 1 - p.low


def _on_lip(p: Places, place: FinePlace, direction: str) -> Array:
    arc = float(place.where[1])
    if direction == "in":
        centre = p.lip_place(arc, True)
        return p.push(p.blob(centre, place.reach) * place.height, x=-1.0, z=0.35)
    upper = "upper" in place.name
    reach = 1.6 * place.reach
    band = p.upper(reach) if upper else p.lower(reach)
    weight = band * ramp(1.0, 0.0, np.abs(p.arc - arc) * p.lip_length / (1.3 * place.reach))
    height = place.height
    if direction == "up":
        return p.lip(weight, up=[(0, height), (1, height)])
    if direction == "out":
        return p.lip(weight, out=[(0, height), (1, height)])
    edge = weight * ramp(0.045, 0.005, np.abs(p.height))
    away = height if upper else -height
    return p.lip(edge, up=[(0, 0.6 * away), (1, 0.6 * away)], out=[(0, height), (1, height)])


def _on_rim(p: Places, place: FinePlace) -> Array:
    """The skin at the eye's opening raised along the eye, not through it."""
    angle = RIM_SPAN * float(place.where[1])
    above = 1.0 if "rim_up" in place.name else -1.0
    toward = np.array([0.80 * np.sin(angle), above * 0.80 * np.cos(angle), 0.60])
    centre = EYE + RIM_RADIUS * toward @ eye_frame()
    vertex = int(np.argmin(np.linalg.norm(p.folded - centre, axis=1)))
    weight = p.blob(p.folded[vertex], place.reach) * ramp(-0.06, -0.02, p.depth) * (1 - p.low)
    return outside_eye(p, p.push(weight * place.height, y=1.0))


def _on_pieces(body: Body, place: FinePlace, direction: str) -> dict[str, Array]:
    """The left pieces (or the tongue) of one bump that is not on the skin."""
    if place.name.startswith("tongue"):
        points = body.points[body.pieces["Tongue"]]
        weight = np.exp(-((points[:, 0] / 0.04) ** 2)) * ramp(0.1, 0.4, body.tongue.along)
        return {"Tongue": (place.height * weight)[:, None] * np.array([0.0, 1.0, 0.0])}
    where = float(place.where[1])
    if place.name.startswith("lids"):
        which = "Upper" if "edge_up" in place.name else "Lower"
        pieces = {f"Lid{which}.L": edge_shift(body, which, _bump(body.lids[which].a, where, place))}
        if which == "Upper":
            a, beta = shadow_places(body)
            pieces["LidShadow.L"] = shadow_shift(a, beta, _bump(a, where, place))
        return pieces
    reach, angle, height, across = fan(body)
    near, along = np.exp(-(((across - where) / place.reach) ** 2)), body.fin.along
    if direction == "long":
        return {"Fin.L": unfan(body, reach + place.height * near * along**2, angle, height)}
    swell = near * ramp(0.15, 0.65, along) * (1.0 if where % 1 == 0 else ramp(1.15, 0.75, along))
    return {"Fin.L": unfan(body, reach, angle, height + place.height * swell)}


def _bump(a: Array, where: float, place: FinePlace) -> Array:
    """(v,) degrees by which the lid's edge is raised along its length."""
    return place.height * np.exp(-(((a - where) / place.reach) ** 2)) * ramp(1.0, 0.9, np.abs(a))
