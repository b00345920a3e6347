"""The GLSL of the stage: backdrop, grid, the figure's shadows on the ground, and marks."""

from __future__ import annotations

from understudy.render.shaders_light import COMMON

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
