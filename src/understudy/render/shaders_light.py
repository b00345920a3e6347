"""The GLSL of light on a surface: the model that `shading.py` writes out in NumPy, and the shadow on itself."""

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
