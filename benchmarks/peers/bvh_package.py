"""Parsing a BVH with the `bvh` package: as it parses (numbers left as text), and with all its frames as numbers."""

import importlib.metadata
import json
import sys
import time
from pathlib import Path

import numpy as np
from bvh import Bvh

text = Path(sys.argv[1]).read_text()
runs, numbers = [], []
for _ in range(3):
    begin = time.perf_counter()
    motion = Bvh(text)
    runs.append((time.perf_counter() - begin) * 1e3)
    np.array(motion.frames, dtype=float)
    numbers.append((time.perf_counter() - begin) * 1e3)
facts = {"ms": float(np.median(runs)), "ms_frames": float(np.median(numbers)), "frames": motion.nframes}
print(json.dumps({**facts, "version": importlib.metadata.version("bvh")}))
