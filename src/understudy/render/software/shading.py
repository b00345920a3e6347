"""The lighting model in NumPy, as in the shaders of `opengl.shaders`, for arrays of pixels; also backdrop and ground.

With normal n, view v, albedo a, ambient visibility o, key light K from direction k, fill F from f, hemisphere H(n) from
the bounce below to the sky above, and o' a visibility that is warmer on soft surfaces:

    diffuse  = (1 - metallic) a (K (0.65 + 0.35 o') wrap(n.k) + F max(n.f, 0) o + H(n) o')
    specular = K ggx(n, v, k) fresnel + surroundings(reflection) fresnel_v
    rim      = R (1 - n.v)^3 o^2 smoothstep(n.r)
    coat     = specular of a clear layer over the smooth normal, which dims what is below it
    colour   = to_srgb(filmic(exposure (diffuse + specular + rim + coat + emissive)))

The figure's shadow on itself is left out. `paint_scenery` draws the backdrop, the grid and the shadow on the ground.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths.colour import to_srgb
from understudy.maths.resample import smoothstep
from understudy.render.camera import Camera
from understudy.render.renderer import RenderFrame
from understudy.render.scene import GROUND_EXTENT, Floor, Lights, SceneStyle, SurfaceFinish
from understudy.render.software.raster import rasterise

SHADOW_PIXELS = 320  # a side of the shadow map


def filmic(x: Array) -> Array:
    """Narkowicz' fit of the ACES tone curve."""
    return np.clip((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0)


@dataclass(frozen=True)
class ShadingPoints:
    """N points of one surface, for `shade`."""

    normals: Array  # (N, 3) unit, with their bumps
    smooth: Array  # (N, 3) unit, without
    views: Array  # (N, 3) unit, towards the eye
    albedo: Array  # (N, 3) linear
    open_sky: Array  # (N,)
    roughness: Array  # (N,)
    metallic: Array  # (N,)
    height: Array  # (N,) above the ground, in figure sizes


def shade(look: SceneStyle, lights: Lights, p: ShadingPoints, finish: SurfaceFinish) -> Array:
    """sRGB colours (N, 3) of points."""
    if finish.unlit:
        return to_srgb(p.albedo)
    n, v, a, soft = p.normals, p.views, p.albedo, finish.softness
    r, m = np.maximum(p.roughness, 0.12)[:, None], p.metallic[:, None]
    h = np.minimum(np.maximum(p.height, 0.0) / 0.09, 1e9)
    near_ground = 1.0 / (1.0 + h + h * h)
    o = (p.open_sky * (1.0 - 0.45 * near_ground * (0.5 - 0.5 * n[:, 1])))[:, None]
    open_rgb = _warm_falloff(o, soft)
    nk, wrap = (n @ lights.key)[:, None], 0.25 * soft
    key = np.clip((nk + wrap) / (1.0 + wrap) ** 2, 0.0, 1.0)
    terminator = 0.28 * soft * smoothstep(-0.35, 0.15, nk) * smoothstep(0.55, 0.1, nk)
    glow = terminator * a * np.array([1.0, 0.32, 0.18])
    hemisphere = look.bounce + (look.sky - look.bounce) * (0.5 * n[:, 1:2] + 0.5)
    diffuse = look.key * (0.65 + 0.35 * open_rgb) * (key + glow) + hemisphere * open_rgb
    diffuse = diffuse + look.fill * np.maximum(n @ lights.fill, 0.0)[:, None] * o
    through = look.rim * np.maximum(-(n @ lights.rim), 0.0)[:, None] + look.key * np.maximum(-nk, 0.0)
    c = (1.0 - m) * a * (diffuse + finish.translucency * through * o)

    f0 = 0.04 * finish.specular * (1.0 - m) + a * m
    grazing = finish.specular + (1.0 - finish.specular) * m
    shine, f5 = _gloss(n, v, lights.key, r)
    c = c + look.key * shine * o * (f0 + (grazing - f0) * f5)
    away = (1.0 - np.maximum(_dot(n, v), 0.0)) ** 5
    fresnel = f0 * (1.0 - away) + grazing * np.maximum(1.0 - r, 0.04) * away
    c = c + _surroundings(look, n, v) * o * o * (1.0 - 0.5 * r) * fresnel

    form = _unit(0.3 * n + 0.7 * p.smooth)
    across = 1.0 - np.maximum(_dot(form, v), 0.0)
    edge = across**3 * o * o
    c = c + np.array(finish.sheen) * (0.5 * look.key * key + look.sky) * across**2 * o * o
    white = np.minimum(5.0 * a.max(axis=1, keepdims=True), 1.0)
    c = c + look.rim * edge * smoothstep(-0.1, 0.7, form @ lights.rim)[:, None] * (0.55 * a + 0.45 * white)
    c = c + look.back * edge * smoothstep(0.0, 0.8, form @ lights.back)[:, None] * (0.6 * a + 0.4 * white)
    if finish.clearcoat:
        wet = 0.04 + 0.96 * (1.0 - np.maximum(_dot(p.smooth, v), 0.0)) ** 5
        shine, f5 = _gloss(p.smooth, v, lights.key, np.full_like(r, max(finish.clearcoat_roughness, 0.1)))
        film = look.key * shine * (0.04 + 0.96 * f5) + _surroundings(look, p.smooth, v) * wet * o
        c = c * (1.0 - finish.clearcoat * wet) + finish.clearcoat * film
    return to_srgb(filmic((c + np.array(finish.emissive)) * look.exposure))


def _warm_falloff(x: Array, soft: float) -> Array:
    """About x^0.72, x^1.1, x^1.2 (N, 3) of x (N, 1): on soft surfaces red fades last."""
    bent = np.concatenate([0.45 * x + 0.55 * np.sqrt(x), x * (0.88 + 0.12 * x), x * (0.78 + 0.22 * x)], axis=1)
    return x + soft * (bent - x)


def _surroundings(look: SceneStyle, n: Array, v: Array) -> Array:
    """(N, 3) the light of the surroundings in the mirror direction: ground below, sky above."""
    up = 2.0 * _dot(n, v) * n[:, 1:2] - v[:, 1:2]
    return look.bounce + (look.sky - look.bounce) * smoothstep(-0.5, 0.7, up)


def _gloss(n: Array, v: Array, light: Array, r: Array) -> tuple[Array, Array]:
    """GGX times n.l with Schlick's masking, and the fifth power of his Fresnel term, each (N, 1)."""
    h = _unit(v + light)
    nh, f5 = np.maximum(_dot(n, h), 0.0), (1.0 - np.maximum(_dot(v, h), 0.0)) ** 5
    nl, nv = np.maximum(n @ light, 0.0)[:, None], np.maximum(_dot(n, v), 0.05)
    a2, k = r**4, (r + 1.0) ** 2 / 8.0
    spread = a2 / (np.pi * (nh * nh * (a2 - 1.0) + 1.0) ** 2)
    return spread * 0.25 * nl / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k)), f5


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("ni,ni->n", a, b)[:, None]


def _unit(a: Array) -> Array:
    return a / np.maximum(np.linalg.norm(a, axis=1, keepdims=True), 1e-9)


def distance_from_centre(columns: Array, rows: Array, width: int, height: int) -> Array:
    """Distance of pixels from the centre of the backdrop, in picture widths and heights."""
    return np.hypot((columns + 0.5) / width - 0.5, (rows + 0.5) / height - 0.48)


def vignette(look: SceneStyle, columns: Array, rows: Array, width: int, height: int) -> Array:
    """Factor (N,) that darkens the corners."""
    return 1.0 - look.vignette * smoothstep(0.35, 0.8, distance_from_centre(columns, rows, width, height))


def ground_depth(camera: Camera, stage: Floor, width: int, height: int) -> Array:
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
    # Slightly farther, so that soles on the ground do not flicker.
    return np.where((z > -1.0) & (z < 1.0), z + 1e-6, 1.0)


def paint_scenery(
    look: SceneStyle, lights: Lights, camera: Camera, frame: RenderFrame, width: int, height: int
) -> Array:
    """The scene without the figure (H, W, 3) sRGB, with its shadow; it is soft, so one sample a pixel is enough."""
    columns, rows = np.arange(width), np.arange(height)[:, None]
    blend = smoothstep(0.12, 0.95, distance_from_centre(columns, rows, width, height))[..., None]
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
        picture[hit] = _ground_colours(look, lights, camera, frame, place, pixel, picture[hit])
    return picture * vignette(look, columns, rows, width, height)[..., None]


def _ground_colours(
    look: SceneStyle, lights: Lights, camera: Camera, frame: RenderFrame, place: Array, pixel: Array, behind: Array
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


def _shadow(look: SceneStyle, lights: Lights, frame: RenderFrame, place: Array) -> Array:
    """Darkness (N,) in [0, 1] at points of the ground: the figure projected along the key light, and straight down."""
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
