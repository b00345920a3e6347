"""Open a renderer: OpenGL if it is available, otherwise NumPy, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput, UnderstudyError
from understudy.render.camera import Camera
from understudy.render.scene import Dots, Floor, Lines, Surface, scene_style

BACKENDS = ("gl", "software")
MAX_PICTURE_PIXELS = 8192  # pixels a side, supersampling included: beyond it drivers refuse the target


class Renderer(Protocol):
    """The interface of both renderers. `backend` is "gl" or "software".

    `reason` says why OpenGL was not used.
    """

    backend: str
    reason: str
    width: int
    height: int

    def draw(
        self,
        camera: Camera,
        surfaces: Sequence[Surface],
        vertices: Sequence[Array],
        normals: Sequence[Array | None] | None = None,
        lines: Sequence[Lines] = (),
        dots: Sequence[Dots] = (),
        stage: Floor | None = None,
    ) -> Array:
        """The picture (H, W, 3) uint8 of one frame: one array of vertices (V, 3), and of normals, for each surface."""

    def distances(self, columns: Array, rows: Array) -> Array:
        """(N,) metres along the view to the nearest solid surface at pixels (N,), (N,) of the picture drawn last.

        Infinite where there is none; the ground does not count.
        """

    def close(self) -> None:
        """Release all resources."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_renderer(
    width: int,
    height: int,
    background: str = "warm",
    prefer: str | None = None,
    supersample: int = 1,
    samples: int = 2,
) -> Renderer:
    """A renderer for pictures of width x height; use it in a `with` statement.

    background: "warm" or "studio". prefer: "gl" or "software" requires one; None takes OpenGL, or else the fallback.
    supersample: draw that many times larger and average, for single pictures.
    samples: number of samples in each direction of a pixel, of which those that differ are shaded (OpenGL only); 1
    leaves edges jagged and takes two thirds of the time, for a live view.
    """
    scene_style(background)
    given = {"width": width, "height": height, "supersample": supersample, "samples": samples}
    for name, value in given.items():
        if not isinstance(value, int) or value < 1:
            raise InvalidInput(f"{name} should be a whole number above zero, but is {value}")
    if max(width, height) * supersample > MAX_PICTURE_PIXELS:
        raise InvalidInput(
            f"a picture of {width} x {height}, supersampled {supersample} times, should have at most "
            f"{MAX_PICTURE_PIXELS} pixels a side"
        )
    if prefer is not None:
        checks.one_of(prefer, "renderer", BACKENDS)
    reason = "asked for"
    if prefer != "software":
        from understudy.render.opengl.renderer import GlRenderer

        try:
            return GlRenderer(width, height, background, samples, supersample)
        except Exception as error:  # drivers and loaders raise many types
            reason = f"no OpenGL here: {str(error).strip() or type(error).__name__}"
            if prefer == "gl":
                raise UnderstudyError(f"pictures with OpenGL are not available; {reason}") from error
    from understudy.render.software.renderer import SoftwareRenderer

    return SoftwareRenderer(width, height, background, supersample=supersample, reason=reason)
