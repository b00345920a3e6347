"""GLSL: the light on a surface, with the model of `software.shading` and the figure's shadow on itself; and the scene:
backdrop, grid, shadows on the ground, and marks.
"""

from __future__ import annotations

COMMON = """#version 330
uniform vec2 resolution;
uniform vec3 inner_colour, outer_colour;
uniform float vignette;

// Linear to sRGB within 0.002, by roots: on a processor three times as fast as the power.
vec3 encode(vec3 c) {
    vec3 r2 = sqrt(c), r4 = sqrt(r2), r8 = sqrt(r4);
    return max(0.585122381 * r2 + 0.783140355 * r4 - 0.368262736 * r8, 0.0);
}
float off_centre() {
    return length(gl_FragCoord.xy / resolution - vec2(0.5, 0.52));
}
vec3 backdrop() {
    return mix(inner_colour, outer_colour, smoothstep(0.12, 0.95, off_centre()));
}
float vignetted() {
    return 1.0 - vignette * smoothstep(0.35, 0.8, off_centre());
}
// A fixed fine grain, below one step of 8 bits, keeps the soft gradients from banding.
float grain() {
    return (fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5) / 255.0;
}
vec3 finish(vec3 c) {
    return c * vignetted() + grain();
}
"""

# Three texels for each finish: what `FinishTable` writes.
FINISHES = """
uniform sampler2D finishes;
struct Finish { float softness, specular, coat, coat_roughness, translucency, unlit; vec3 sheen, emissive; };
Finish finish_of(int id) {
    vec4 a = texelFetch(finishes, ivec2(0, id), 0), b = texelFetch(finishes, ivec2(1, id), 0);
    vec4 c = texelFetch(finishes, ivec2(2, id), 0);
    return Finish(a.x, a.y, a.z, a.w, b.w, c.w, b.rgb, c.rgb);
}
"""

# Distances in the light's own space are those of its clip space: x and y over `reach`, z away from the light.
SHADOW = """
uniform mat4 light_from_world;
uniform sampler2DShadow shadow_map;
uniform sampler2D shadow_depth;
uniform float shadow_texel, normal_offset, penumbra;  // the latter: growth of the blur for each unit of distance

// Points spread evenly over the unit disc, on Vogel's spiral: the i-th of some, each turned on by the golden angle.
const vec2 GOLDEN[9] = vec2[](vec2(0.955, 0.296), vec2(-0.904, 0.427), vec2(0.378, -0.926), vec2(0.347, 0.938),
    vec2(-0.889, -0.457), vec2(0.965, -0.263), vec2(-0.533, 0.846), vec2(-0.178, -0.984), vec2(0.796, 0.605));
vec2 on_disc(int i, int some) { return sqrt((float(i) + 0.5) / float(some)) * GOLDEN[i]; }
const int NEAR_TAPS = 4, TAPS = 7 + 2 * FINE;

// In finer pictures four neighbouring pixels turn the points by four angles: averaged, they are four times as many.
const vec2 TURNS[4] = vec2[](vec2(1.000, 0.000), vec2(0.697, 0.717), vec2(-0.029, 1.000), vec2(-0.737, 0.676));
mat2 turn_here() {
    vec2 t = TURNS[FINE * ((int(gl_FragCoord.x) & 1) + 2 * (int(gl_FragCoord.y) & 1))];
    return mat2(t.x, t.y, -t.y, t.x);
}

// How much of the key light arrives, 0 to 1. The blur is as wide as the light's disc seen past what hides it: sharp
// where a lid lies on an eye, soft where a chin is far above a throat.
float lit(vec3 at, vec3 n) {
    vec3 in_light = (light_from_world * vec4(at + n * normal_offset, 1.0)).xyz;
    vec3 across = mat3(light_from_world) * n;
    // The surface's own plane in the light's space: taps beside the point are compared with it, not with the point.
    vec2 slope = clamp(-across.xy / min(across.z, -1e-3 * length(across)), -2.0, 2.0);
    mat2 turn = turn_here();
    float widest = 16.0 * shadow_texel, distance = 0.0, hidden = 1e-4;  // in clip space, whose width is 2
    for (int i = 0; i < NEAR_TAPS; i++) {
        vec2 d = widest * (turn * on_disc(i, NEAR_TAPS));
        float behind = in_light.z + dot(slope, d) - 2.0 * shadow_texel
            - (textureLod(shadow_depth, 0.5 * (in_light.xy + d) + 0.5, 0.0).r * 2.0 - 1.0);
        float covered = behind > 0.0 ? 1.0 : 0.0;
        distance += covered * behind;
        hidden += covered;
    }
    float radius = clamp(penumbra * distance / hidden, 3.0 * shadow_texel, widest), s = 0.0;
    for (int i = 0; i < TAPS; i++) {
        vec2 d = radius * (turn * on_disc(i, TAPS));
        s += textureLod(shadow_map, 0.5 * vec3(in_light.xy + d, in_light.z + dot(slope, d)) + 0.5, 0.0);
    }
    return any(greaterThan(abs(in_light), vec3(1.0))) ? 1.0 : s / float(TAPS);  // beyond the map nothing is known
}
"""

LIGHTING = """
uniform float ground, size, exposure;
uniform vec3 eye;
uniform vec3 key_direction, fill_direction, rim_direction, back_direction;
uniform vec3 key_light, fill_light, rim_light, back_light, sky_light, bounce_light;

float fifth(float x) { return x * x * x * x * x; }

// GGX with Schlick's masking, times n.l; the Fresnel term is f5 + (1 - f5) f0.
float gloss(vec3 n, vec3 v, vec3 l, float r, out float f5) {
    vec3 h = normalize(v + l);
    float a2 = r * r * r * r, nh = max(dot(n, h), 0.0);
    float d = nh * nh * (a2 - 1.0) + 1.0;
    float nl = max(dot(n, l), 0.0), nv = max(dot(n, v), 0.05), k = (r + 1.0) * (r + 1.0) / 8.0;
    f5 = fifth(1.0 - max(dot(v, h), 0.0));
    return a2 / (3.14159265 * d * d) * nl / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k)) * 0.25;
}

vec3 surroundings(vec3 direction) { return mix(bounce_light, sky_light, smoothstep(-0.5, 0.7, direction.y)); }

vec3 filmic(vec3 x) { return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0); }

// x^0.72, x^1.1, x^1.2 for x in [0, 1], within 0.02 and without powers: red fades last.
vec3 warmed(float x, float soft) {
    return mix(vec3(x), vec3(mix(x, sqrt(x), 0.55), x * mix(1.0, x, 0.12), x * mix(1.0, x, 0.22)), soft);
}

// n: the normal with its bumps; smooth_n: without them, for what sees the form only (shadow, rim, wet layer).
vec3 shaded(vec3 a, vec3 n, vec3 smooth_n, vec3 at, float roughness, float metallic, float open_sky, Finish f) {
    vec3 v = normalize(eye - at);
    float s = lit(at, smooth_n), soft = f.softness;
    // Near the ground less of the sky, and of the light thrown back by the ground, gets in.
    float h = max(at.y - ground, 0.0) / (0.09 * size), near_ground = 1.0 / (1.0 + h + h * h);
    float o = open_sky * (1.0 - 0.45 * near_ground * (0.5 - 0.5 * n.y));
    // Light that goes in and comes out elsewhere is red: hollows and the edges of shadows are warm in soft things.
    vec3 open_rgb = warmed(o, soft), shadow_rgb = 0.1 + 0.9 * warmed(s, soft);

    float nk = dot(n, key_direction), wrap = 0.25 * soft;
    float key = clamp((nk + wrap) / ((1.0 + wrap) * (1.0 + wrap)), 0.0, 1.0);
    vec3 glow = vec3(1.0, 0.32, 0.18) * a * soft * 0.28 * smoothstep(-0.35, 0.15, nk) * smoothstep(0.55, 0.1, nk);
    vec3 diffuse = key_light * (0.65 + 0.35 * open_rgb) * (key * shadow_rgb + glow * (0.3 + 0.7 * s))
        + fill_light * max(dot(n, fill_direction), 0.0) * o + mix(bounce_light, sky_light, n.y * 0.5 + 0.5) * open_rgb;
    diffuse += f.translucency * (rim_light * max(-dot(n, rim_direction), 0.0) + key_light * max(-nk, 0.0)) * o;
    vec3 c = (1.0 - metallic) * a * diffuse;

    vec3 f0 = mix(vec3(0.04 * f.specular), a, metallic);
    float f5, r = max(roughness, 0.12), g = gloss(n, v, key_direction, r, f5) * o * s;
    float grazing = mix(f.specular, 1.0, metallic);
    c += key_light * g * (f0 + (grazing - f0) * f5);
    float away = fifth(1.0 - max(dot(n, v), 0.0));
    vec3 mirrored = f0 * (1.0 - away) + grazing * max(1.0 - r, 0.04) * away;
    c += surroundings(reflect(-v, n)) * o * o * (1.0 - 0.5 * r) * mirrored;

    vec3 m = normalize(mix(n, smooth_n, 0.7));
    float across = 1.0 - max(dot(m, v), 0.0), edge = across * across * across * o * o;
    c += f.sheen * (0.5 * key_light * key * s + sky_light) * across * across * o * o;
    // Half of it is the colour of the light; less in what is nearly black, such as the inside of a mouth.
    float white = min(5.0 * max(max(a.r, a.g), a.b), 1.0);
    c += rim_light * edge * smoothstep(-0.1, 0.7, dot(m, rim_direction)) * (0.55 * a + 0.45 * white);
    c += back_light * edge * smoothstep(0.0, 0.8, dot(m, back_direction)) * (0.6 * a + 0.4 * white);

    float wet = 0.04 + 0.96 * fifth(1.0 - max(dot(smooth_n, v), 0.0)), c5;
    float shine = gloss(smooth_n, v, key_direction, max(f.coat_roughness, 0.1), c5) * s;
    vec3 film = key_light * shine * (0.04 + 0.96 * c5) + surroundings(reflect(-v, smooth_n)) * wet * o;
    c = c * (1.0 - f.coat * wet) + f.coat * film + f.emissive;
    return encode(mix(filmic(c * exposure), a, f.unlit));
}
"""


GROUND_VERTEX = """#version 330
uniform mat4 clip_from_world;
uniform vec4 rectangle;
uniform float ground;
out vec2 place;
void main() {
    place = mix(rectangle.xy, rectangle.zw, vec2(gl_VertexID & 1, gl_VertexID >> 1));
    gl_Position = clip_from_world * vec4(place.x, ground, place.y, 1.0);
}
"""

GRID_FRAGMENT = (
    COMMON
    + """
in vec2 place;
out vec4 pixel;
uniform vec2 middle;
uniform vec3 grid_colour;
uniform float extent, grid, size, grid_strength;

// Part of the pixel that lines of the grid cover: the integral of the lines over the pixel's footprint, so no moire.
float lines(vec2 p, float spacing, float widest) {
    vec2 f = max(fwidth(p), 1e-6) * 1.2, width = min(vec2(widest), 1.5 * f);
    vec2 a = p + 0.5 * (f + width), b = p - 0.5 * (f - width);
    vec2 covered = (floor(a / spacing) * width + min(mod(a, spacing), width)
        - floor(b / spacing) * width - min(mod(b, spacing), width)) / f;
    return 1.0 - (1.0 - covered.x) * (1.0 - covered.y);
}

void main() {
    float near = 1.0 - smoothstep(0.15 * extent, 0.42 * extent, length(place - middle));
    vec3 c = mix(backdrop(), grid_colour, grid_strength * near * lines(place, grid, 0.006 * size));
    pixel = vec4(finish(c), 1.0);
}
"""
)

GROUND_SHADOW_FRAGMENT = (
    COMMON
    + """
in vec2 place;
out vec4 pixel;
uniform sampler2D cast_map, cast_soft, cast_softer, contact_map;
uniform mat4 light_from_world;
uniform vec3 shadow_colour;
uniform vec2 contact_centre;
uniform float ground, contact_reach, shadow_strength, contact_strength;

// Red: how much of the area is covered; green: the same times the height of what covers it. The higher, the softer.
float cast_shadow() {
    vec2 uv = (light_from_world * vec4(place.x, ground, place.y, 1.0)).xy * 0.5 + 0.5;
    vec2 softer = texture(cast_softer, uv).rg;
    float height = softer.g / max(softer.r, 0.004);
    float near = mix(texture(cast_map, uv).r, texture(cast_soft, uv).r, smoothstep(-0.15, 0.08, height));
    return mix(near, softer.r, smoothstep(0.05, 0.75, height)) * mix(1.0, 0.75, min(height, 1.0));
}

float contact_shadow() {
    return texture(contact_map, (place - contact_centre) / contact_reach * 0.5 + 0.5).r;
}

void main() {
    float dark = 1.0 - (1.0 - shadow_strength * cast_shadow()) * (1.0 - contact_strength * contact_shadow());
    pixel = vec4(shadow_colour * vignetted(), dark);
}
"""
)

BACKDROP_VERTEX = """#version 330
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 1.0, 1.0); }
"""

BACKDROP_FRAGMENT = COMMON + "out vec4 pixel;\nvoid main() { pixel = vec4(finish(backdrop()), 1.0); }\n"

MARKS_VERTEX = """#version 330
uniform mat4 clip_from_world;
in vec3 position, colour;
out vec3 tint;
out float height;
void main() {
    tint = colour;
    height = position.y;
    gl_Position = clip_from_world * vec4(position, 1.0);
}
"""

MARKS_FRAGMENT = (
    COMMON
    + """
in vec3 tint;
in float height;
out vec4 pixel;
uniform float floor_height;
void main() {
    if (height < floor_height) discard;
    pixel = vec4(finish(encode(tint)), 1.0);
}
"""
)

DEPTH_VERTEX = """#version 330
uniform mat4 light_from_world;
in vec3 position;
void main() { gl_Position = light_from_world * vec4(position, 1.0); }
"""

DEPTH_FRAGMENT = "#version 330\nvoid main() {}\n"

# The key light's depth map as a stencil of the figure. Red: how much of the texel is covered; green: the same times the
# height above the ground of what covers it, which is how far along the light it lies before the ground.
CAST_FRAGMENT = """#version 330
uniform sampler2D shadow_depth;
uniform vec3 ground_plane;  // the ground's depth in the light's clip space, as (x, y, 1) . ground_plane
uniform float height_scale;
uniform vec2 resolution;
out vec4 pixel;
void main() {
    vec2 sum = vec2(0.0);
    for (int i = 0; i < 16; i++) {
        vec2 uv = (floor(gl_FragCoord.xy) + (vec2(i % 4, i / 4) + 0.5) / 4.0) / resolution;
        float depth = textureLod(shadow_depth, uv, 0.0).r;
        float height = height_scale * (dot(ground_plane, vec3(2.0 * uv - 1.0, 1.0)) - (2.0 * depth - 1.0));
        sum += depth < 1.0 && height > -0.01 ? vec2(1.0, max(height, 0.0)) : vec2(0.0);
    }
    pixel = vec4(sum / 16.0, 0.0, 1.0);
}
"""

# The figure seen from below; what is too high to darken the ground beneath it is clipped before it is drawn.
CONTACT_VERTEX = """#version 330
uniform vec2 centre;
uniform float reach, ground, size;
in vec3 position;
out float height;
void main() {
    height = (position.y - ground) / size;
    gl_Position = vec4((position.xz - centre) / reach, clamp(height / 0.2, -1.0, 2.0), 1.0);
}
"""

CONTACT_FRAGMENT = (
    "#version 330\nin float height;\nout vec4 pixel;\nvoid main() { pixel = vec4(exp(-max(height, 0.0) / 0.045)); }\n"
)

TENT_FRAGMENT = """#version 330
uniform sampler2D source;
uniform vec2 resolution, spacing;
out vec4 pixel;
void main() {
    vec2 uv = gl_FragCoord.xy / resolution;
    vec4 sum = vec4(0.0);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            sum += float((2 - abs(i)) * (2 - abs(j))) * texture(source, uv + spacing * vec2(i, j));
    pixel = sum / 16.0;
}
"""
