"""Coarse shapes of mouth, jaw and cheeks.

Lips are moved by profiles along the mouth's line (arc 0 in front, 1 at the corner): the corner lies far back, under and
behind the eye, so that what is seen from the front is made between 0 and 0.6. The resting line curls up into a smile;
`frown`, `o` and `purse` therefore lower the sides more than they raise the middle.
"""

from __future__ import annotations

import numpy as np

from understudy.cast.dragon import measures
from understudy.cast.dragon.places import Places
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array

CHEEK = (0.300, -0.040, 0.140)
LINING = 12  # rounds of smoothing inside the mouth
O_JAW = 18.0  # degrees of jaw for which the sides of the O are made to meet


def shapes(p: Places) -> dict[str, Array]:
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
    return p.smooth(delta, LINING, held=p.depth > -0.012)


def correctives(p: Places) -> dict[str, Array]:
    """What two controls need together, besides what each does alone (see `drives.txt`)."""
    smile = p.push(p.blob([0.33, -0.02, 0.11], 0.15), 0.018, 0.014, 0.004)
    smile += p.lip(p.lower(0.16), up=[(0, 0), (0.4, 0.006), (0.7, 0.018), (1, 0.004), (1.3, 0)])
    frown = p.lip(
        both(p, 0.14, 0.22),
        up=[(0, 0.008), (0.3, -0.010), (0.6, -0.028), (1, -0.026), (1.4, 0)],
        along=[(0, 0), (0.5, 0.006), (0.9, 0.012), (1.4, 0)],
    )
    folds = 0.014 * p.blob([0.125, 0.0, 0.455], (0.07, 0.07, 0.09)) * (1 + 0.5 * np.sin(110.0 * p.folded[:, 1]))
    snarl = p.normals * folds[:, None] + p.lip(p.upper(0.10), up=[(0, 0.004), (0.3, 0.010), (0.6, 0.002), (1, 0)])
    soft = {"mouth.smile_open": smile, "mouth.frown_open": frown, "nose.snarl": snarl}
    result = {name: p.smooth(delta * p.rim(0.14, 0.235)[:, None], 6) for name, delta in soft.items()}
    result["mouth.o_open"] = p.smooth(_o_sides(p), 6)
    return {name: _lined(p, delta) for name, delta in result.items()}


def both(p: Places, upper: float | Array, lower: float | Array) -> Array:
    """(V,) both lips and the skin behind the corner, with reaches above and below the line."""
    return np.maximum(p.upper(upper), p.lower(lower))


def _corners(p: Places) -> dict[str, Array]:
    lips = both(p, 0.15, 0.20)
    behind_eye = ramp(0.70, 1.0, p.arc)  # where there is room above the mouth's line
    smile = p.lip(
        both(p, 0.14 + 0.14 * behind_eye, 0.20),
        along=[(0, 0), (0.5, 0.012), (0.8, 0.034), (1, 0.046), (1.2, 0.026), (1.5, 0)],
        up=[(0, -0.012), (0.2, -0.002), (0.45, 0.022), (0.75, 0.044), (1, 0.066), (1.2, 0.044), (1.6, 0)],
        out=[(0, -0.004), (0.5, 0.006), (1, 0.022), (1.5, 0)],
    )
    smile += p.push(p.blob(CHEEK, 0.18), 0.028, 0.022, 0.004)
    frown = p.lip(
        both(p, 0.16, 0.24),
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
            both(p, 0.18, 0.24),
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
    delta[:, 0] = both(p, 0.17, 0.22) * p.profile([(0, 0.062), (0.35, 0.050), (0.7, 0.026), (1, 0.020), (1.5, 0)])
    return delta


def _round(p: Places) -> dict[str, Array]:
    """Lips gathered to the front: an open funnel, a shut purse, and the O at rest of the jaw."""
    lips = both(p, 0.16, 0.22)
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
    purse += p.lip(both(p, 0.07, 0.08), out=[(0, 0.030), (0.08, 0.026), (0.2, 0)])
    o = p.lip(
        both(p, 0.18, 0.24),
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
    puff += p.lip(both(p, 0.12, 0.18), out=[(0, 0.006), (0.3, 0.014), (0.6, 0.016), (1, 0.006), (1.3, 0)])
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
