/** Placing: three's own materials, made to read vertices from the tables of a deformation. */
import type { Material, Texture, WebGLProgramParametersWithUniforms } from "three";
import { READ } from "./data_textures";
import type { Deformation } from "./deformation";

export interface PlacingUniforms {
  places: { value: Texture | null };
  facings: { value: Texture | null };
  stride: { value: number }; // rows of one character
}

export function placingUniforms(): PlacingUniforms {
  return { places: { value: null }, facings: { value: null }, stride: { value: 0 } };
}

/** Points the uniforms at the tables as they are now; a crowd that grows gets new ones. */
export function pointAt(uniforms: PlacingUniforms, deformation: Deformation): void {
  uniforms.places.value = deformation.place;
  uniforms.facings.value = deformation.normal;
  uniforms.stride.value = deformation.vertices;
}

/** The same at the table of all places, for what knows no sketch. */
export function pointAtAll(uniforms: PlacingUniforms, deformation: Deformation): void {
  uniforms.places.value = deformation.everywhere;
  uniforms.stride.value = deformation.vertices;
}

/** GLSL that every program needs to find its vertex. */
export const PLACING = /* glsl */ `
uniform highp sampler2D places, facings;
uniform int stride;
attribute float source;
${READ}
int placeRow() { return int(source) + gl_InstanceID * stride; }
`;

type Patch = (shader: WebGLProgramParametersWithUniforms) => void;

/** The material, reading from the tables; `patches` may change its shader further and need a `key` of their own. */
export function placed<M extends Material>(material: M, uniforms: PlacingUniforms, key = "", patches?: Patch): M {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${PLACING}`)
      .replace("#include <beginnormal_vertex>", "vec3 objectNormal = rowOf(facings, placeRow()).xyz;")
      .replace("#include <begin_vertex>", "vec3 transformed = rowOf(places, placeRow()).xyz;");
    patches?.(shader);
  };
  material.customProgramCacheKey = () => `placed ${key}`;
  return material;
}
