"""Value and gradient of a GPLVM's likelihood with GPyTorch: exact GP, one covariance for all outputs, by Cholesky."""

import importlib.metadata
import json
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded

import gpytorch
import numpy as np
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
data = np.load(sys.argv[1])
columns = torch.tensor(data["observations"].T.copy())
latents = torch.nn.Parameter(torch.tensor(data["latents"]))
likelihood = gpytorch.likelihoods.GaussianLikelihood()
likelihood.noise = 0.1
covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
covariance.outputscale, covariance.base_kernel.lengthscale = 1.0, 1.0
mean = gpytorch.means.ZeroMean()
parameters = [latents, *covariance.parameters(), *likelihood.parameters()]


def evaluate() -> torch.Tensor:
    for parameter in parameters:
        parameter.grad = None
    fast = gpytorch.settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False)
    with fast:
        observed = likelihood(gpytorch.distributions.MultivariateNormal(mean(latents), covariance(latents)))
        value = observed.log_prob(columns).sum()
    value.backward()
    return value


times = []
for _ in range(20):
    begin = time.process_time()
    found = evaluate()
    times.append(time.process_time() - begin)
ms = float(np.median(times[5:]) * 1e3)
print(json.dumps({"ms": ms, "value": float(found.detach()), "version": importlib.metadata.version("gpytorch")}))
