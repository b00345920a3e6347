"""Mathematics over arrays: rotations, transforms, curves, springs, colours, small solvers.

Pure functions, batch first: any leading dimensions, the last axis holds the quaternion, the vector or the matrix.
Modules are imported by name, `from understudy.maths import quaternion`, and their functions read as
`quaternion.slerp(a, b, t)`.
"""
