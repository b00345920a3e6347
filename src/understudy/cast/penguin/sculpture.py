"""The penguin's solids, in metres: one egg of a body, and flippers, legs and scarf that are surfaces of their own.

Flippers and legs grow out of the body without a common skin: so a flipper can be raised above the head and a leg swung
forwards without the belly folding, as on a toy with joints. Their round roots lie within the body.
"""

from __future__ import annotations

from understudy.cast.sculpting.clay import Clay, above, bar, ellipsoid, lopsided, ring

BODY = Clay(
    (
        ellipsoid("Hips", (0, 0.25, 0), (0.240, 0.20, 0.215)),
        ellipsoid("Spine", (0, 0.36, 0.008), (0.262, 0.23, 0.238), 0.15),
        ellipsoid("Chest", (0, 0.51, 0), (0.215, 0.19, 0.195), 0.15),
        ellipsoid("Neck", (0, 0.655, 0.005), (0.150, 0.11, 0.140), 0.09),
        ellipsoid("Head", (0, 0.785, 0.015), (0.208, 0.188, 0.192), 0.08),
        ellipsoid("Head", (0.100, 0.735, 0.095), (0.092, 0.075, 0.080), 0.08),  # cheek
        ellipsoid("Head", (0.0812, 0.8055, 0.1335), (0.0685, 0.0685, 0.0685), 0.025),  # what the eye lies in
        bar("Tail", (0, 0.15, -0.19), (0, 0.085, -0.31), 0.065, 0.016, 0.08),
        above(0.035, 0.05),
    )
)

FLIPPER = Clay(
    (
        ellipsoid("LeftFlipper", (0.222, 0.545, 0.0), (0.046, 0.060, 0.072), 0.05, (0, 0, 24)),
        ellipsoid("LeftFlipper", (0.272, 0.470, 0.0), (0.036, 0.125, 0.082), 0.06, (0, 0, 28)),
        ellipsoid("LeftFlipperTip", (0.336, 0.352, 0.004), (0.025, 0.120, 0.062), 0.05, (0, 0, 27)),
        ellipsoid("LeftFlipperTip", (0.372, 0.270, 0.006), (0.018, 0.062, 0.042), 0.05, (0, 0, 27)),
    )
)

LEG = Clay(
    (
        bar("LeftLeg", (0.11, 0.15, 0), (0.115, 0.055, 0.01), 0.075, 0.056, 0.07),
        ellipsoid("LeftFoot", (0.120, 0.034, 0.045), (0.074, 0.036, 0.095), 0.03),
        *(
            bar("LeftToe", (0.120, 0.032, 0.07), (x, 0.027, z), 0.032, 0.030, 0.022)
            for x, z in ((0.060, 0.165), (0.122, 0.192), (0.184, 0.165))
        ),
        above(0.002, 0.012),
    )
)

SCARF = Clay(
    (
        ring("Neck", (0, 0.628, 0.008), 0.172, 0.046, 0.02, (7, 0, 0), 1.10),
        *lopsided(
            (
                ellipsoid("Chest", (0.095, 0.592, 0.188), (0.050, 0.044, 0.042), 0.025),  # knot
                ellipsoid("Chest", (0.122, 0.500, 0.226), (0.048, 0.092, 0.022), 0.02, (-14, 10, 12)),
                ellipsoid("Chest", (0.062, 0.515, 0.228), (0.042, 0.074, 0.020), 0.015, (-14, 0, -8)),
            )
        ),
    )
)

DRESSED = Clay((*BODY.solids, *SCARF.solids))  # limbs throw no lasting shade: they move away
