"""The GLSL of the OpenGL renderer. The lighting is the one that `shading.py` writes out in NumPy.

Tone curve and vignette are part of the shading, so that MSAA averages finished colours: edges between a bright figure
and a dark ground stay smooth, and no second pass over the picture is needed.
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
vec3 finish(vec3 c) {
    // A fixed fine grain, below one step of 8 bits, keeps the soft gradients from banding.
    float grain = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
    return c * vignetted() + grain / 255.0;
}
"""

# Light is gathered at each pixel, or, for a mesh whose triangles are only a few pixels large, at each vertex: there the
# picture is the same, and on a processor, which shades whole blocks of pixels for each small triangle, several times as
# fast. Every term is linear in the albedo a: colour = a diffuse + specular.
LIGHTING = """
uniform float roughness, metallic, softness, ground, size;
uniform vec3 eye;
uniform vec3 key_direction, fill_direction, rim_direction, back_direction;
uniform vec3 key_light, fill_light, rim_light, back_light, sky_light, bounce_light;

uniform sampler2DShadow shadow_map;
uniform float shadow_texel;

struct Light { vec3 diffuse, specular; };

// Four bilinear taps: a soft edge about three texels of the shadow map wide.
float lit(vec3 in_light) {
    float s = 0.0;
    for (int i = -1; i <= 1; i += 2)
        for (int j = -1; j <= 1; j += 2)
            s += textureLod(shadow_map, vec3(in_light.xy + 0.8 * shadow_texel * vec2(i, j), in_light.z), 0.0);
    return 0.25 * s;
}

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

Light gather(vec3 n, vec3 at, float open_sky, float s) {
    vec3 v = normalize(eye - at);
    float nk = dot(n, key_direction), wrap = 0.25 * softness;
    float key = clamp((nk + wrap) / ((1.0 + wrap) * (1.0 + wrap)), 0.0, 1.0);
    vec3 glow = vec3(1.0, 0.32, 0.18) * softness * 0.14 * smoothstep(-0.35, 0.15, nk) * smoothstep(0.55, 0.1, nk);
    // Near the ground less of the sky, and of the light thrown back by the ground, gets in.
    float h = max(at.y - ground, 0.0) / (0.09 * size), near_ground = 1.0 / (1.0 + h + h * h);
    float o = open_sky * (1.0 - 0.45 * near_ground * (0.5 - 0.5 * n.y));
    vec3 hemisphere = mix(bounce_light, sky_light, n.y * 0.5 + 0.5) * o;
    float dull = 1.0 - metallic, f0 = 0.04 * dull;
    vec3 diffuse = dull * (key_light * (key * mix(0.1, 1.0, s) + glow * mix(0.3, 1.0, s))
        + fill_light * max(dot(n, fill_direction), 0.0) * o + hemisphere);

    float f5, r = max(roughness, 0.12), g = gloss(n, v, key_direction, r, f5) * o * s;
    vec3 specular = key_light * g * (f5 + (1.0 - f5) * f0);
    diffuse += key_light * g * (1.0 - f5) * metallic;
    float nv = max(dot(n, v), 0.0), away = fifth(1.0 - nv);
    vec3 around = mix(bounce_light, sky_light, smoothstep(-0.5, 0.7, reflect(-v, n).y)) * o * (1.0 - 0.5 * r);
    specular += around * (f0 * (1.0 - away) + max(1.0 - r, 0.04) * away);
    diffuse += around * metallic * (1.0 - away);

    float edge = (1.0 - nv) * (1.0 - nv) * (1.0 - nv) * o * o;
    vec3 rim = rim_light * edge * smoothstep(-0.1, 0.7, dot(n, rim_direction));
    vec3 back = back_light * edge * smoothstep(0.0, 0.8, dot(n, back_direction));
    return Light(diffuse + 0.55 * rim + 0.6 * back, specular + 0.45 * rim + 0.4 * back);
}
"""

PLACE = """
uniform mat4 clip_from_world, light_from_world;
uniform float normal_offset, floor_height;
in vec3 position, normal;
in vec4 colour;
in vec2 uv;
in float occlusion;
out vec4 tint;
out vec2 texel;
vec3 place() {
    tint = colour;
    texel = uv;
    gl_Position = clip_from_world * vec4(position, 1.0);
    gl_ClipDistance[0] = position.y - floor_height;
    return (light_from_world * vec4(position + normal * normal_offset, 1.0)).xyz * 0.5 + 0.5;
}
"""

SURFACE_VERTEX = f"""#version 330
{PLACE}
out vec3 world, direction, in_light;
out float open_sky;
void main() {{
    in_light = place();
    world = position;
    direction = normal;
    open_sky = occlusion;
}}
"""

DENSE_VERTEX = f"""#version 330
{LIGHTING}
{PLACE}
uniform float facing;
out vec3 diffuse, specular;
void main() {{
    vec3 in_light = place();
    Light light = gather(facing * normal, position, occlusion, lit(in_light));
    diffuse = light.diffuse;
    specular = light.specular;
}}
"""

FINISH_SURFACE = """
in vec4 tint;
in vec2 texel;
out vec4 pixel;
uniform sampler2D base_map;
uniform bool textured;
uniform int alpha_mode;
uniform float alpha_cutoff, exposure;
uniform vec3 emissive;

vec3 filmic(vec3 x) { return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0); }

void put(vec3 diffuse, vec3 specular) {
    vec4 base = tint;
    if (textured) {
        vec4 t = texture(base_map, texel);
        base *= vec4(t.rgb * (t.rgb * (t.rgb * 0.305306011 + 0.682171111) + 0.012522878), t.a);  // from sRGB
    }
    if (alpha_mode == 1 && base.a < alpha_cutoff) discard;
    vec3 light = base.rgb * diffuse + specular + emissive;
    pixel = vec4(finish(encode(filmic(light * exposure))), alpha_mode == 2 ? base.a : 1.0);
}
"""

SURFACE_FRAGMENT = f"""{COMMON}{LIGHTING}{FINISH_SURFACE}
in vec3 world, direction, in_light;
in float open_sky;
void main() {{
    vec3 n = normalize(gl_FrontFacing ? direction : -direction);
    Light light = gather(n, world, open_sky, lit(in_light));
    put(light.diffuse, light.specular);
}}
"""

DENSE_FRAGMENT = f"""{COMMON}{FINISH_SURFACE}
in vec3 diffuse, specular;
void main() {{ put(diffuse, specular); }}
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
uniform vec3 shadow_colour;
uniform vec2 cast_centre, contact_centre;
uniform float cast_reach, contact_reach, shadow_strength, contact_strength;

// Red: how much of the area is covered; green: the same times the height of what covers it. The higher, the softer.
float cast_shadow() {
    vec2 uv = (place - cast_centre) / cast_reach * 0.5 + 0.5;
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

# The figure's samples, averaged with the empty ones as transparent, over ground and backdrop.
OVER_FRAGMENT = """#version 330
uniform sampler2DMS figure_map;
uniform int samples;
out vec4 pixel;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < samples; i++) sum += texelFetch(figure_map, ivec2(gl_FragCoord.xy), i);
    pixel = sum / float(samples);
}
"""

MARKS_VERTEX = """#version 330
uniform mat4 clip_from_world;
uniform float floor_height;
in vec3 position, colour;
out vec3 tint;
void main() {
    tint = colour;
    gl_Position = clip_from_world * vec4(position, 1.0);
    gl_ClipDistance[0] = position.y - floor_height;
}
"""

MARKS_FRAGMENT = COMMON + "in vec3 tint;\nout vec4 pixel;\nvoid main() { pixel = vec4(finish(encode(tint)), 1.0); }\n"

DEPTH_VERTEX = """#version 330
uniform mat4 light_from_world;
in vec3 position;
void main() { gl_Position = light_from_world * vec4(position, 1.0); }
"""

DEPTH_FRAGMENT = "#version 330\nvoid main() {}\n"

# The figure seen from below, pressed flat on the ground along `slant` (horizontal shift for each metre of height).
PRESSED_VERTEX = """#version 330
uniform vec2 centre, slant;
uniform float reach, ground, size;
in vec3 position;
out float height;
void main() {
    float h = position.y - ground;
    height = h / size;
    gl_Position = vec4((position.xz - slant * h - centre) / reach, clamp(height * 0.25, -1.0, 1.0), 1.0);
}
"""

CAST_FRAGMENT = (
    "#version 330\nin float height;\nout vec4 pixel;\nvoid main() { pixel = vec4(1.0, max(height, 0.0), 0.0, 1.0); }\n"
)

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
