/**
 * Shapes with a fixed size on the screen: ribbons, dots, glyphs and ticks are instanced quads, whose corners are offset
 * in pixels after projection. Parts behind the character are drawn too, fainter, by a second material with the opposite
 * depth test.
 */
import {
  AlwaysDepth,
  BufferAttribute,
  Color,
  GLSL3,
  GreaterDepth,
  InstancedBufferGeometry,
  type IUniform,
  LessEqualDepth,
  Mesh,
  type Object3D,
  RawShaderMaterial,
  Sphere,
  Vector2,
  Vector3,
} from "three";

export type Uniforms = Record<string, IUniform>;

/** A colour as a raw shader writes it. */
export const colour = (hex: string): Color => new Color(hex).convertLinearToSRGB();
export const PAST = colour("#e0607e");
export const FUTURE = colour("#4cc9b0");
export const AMBER = colour("#f2a33a");
export const LIGHT = colour("#f1f2f4");
export const DARK = colour("#16181c");
export const GREY = colour("#8b919b");

/** An instanced quad from (0 or -1) to 1 in `corner`. */
export function quads(along: -1 | 0): InstancedBufferGeometry {
  const geometry = new InstancedBufferGeometry();
  geometry.setAttribute("corner", new BufferAttribute(new Float32Array([along, -1, 1, -1, 1, 1, along, 1]), 2));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  geometry.boundingSphere = new Sphere(new Vector3(), Infinity); // prevents three from computing it
  geometry.instanceCount = 0;
  return geometry;
}

/** Common declarations: the size of the image, and conversion from clip space to pixels. */
export const SCREEN = /* glsl */ `
precision highp float;
uniform mat4 projectionMatrix, viewMatrix;
uniform vec2 picture;  // pixels
uniform float ratio;  // image pixels for each CSS pixel
vec4 clipOf(vec3 p) { return projectionMatrix * viewMatrix * vec4(p, 1.0); }
vec2 pixelsOf(vec4 p) { return 0.5 * picture * p.xy / p.w; }
vec4 moved(vec4 p, vec2 pixels) { return vec4(p.xy + 2.0 * pixels / picture * p.w, p.zw); }
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
`;

/** One mesh for the visible part and one for the hidden part, which is drawn with `hidden` of the opacity. */
export function makeLayeredMeshes(
  geometry: InstancedBufferGeometry,
  uniforms: Uniforms,
  vertexShader: string,
  fragmentShader: string,
  order: number,
): { meshes: Mesh[]; always: (yes: boolean) => void } {
  const shared: Uniforms = { ...uniforms, picture: { value: new Vector2(1, 1) }, ratio: { value: 1 } };
  const meshes = [false, true].map((behind) => {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      transparent: true,
      depthWrite: false,
      depthFunc: behind ? GreaterDepth : LessEqualDepth,
      uniforms: { ...shared, seen: { value: behind ? 0 : 1 } },
      vertexShader,
      fragmentShader,
    });
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = order + (behind ? 0 : 0.5);
    mesh.onBeforeRender = (renderer) => {
      renderer.getDrawingBufferSize(shared.picture.value as Vector2);
      shared.ratio.value = renderer.getPixelRatio();
      material.uniformsNeedUpdate = true;
    };
    return mesh;
  });
  return {
    meshes,
    always(yes) {
      (meshes[0].material as RawShaderMaterial).depthFunc = yes ? AlwaysDepth : LessEqualDepth;
      meshes[1].visible = !yes;
    },
  };
}

/** Removes meshes from their parents and disposes of them. */
export function disposeMeshes(meshes: readonly Mesh[]): void {
  for (const mesh of meshes) {
    (mesh.parent as Object3D | null)?.remove(mesh);
    mesh.geometry.dispose();
    (mesh.material as RawShaderMaterial).dispose();
  }
}
