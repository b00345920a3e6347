"""GLSL of the figure: first a G-buffer at each sample, then its light.

In software rendering a fragment shader runs for whole blocks of pixels even where a triangle covers only one of them,
and the triangles of a detailed character are that small. So the first pass only stores what is seen (colour, normals,
finish), at SIDE x SIDE samples a pixel; the second goes over the picture once. The samples of a pixel that belong
together are averaged and shaded once, those of a surface behind them once more, at outlines and creases.
"""

from __future__ import annotations

from understudy.render.opengl.shaders import COMMON, FINISHES, LIGHTING, SHADOW

# Normals are noted in the camera's space, where those that are seen point towards the eye: two numbers are enough.
# PAINTED where colour or occlusion differ from vertex to vertex. Every number that is handed on to the fragments costs
# each triangle its share, so nothing is handed on that can do without.
SURFACE_VERTEX = """#version 330
uniform mat4 clip_from_world;
uniform mat3 camera_from_world;
in vec3 position, normal;
in vec2 uv;
out vec3 direction;
out vec2 texel;
#ifdef PAINTED
in vec4 colour;
in float occlusion;
out vec4 tint;
out float open_sky;
#endif
void main() {
#ifdef PAINTED
    tint = colour;
    open_sky = occlusion;
#endif
    direction = camera_from_world * normal;
    texel = uv;
    gl_Position = clip_from_world * vec4(position, 1.0);
}
"""

# MAPS has bit 1 for a colour map, 2 for a normal map, 4 for a map of details; CUT where alpha cuts holes.
# The frame of a normal map comes from the derivatives of place and UVs on the screen (Schueler 2013, "Followup: normal
# mapping without precomputed tangents"): nothing stored, so it is right for any deformation and for mirrored UVs.
SURFACE = """
in vec3 direction;
in vec2 texel;
#ifdef PAINTED
in vec4 tint;
in float open_sky;
#else
uniform vec4 tint;
const float open_sky = 1.0;
#endif
uniform sampler2D base_map, normal_map, detail_map;
uniform vec2 samples, view_slope;  // size of the target, and tangents of half the view's angles
uniform float alpha_cutoff, roughness, metallic, normal_scale;

vec3 in_camera() { return vec3((gl_FragCoord.xy / samples * 2.0 - 1.0) * view_slope, -1.0) / gl_FragCoord.w; }

struct Point { vec4 colour; vec3 normal, smooth_normal; float open_sky, roughness, metallic; };

#if (MAPS & 2) != 0
vec3 bumped(vec3 n, inout float rough) {
    vec3 m = texture(normal_map, texel).xyz * 2.0 - 1.0;
    // Averaging over bumps too small to see shortens the normal: they turn into roughness (Toksvig 2005).
    float spread = inversesqrt(clamp(dot(m, m), 0.25, 1.0)) - 1.0, r2 = rough * rough;
    rough = sqrt(sqrt(min(r2 * r2 + 0.5 * spread * normal_scale * normal_scale, 1.0)));
    vec3 at = in_camera(), px = dFdx(at), py = dFdy(at);
    vec2 tx = dFdx(texel), ty = dFdy(texel);
    vec3 a = cross(py, n), b = cross(n, px);
    vec3 along_u = a * tx.x + b * ty.x, along_v = a * tx.y + b * ty.y;
    float longest = max(dot(along_u, along_u), dot(along_v, along_v));
    float scale = normal_scale * sign(dot(px, a)) * inversesqrt(max(longest, 1e-30));
    return normalize(scale * (along_u * m.x - along_v * m.y) + n * m.z);  // glTF's y runs against v
}
#endif

Point point() {
    vec3 n = normalize(gl_FrontFacing ? direction : -direction);
    Point p = Point(tint, n, n, open_sky, roughness, metallic);
#if (MAPS & 1) != 0
    vec4 t = texture(base_map, texel);
    p.colour *= vec4(t.rgb * (t.rgb * (t.rgb * 0.305306011 + 0.682171111) + 0.012522878), t.a);  // from sRGB
#endif
#ifdef CUT
    if (p.colour.a < alpha_cutoff) discard;
#endif
#if (MAPS & 4) != 0
    vec3 d = texture(detail_map, texel).rgb;
    p.open_sky *= d.r;
    p.roughness *= d.g;
    p.metallic *= d.b;
#endif
#if (MAPS & 2) != 0
    p.normal = bumped(n, p.roughness);
#endif
    return p;
}
"""

# Colours as roots, so that eight bits are enough in the dark; the finish's number is 0 where nothing is.
NOTE_FRAGMENT = f"""#version 330
{SURFACE}
layout(location = 0) out vec4 colour_and_id;
layout(location = 1) out vec4 normals;
layout(location = 2) out vec4 details;
uniform int finish_number;
void main() {{
    Point p = point();
    colour_and_id = vec4(sqrt(p.colour.rgb), float(finish_number) / 255.0);
    normals = vec4(p.normal.xy, p.smooth_normal.xy);
    details = vec4(p.open_sky, p.roughness, p.metallic, 1.0);
}}
"""

# Squares, as points: a square of two triangles would be shaded twice along its diagonal.
SHADE_VERTEX = """#version 330
in vec2 centre;
void main() { gl_Position = vec4(centre, 0.0, 1.0); }
"""

SHADE_FRAGMENT = f"""{COMMON}{FINISHES}{SHADOW}{LIGHTING}
uniform sampler2D note_colour, note_normals, note_details, note_depth;
uniform mat4 world_from_clip;
uniform mat3 camera_from_world;
uniform vec2 depth_scale;  // 1 / distance = x + y depth, which on the screen is affine over a plane
uniform float floor_height, pixel_slope, hollow;
uniform vec2 view_slope;  // tangents of half the view's angles
out vec4 pixel;

const int COUNT = SIDE * SIDE;
struct Note {{ vec4 colour, normals, details; vec3 place; }};  // colour.a: the finish's number; place: x, y, depth

Note note_at(int i) {{
    ivec2 at = ivec2(gl_FragCoord.xy) * SIDE + ivec2(i % SIDE, i / SIDE);
    vec4 colour = texelFetch(note_colour, at, 0);
    colour = vec4(colour.rgb * colour.rgb, floor(colour.a * 255.0 + 0.5));
    return Note(colour, texelFetch(note_normals, at, 0), texelFetch(note_details, at, 0),
        vec3((vec2(at) + 0.5) / float(SIDE), texelFetch(note_depth, at, 0).r));
}}
float nearness(float depth) {{ return depth_scale.x + depth_scale.y * depth; }}
Note plus(Note p, Note q, float w) {{
    return Note(p.colour + w * q.colour, p.normals + w * q.normals, p.details + w * q.details, p.place + w * q.place);
}}
vec3 in_world(vec2 n) {{ return normalize(vec3(n, sqrt(max(1.0 - dot(n, n), 0.0))) * camera_from_world); }}

// How much of the sky the neighbours on the screen leave open: each tap that rises before the surface within `hollow`
// metres closes a part of it. For hollows that a character's own maps know nothing of: open mouths, folded arms.
const int AROUND = 6 + 2 * FINE;
vec3 in_camera(vec2 place, float depth) {{
    return vec3((place / resolution * 2.0 - 1.0) * view_slope, -1.0) / nearness(depth);
}}
float open_around(vec3 place, vec2 n) {{
    vec3 at = in_camera(place.xy, place.z), normal = vec3(n, sqrt(max(1.0 - dot(n, n), 0.0)));
    float reach = min(0.5 * hollow / view_slope.y * resolution.y * nearness(place.z), 0.1 * resolution.y), closed = 0.0;
    mat2 turn = turn_here();
    for (int i = 0; i < AROUND; i++) {{
        vec2 there = place.xy + reach * (turn * on_disc(i, AROUND));
        ivec2 tap = clamp(ivec2(there * float(SIDE)), ivec2(0), ivec2(resolution) * SIDE - 1);
        vec3 v = in_camera((vec2(tap) + 0.5) / float(SIDE), texelFetch(note_depth, tap, 0).r) - at;
        float d2 = dot(v, v);
        float rises = max(dot(v, normal) * inversesqrt(max(d2, 1e-12)) - 0.15, 0.0);
        closed += rises * max(1.0 - d2 / (hollow * hollow), 0.0);
    }}
    return max(1.0 - 2.2 * closed / float(AROUND), 0.0);
}}

vec4 shade(Note p, float count) {{
    float part = 1.0 / max(count, 1.0);
    vec3 place = p.place * part;
    vec4 h = world_from_clip * vec4(vec3(place.xy / resolution, place.z) * 2.0 - 1.0, 1.0);
    vec3 at = h.xyz / h.w, details = p.details.rgb * part;
    vec4 normals = p.normals * part, colour = p.colour * part;
    vec3 c = shaded(colour.rgb, in_world(normals.xy), in_world(normals.zw), at, details.y, details.z,
        details.x * open_around(place, normals.zw),
        finish_of(int(colour.a + 0.5)));
    // What the ground hides is not there.
    return at.y < floor_height ? vec4(0.0) : count * vec4(c, 1.0);
}}

void main() {{
    // Two groups: the samples that belong to the first, and all the others that see something.
    Note first = note_at(0), sum_a = first, sum_b = Note(vec4(0.0), vec4(0.0), vec4(0.0), vec3(0.0));
    float id = first.colour.a, near = nearness(first.place.z), slack = pixel_slope * near;
    float seen = id > 0.0 ? 1.0 : 0.0, count_a = seen, count_b = 0.0;
    for (int i = 1; i < COUNT; i++) {{
        Note p = note_at(i);
        vec2 turn = abs(p.normals.xy - first.normals.xy);
        bool alike = p.colour.a == id && abs(nearness(p.place.z) - near) < slack && max(turn.x, turn.y) < 0.4;
        float a = alike ? seen : 0.0, b = p.colour.a > 0.0 && !alike ? 1.0 : 0.0;
        count_a += a;
        count_b += b;
        sum_a = plus(sum_a, p, a);
        sum_b = plus(sum_b, p, b);
        // Where three things meet, the last two are mixed, but their finish is that of one.
        if (b > 0.0) sum_b.colour.a = count_b * p.colour.a;
    }}
    if (count_a == 0.0) sum_a = sum_b;
    int groups = (count_a > 0.0 ? 1 : 0) + (count_b > 0.0 ? 1 : 0);
    float counts = count_a > 0.0 ? count_a : count_b;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < groups; i++) {{
        sum += shade(sum_a, counts);
        sum_a = sum_b;
        counts = count_b;
    }}
    sum /= float(COUNT);
    pixel = vec4(sum.rgb * vignetted() + sum.a * grain(), sum.a);
}}
"""

# Blended surfaces are shaded where they are drawn, on nothing, colours already multiplied with their alpha.
BLEND_FRAGMENT = f"""{COMMON}{FINISHES}{SHADOW}{LIGHTING}{SURFACE}
uniform mat3 camera_from_world;
uniform float floor_height;
uniform int finish_number;
out vec4 pixel;
void main() {{
    Point p = point();
    vec3 at = eye + in_camera() * camera_from_world;
    if (at.y < floor_height) discard;
    vec3 c = shaded(p.colour.rgb, p.normal * camera_from_world, p.smooth_normal * camera_from_world, at,
        p.roughness, p.metallic, p.open_sky, finish_of(finish_number));
    pixel = vec4(c * vignetted(), 1.0) * clamp(p.colour.a, 0.0, 1.0);
}}
"""

# Blended surfaces and marks, drawn at every sample, averaged over the picture.
OVER_FRAGMENT = """#version 330
uniform sampler2D veil;
out vec4 pixel;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < SIDE * SIDE; i++) {
        sum += texelFetch(veil, ivec2(gl_FragCoord.xy) * SIDE + ivec2(i % SIDE, i / SIDE), 0);
    }
    pixel = sum / float(SIDE * SIDE);
}
"""
