/**
 * The deformation, one texel for each vertex:
 *
 *     p = rest + sum_s w_s d_s                                                            any number of shape targets
 *     linear:  x = (sum_k w_k M_k) p                                                      any number of influences
 *     dual:    x = q (sum_k w_k S_k p / sum_k w_k) q*,  q = sum_k +-w_k q_k / |...|       dual quaternions
 *
 * as in `character/skinning/linear.py` and `dual_quaternion.py`. Normals are transformed by the cofactors of the
 * vertex's own matrix, as in `character/skinning/linear.py`. Several instances are several blocks of V texels; each
 * has its own block of the pose table: three rows of each bone's matrix, then weights, four a row.
 */
import { READ_ROW } from "./data_textures";

export const DEFORM_VERTEX = /* glsl */ `
in vec3 position;
void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }
`;

export const DEFORM_FRAGMENT = /* glsl */ `
precision highp float;
precision highp int;
precision highp sampler2D;
uniform int vertices, total, bones, poseRows;
uniform sampler2D rest, restNormal, plan, influences, targets, turns, pose, duals;
layout(location = 0) out vec4 place;
layout(location = 1) out vec4 facing;
${READ_ROW}
float weightOf(int base, int target) {
  vec4 four = rowOf(pose, base + 3 * bones + (target >> 2));
  int k = target & 3;
  return k < 2 ? (k == 0 ? four.x : four.y) : (k == 2 ? four.z : four.w);
}
void linear(int base, int first, int count, inout vec3 p, inout vec3 n) {
  vec4 a = vec4(0.0), b = vec4(0.0), c = vec4(0.0);
  for (int k = 0; k < count; k++) {
    vec4 entry = rowOf(influences, first + k);
    int row = base + 3 * int(entry.x);
    a += entry.y * rowOf(pose, row);
    b += entry.y * rowOf(pose, row + 1);
    c += entry.y * rowOf(pose, row + 2);
  }
  vec4 q = vec4(p, 1.0);
  p = vec3(dot(a, q), dot(b, q), dot(c, q));
  mat3 cofactors = mat3(cross(b.xyz, c.xyz), cross(c.xyz, a.xyz), cross(a.xyz, b.xyz));
  n = (dot(a.xyz, cross(b.xyz, c.xyz)) < 0.0 ? -1.0 : 1.0) * (n * cofactors);
}
void dual(int instance, int first, int count, inout vec3 p, inout vec3 n) {
  vec4 real = vec4(0.0), other = vec4(0.0), pivot = vec4(0.0);
  mat3 scale = mat3(0.0);  // its columns are the rows of S, which is symmetric
  float sum = 0.0;
  for (int k = 0; k < count; k++) {
    vec4 entry = rowOf(influences, first + k);
    int row = 5 * (instance * bones + int(entry.x));
    vec4 q = rowOf(duals, row);
    if (k == 0) pivot = q;
    float w = dot(pivot, q) < 0.0 ? -entry.y : entry.y;
    real += w * q;
    other += w * rowOf(duals, row + 1);
    scale += entry.y * mat3(rowOf(duals, row + 2).xyz, rowOf(duals, row + 3).xyz, rowOf(duals, row + 4).xyz);
    sum += entry.y;
  }
  scale *= 1.0 / sum;
  vec3 v = scale * p;
  vec3 a = real.xyz, b = other.xyz;
  float norm = 2.0 / max(dot(real, real), 1e-30);
  p = v + norm * (cross(a, cross(a, v) + real.w * v) + real.w * b - other.w * a + cross(a, b));
  vec3 m = mat3(cross(scale[1], scale[2]), cross(scale[2], scale[0]), cross(scale[0], scale[1])) * n;
  m *= dot(scale[0], cross(scale[1], scale[2])) < 0.0 ? -1.0 : 1.0;
  n = m + norm * cross(a, cross(a, m) + real.w * m);
}
void main() {
  int i = int(gl_FragCoord.y) * 2048 + int(gl_FragCoord.x);
  if (i >= total) discard;
  int instance = i / vertices;
  int v = i - instance * vertices;
  int base = instance * poseRows;
  vec4 own = rowOf(plan, v);
  vec3 p = rowOf(rest, v).xyz, n = rowOf(restNormal, v).xyz;
  int first = int(own.z), last = first + int(own.w);
  for (int e = first; e < last; e++) {
    vec4 entry = rowOf(targets, e);
    float w = weightOf(base, int(entry.w));
    if (w != 0.0) {
      p += w * entry.xyz;
      n += w * rowOf(turns, e).xyz;
    }
  }
  int count = int(abs(own.y));
  if (count > 0) {
    if (own.y < 0.0) dual(instance, int(own.x), count, p, n);
    else linear(base, int(own.x), count, p, n);
  }
  place = vec4(p, 1.0);
  facing = vec4(n * inversesqrt(max(dot(n, n), 1e-30)), 0.0);
}
`;
