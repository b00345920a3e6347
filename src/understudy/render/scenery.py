"""Backdrop, grid and the figure's shadow on the ground, in NumPy: the fallback's stage."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.render.camera import Camera
from understudy.render.frame import Frame
from understudy.render.look import GROUND_EXTENT, Lights, Look
from understudy.render.raster import rasterise
from understudy.render.scene import Stage
from understudy.render.shading import smoothstep

SHADOW_PIXELS = 320


def off_centre(columns: Array, rows: Array, width: int, height: int) -> Array:
    """Distance of pixels from the middle of the light, in picture widths and heights."""
    return np.hypot((columns + 0.5) / width - 0.5, (rows + 0.5) / height - 0.48)


def vignette(look: Look, columns: Array, rows: Array, width: int, height: int) -> Array:
    """Factor (N,) that darkens the corners."""
    return 1.0 - look.vignette * smoothstep(0.35, 0.8, off_centre(columns, rows, width, height))


def ground_depth(camera: Camera, stage: Stage, width: int, height: int) -> Array:
    """Depth (H, W) of the ground plane at each pixel, 1 where it is not seen.

    A plane p.x = 0 in the world is q.c = 0 in clip space with q = p world_from_clip, so on the screen its depth is
    affine: z = -(q_x x + q_y y + q_w) / q_z.
    """
    if stage.ground is None or camera.eye[1] <= stage.ground:
        return np.ones((height, width))
    q = np.array([0.0, 1.0, 0.0, -stage.ground]) @ np.linalg.inv(camera.clip_from_world)
    x = (np.arange(width) + 0.5) / width * 2.0 - 1.0
    y = 1.0 - (np.arange(height) + 0.5) / height * 2.0
    z = -(q[0] * x + (q[1] * y + q[3])[:, None]) / q[2]
    # A hair further away than it is, so that soles that lie on it are not torn.
    return np.where((z > -1.0) & (z < 1.0), z + 1e-6, 1.0)


def paint_scenery(look: Look, lights: Lights, camera: Camera, frame: Frame, width: int, height: int) -> Array:
    """The empty stage (H, W, 3) sRGB with the figure's shadow: soft all over, so one sample a pixel is enough."""
    columns, rows = np.arange(width), np.arange(height)[:, None]
    blend = smoothstep(0.12, 0.95, off_centre(columns, rows, width, height))[..., None]
    picture = look.inner + (look.outer - look.inner) * blend
    hit = np.nonzero(ground_depth(camera, frame.stage, width, height) < 1.0)
    if len(hit[0]):
        scale = np.tan(0.5 * camera.fov)
        x = ((hit[1] + 0.5) / width * 2.0 - 1.0) * scale * camera.aspect
        y = (1.0 - (hit[0] + 0.5) / height * 2.0) * scale
        axes, eye = camera.view[:3, :3], np.asarray(camera.eye)
        ray = x[:, None] * axes[0] + y[:, None] * axes[1] - axes[2]  # one unit along the view
        assert frame.stage.ground is not None
        distance = (frame.stage.ground - eye[1]) / ray[:, 1]
        place = eye[[0, 2]] + distance[:, None] * ray[:, [0, 2]]
        # World length that a pixel covers on the ground, seen at a slant.
        pixel = 2.0 * scale / height * distance / np.maximum(-ray[:, 1] / np.linalg.norm(ray, axis=1), 0.05)
        picture[hit] = _ground(look, lights, camera, frame, place, pixel, picture[hit])
    return picture * vignette(look, columns, rows, width, height)[..., None]


def _ground(
    look: Look, lights: Lights, camera: Camera, frame: Frame, place: Array, pixel: Array, behind: Array
) -> Array:
    """Colours (N, 3) of points of the ground at place (N, 2), each seen by a pixel of a given world length (N,)."""
    stage = frame.stage
    extent = GROUND_EXTENT * max(stage.size, stage.reach)
    middle = np.array([camera.target[0], camera.target[2]])
    near = 1.0 - smoothstep(0.15 * extent, 0.42 * extent, np.linalg.norm(place - middle, axis=1))
    offset = np.abs(place / stage.grid - np.round(place / stage.grid)) * stage.grid
    line = np.minimum(0.006 * stage.size / np.maximum(pixel, 1e-9), 1.0)[:, None] * (offset < 0.5 * pixel[:, None])
    covered = 1.0 - (1.0 - line[:, 0]) * (1.0 - line[:, 1])
    colour = behind + (look.grid - behind) * (look.grid_strength * near * covered)[:, None]
    dark = _shadow(look, lights, frame, place)
    return colour + (look.shadow - colour) * dark[:, None]


def _shadow(look: Look, lights: Lights, frame: Frame, place: Array) -> Array:
    """Darkness (N,) in [0, 1] at points of the ground: the figure pressed along the key light, and straight down."""
    from scipy.ndimage import gaussian_filter, map_coordinates

    stage = frame.stage
    assert stage.ground is not None
    slant = lights.key[[0, 2]] / lights.key[1]
    under = frame.centre[[0, 2]]
    along = under - slant * max(float(frame.centre[1]) - stage.ground, 0.0)
    result = np.ones(len(place))
    for centre, shift, reach, strength, falloff, blur in (
        (along, slant, stage.reach * (1.15 + float(np.linalg.norm(slant))), look.shadow_strength, np.inf, 0.018),
        (under, np.zeros(2), 1.3 * stage.reach, look.contact_strength, 0.045, 0.03),
    ):
        covered = np.zeros((SHADOW_PIXELS, SHADOW_PIXELS))
        for part in frame.parts:
            if not part.surface.shadows or not len(part.surface.triangles):
                continue
            h = part.vertices[:, 1].astype(np.float64) - stage.ground
            flat = (part.vertices[:, [0, 2]] - shift * h[:, None] - centre) / reach
            screen = np.concatenate([(flat * 0.5 + 0.5) * SHADOW_PIXELS, (h / (4.0 * stage.size))[:, None]], axis=1)
            seen = rasterise(screen[part.surface.triangles], SHADOW_PIXELS, SHADOW_PIXELS)
            height = np.where(seen.triangle >= 0, np.maximum(4.0 * seen.depth, 0.0), np.inf)
            covered = np.maximum(covered, np.exp(-height / falloff) if np.isfinite(falloff) else seen.triangle >= 0)
        soft = gaussian_filter(covered, blur * stage.size / (2.0 * reach) * SHADOW_PIXELS)
        at = ((place - centre) / reach * 0.5 + 0.5) * SHADOW_PIXELS - 0.5
        result *= 1.0 - strength * map_coordinates(soft, at[:, ::-1].T, order=1, mode="constant")
    return 1.0 - result
