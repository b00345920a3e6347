"""Ray's backend for joblib, which here hands out results as they arrive, as joblib's other backends do."""

from __future__ import annotations

from ray.util.joblib.ray_backend import RayBackend as ListBackend


class RayBackend(ListBackend):
    """As its parent. The flag is off there only because joblib's pool of processes, its own parent, has it off."""

    supports_return_generator = True
