"""Value and gradient of a GPLVM's likelihood with GPy: its own model, asked as its optimiser asks it."""

import importlib.metadata
import json
import os
import sys
import time
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded
warnings.filterwarnings("ignore")

import GPy  # noqa: E402
import numpy as np  # noqa: E402

data = np.load(sys.argv[1])
kernel = GPy.kern.RBF(data["latents"].shape[1], variance=1.0, lengthscale=1.0)
model = GPy.models.GPLVM(data["observations"], data["latents"].shape[1], X=data["latents"].copy(), kernel=kernel)
model.likelihood.variance = 0.1
value = float(model.log_likelihood())
vector = model.optimizer_array.copy()
times = []
for i in range(25):
    begin = time.process_time()
    model._objective_grads(vector + 1e-9 * i)  # a vector that it has not seen, so that nothing is cached
    times.append(time.process_time() - begin)
ms = float(np.median(times[5:]) * 1e3)
print(json.dumps({"ms": ms, "value": value, "version": importlib.metadata.version("GPy")}))
