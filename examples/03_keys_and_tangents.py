"""An animation made from keys with free tangents: a nod that anticipates, overshoots and settles."""

import numpy as np

import understudy as us
from understudy.character.curve import BEZIER, Channel, Curve

# One channel, three columns: angles about x, y, z. Keys at rest, back a little, down, past it, settled.
nod = Channel("Head", "euler", ("x", "y", "z"))
times = np.array([0.0, 0.25, 0.6, 0.85, 1.2])
angles = np.radians([[0, 0, 0], [-8, 0, 0], [30, 0, 4], [24, 0, 3], [26, 0, 3]])

# A tangent is an offset (dt, dv) for each column; flat ones ease in and out, long ones hold longer.
ease = np.zeros((len(times), 3, 2))
ease[..., 0] = 0.4 * np.diff(times, append=times[-1] + 0.35)[:, None]
arrive = np.zeros_like(ease)
arrive[..., 0] = 0.4 * np.diff(times, prepend=times[0] - 0.35)[:, None]
curves = us.Curves("nod", [Curve(nod, times, angles, BEZIER, arrive, ease)])

lamp = us.load("lamp").character()
rows = us.rig_of(lamp).pose(curves, np.linspace(0, 1.2, 30))
print(f"{curves.key_count} keys make {len(rows)} rows of {rows.shape[1]} columns")

# glTF knows no free tangents and no Euler angles: the note says what became of them.
for note in us.save(curves, "nod.glb", lamp):
    print("note:", note)
