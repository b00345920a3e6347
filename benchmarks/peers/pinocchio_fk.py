"""Forward kinematics of all frames by pinocchio, a loop over frames: free-flyer root, spherical joints."""

import json
import sys
import time

import numpy as np
import pinocchio as pin

data = np.load(sys.argv[1])
parents, offsets, root, rotations = data["parents"], data["offsets"], data["root"], data["rotations"]
model, ids = pin.Model(), []
for j, parent in enumerate(parents):
    kind = pin.JointModelFreeFlyer() if parent < 0 else pin.JointModelSpherical()
    place = pin.SE3(np.eye(3), offsets[j] if parent >= 0 else np.zeros(3))
    ids.append(model.addJoint(0 if parent < 0 else ids[parent], kind, place, f"j{j}"))
state = model.createData()
q = np.zeros((len(root), model.nq))
for j, number in enumerate(ids):
    start = model.joints[number].idx_q
    if parents[j] < 0:
        q[:, start : start + 3], start = root, start + 3
    q[:, start : start + 4] = rotations[:, j]


def run(read: bool) -> tuple[float, np.ndarray]:
    positions = np.zeros((len(q), len(ids), 3))
    begin = time.perf_counter()
    for f in range(len(q)):
        pin.forwardKinematics(model, state, q[f])
        if read:
            for j, number in enumerate(ids):
                positions[f, j] = state.oMi[number].translation
    return (time.perf_counter() - begin) * 1e3, positions


run(False)
bare = float(np.median([run(False)[0] for _ in range(5)]))
read, positions = run(True)
print(json.dumps({"ms": bare, "ms_read": read, "checksum": float(np.abs(positions).mean())}))
