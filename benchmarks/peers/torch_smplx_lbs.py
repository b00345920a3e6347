"""Linear blend skinning as smplx does it: dense weights times flattened matrices, then each vertex by its own."""

import json
import sys
import time

import numpy as np
import torch

data = np.load(sys.argv[1])
vertices = torch.from_numpy(data["vertices"])
matrices = torch.from_numpy(data["matrices"].astype(np.float32))
count, bones = len(vertices), matrices.shape[1]
dense = torch.zeros(count, bones).scatter_(
    1, torch.from_numpy(data["influences"]).long(), torch.from_numpy(data["weights"])
)
homogeneous = torch.cat([vertices, torch.ones(count, 1)], dim=1)[..., None]


def frame(f: int) -> torch.Tensor:
    transforms = (dense @ matrices[f].reshape(bones, 16)).view(count, 4, 4)
    return (transforms @ homogeneous)[:, :3, 0]


with torch.no_grad():
    frame(0)
    runs = []
    for _ in range(3):
        total, begin = 0.0, time.perf_counter()
        for f in range(len(matrices)):
            posed = frame(f)
        runs.append((time.perf_counter() - begin) * 1e3)
    total = sum(float(frame(f).abs().mean(dtype=torch.float64)) for f in range(len(matrices)))
print(json.dumps({"ms": float(np.median(runs)), "checksum": total / len(matrices), "version": torch.__version__}))
