"""Linear blend skinning with libigl: the LBS matrix built once, then one product a frame."""

import importlib.metadata
import json
import sys
import time

import igl
import numpy as np

data = np.load(sys.argv[1])
vertices, matrices = data["vertices"].astype(np.float64), data["matrices"]
frames, bones = matrices.shape[:2]
dense = np.zeros((len(vertices), bones))
np.put_along_axis(dense, data["influences"].astype(np.int64), data["weights"].astype(np.float64), 1)
lbs = igl.lbs_matrix(vertices, dense)
stacked = np.ascontiguousarray(matrices[:, :, :3, :].transpose(0, 1, 3, 2)).reshape(frames, bones * 4, 3)

measured = min(frames, 20)
lbs @ stacked[0]
begin = time.perf_counter()
for f in range(measured):
    lbs @ stacked[f]
taken = (time.perf_counter() - begin) * 1e3 * frames / measured
checksum = float(np.mean([np.abs(lbs @ stacked[f]).mean() for f in range(frames)]))
print(json.dumps({"ms": taken, "checksum": checksum, "version": importlib.metadata.version("libigl")}))
