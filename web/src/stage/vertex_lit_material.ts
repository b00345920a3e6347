/**
 * Materials lit at the vertices, for levels of detail with software rendering: a pixel is its colour times the
 * interpolated light. The triangles are a few pixels large, so the result looks almost the same.
 *
 *     diffuse  = sum_l E_l soft(n.l) (1 - F) / pi  +  E_sky ao / pi        soft(n.l) as in `materials.ts`
 *     specular = sum_l E_l (n.l) D_GGX V_Smith F                           Walter 2007, Heitz 2014; F by Schlick
 *
 * as in three's own materials, without normal maps. Wet materials stay as they are: they show sharp reflections of the
 * room, and are small.
 */
import { type Material, MeshPhysicalMaterial, MeshStandardMaterial } from "three";
import { type DeformationUniforms, deformedMaterial } from "./deformed_material";
import type { MaterialEntry } from "./description";
import { SOFT_LIGHT } from "./materials";

/** The vertex lit version of a material; the material itself if it is unlit or wet. */
export function vertexLitMaterial(material: Material, entry: MaterialEntry, uniforms: DeformationUniforms): Material {
  if (!(material instanceof MeshStandardMaterial) || material instanceof MeshPhysicalMaterial) return material;
  const twin = material.clone();
  twin.normalMap = null;
  const skinUniforms = { softness: { value: entry.softness }, through: { value: entry.translucency } };
  return deformedMaterial(twin, uniforms, "vertex lit", (shader) => {
    Object.assign(shader.uniforms, skinUniforms);
    shader.vertexShader = vertexLitVertexShader(shader.vertexShader);
    shader.fragmentShader = FRAGMENT;
  });
}

/** Adds lighting to the end of three's vertex shader. */
export function vertexLitVertexShader(shader: string): string {
  return shader
    .replace("#include <clipping_planes_pars_vertex>", `#include <clipping_planes_pars_vertex>\n${FUNCTIONS}`)
    .replace("#include <fog_vertex>", LIGHT);
}

const FUNCTIONS = /* glsl */ `
#include <lights_pars_begin>
uniform vec3 diffuse;
uniform float roughness, metalness;
#ifdef USE_ROUGHNESSMAP
uniform sampler2D roughnessMap;
#endif
#ifdef USE_AOMAP
uniform sampler2D aoMap;
uniform float aoMapIntensity;
#endif
#if defined( USE_SHADOWMAP ) && NUM_DIR_LIGHT_SHADOWS > 0
uniform sampler2DShadow directionalShadowMap[ NUM_DIR_LIGHT_SHADOWS ];
#endif
varying vec3 lit, shine;
${SOFT_LIGHT}
/** The light of the key that comes through, 0 to 1. */
float keyLight() {
  #if defined( USE_SHADOWMAP ) && NUM_DIR_LIGHT_SHADOWS > 0
    vec3 at = vDirectionalShadowCoord[ 0 ].xyz / vDirectionalShadowCoord[ 0 ].w;
    if (receiveShadow && at == clamp(at, 0.0, 1.0)) {
      at.z += directionalLightShadows[ 0 ].shadowBias;
      return mix(1.0, texture(directionalShadowMap[ 0 ], at), directionalLightShadows[ 0 ].shadowIntensity);
    }
  #endif
  return 1.0;
}
`;

const LIGHT = /* glsl */ `
  vec3 n = normalize(transformedNormal), v = normalize(vViewPosition);
  #ifdef DOUBLE_SIDED
    n = faceforward(n, -v, n);
  #endif
  float rough = roughness, ao = 1.0;
  #ifdef USE_ROUGHNESSMAP
    rough *= textureLod(roughnessMap, vRoughnessMapUv, 4.0).g;
  #endif
  #ifdef USE_AOMAP
    ao += (textureLod(aoMap, vAoMapUv, 2.0).r - 1.0) * aoMapIntensity;
  #endif
  float a2 = pow4(clamp(rough, 0.045, 1.0));
  vec3 mirrored = mix(vec3(0.04), diffuse, metalness);
  float nv = saturate(dot(n, v));
  lit = ambientLightColor;
  #if NUM_HEMI_LIGHTS > 0
    for (int i = 0; i < NUM_HEMI_LIGHTS; i++) lit += getHemisphereLightIrradiance(hemisphereLights[ i ], n);
  #endif
  lit *= ao;
  shine = vec3(0.0);
  #if NUM_DIR_LIGHTS > 0
    float key = keyLight();
    for (int i = 0; i < NUM_DIR_LIGHTS; i++) {
      vec3 l = directionalLights[ i ].direction, h = normalize(l + v);
      vec3 light = directionalLights[ i ].color * (i == 0 ? key : 1.0);
      float raw = dot(n, l), nl = saturate(raw), nh = saturate(dot(n, h)), vh = saturate(dot(v, h));
      lit += softLight(raw) * light * (1.0 - F_Schlick(0.04, 1.0, vh));
      float spread = nh * nh * (a2 - 1.0) + 1.0;
      float smith = nl * sqrt(a2 + (1.0 - a2) * nv * nv) + nv * sqrt(a2 + (1.0 - a2) * nl * nl);
      float ggx = RECIPROCAL_PI * a2 / (spread * spread);
      shine += nl * light * F_Schlick(mirrored, 1.0, vh) * (ggx * 0.5 / max(smith, EPSILON));
    }
  #endif
  lit *= RECIPROCAL_PI * (1.0 - metalness);
`;

const FRAGMENT = /* glsl */ `
uniform vec3 diffuse, emissive;
uniform float opacity;
varying vec3 lit, shine;
#include <common>
#include <color_pars_fragment>
#include <uv_pars_fragment>
#include <map_pars_fragment>
#include <alphatest_pars_fragment>
#include <emissivemap_pars_fragment>
void main() {
  vec4 diffuseColor = vec4(diffuse, opacity);
  vec3 totalEmissiveRadiance = emissive;
  #include <map_fragment>
  #include <color_fragment>
  #include <alphatest_fragment>
  #include <emissivemap_fragment>
  vec3 outgoingLight = diffuseColor.rgb * lit + shine + totalEmissiveRadiance;
  #include <opaque_fragment>
  #include <tonemapping_fragment>
  #include <colorspace_fragment>
}
`;
