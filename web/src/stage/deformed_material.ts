/** Deformed materials: three's own materials, patched to read vertices from the tables of a deformation. */
import type { Material, Texture, WebGLProgramParametersWithUniforms } from "three";
import { READ_ROW } from "./data_textures";
import type { Deformation } from "./deformation";

export interface DeformationUniforms {
  places: { value: Texture | null };
  facings: { value: Texture | null };
  stride: { value: number }; // table rows of one instance
}

export function deformationUniforms(): DeformationUniforms {
  return { places: { value: null }, facings: { value: null }, stride: { value: 0 } };
}

/** Binds the uniforms to the current tables of the drawn mesh; a crowd that grows allocates new ones. */
export function bindDrawn(uniforms: DeformationUniforms, deformation: Deformation): void {
  uniforms.places.value = deformation.positionTexture;
  uniforms.facings.value = deformation.normalTexture;
  uniforms.stride.value = deformation.vertices;
}

/** Binds the uniforms to the table of all positions, for passes that ignore the level of detail. */
export function bindAll(uniforms: DeformationUniforms, deformation: Deformation): void {
  uniforms.places.value = deformation.allPositions;
  uniforms.stride.value = deformation.vertices;
}

/** GLSL declarations that find the table row of a vertex. */
export const DEFORMATION_PARS = /* glsl */ `
uniform highp sampler2D places, facings;
uniform int stride;
attribute float source;
${READ_ROW}
int placeRow() { return int(source) + gl_InstanceID * stride; }
`;

type Patch = (shader: WebGLProgramParametersWithUniforms) => void;

/** Patches a material to read from the tables; `patches` may change its shader further and then needs its own `key`. */
export function deformedMaterial<M extends Material>(
  material: M,
  uniforms: DeformationUniforms,
  key = "",
  patches?: Patch,
): M {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${DEFORMATION_PARS}`)
      .replace("#include <beginnormal_vertex>", "vec3 objectNormal = rowOf(facings, placeRow()).xyz;")
      .replace("#include <begin_vertex>", "vec3 transformed = rowOf(places, placeRow()).xyz;");
    patches?.(shader);
  };
  material.customProgramCacheKey = () => `deformed ${key}`;
  return material;
}
