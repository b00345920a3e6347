"""Ray's backend for joblib, which yields results as they arrive, like joblib's other backends."""

from __future__ import annotations

from ray.util.joblib.ray_backend import RayBackend as ListBackend


class RayBackend(ListBackend):
    """Enables generators, which the parent class inherits as disabled from joblib's process pool."""

    supports_return_generator = True
