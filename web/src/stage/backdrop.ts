/** The backdrop: the background colour, a little lighter behind the character, so that its outline is visible. */
import { BufferAttribute, BufferGeometry, Color, Mesh, ShaderMaterial, Vector2 } from "three";
import { BACKGROUND } from "./ground";

const GLOW = "#2a2e36";

export class Backdrop {
  readonly mesh: Mesh;
  private readonly material: ShaderMaterial;

  constructor() {
    this.material = new ShaderMaterial({
      depthTest: false,
      depthWrite: false,
      toneMapped: false,
      uniforms: {
        inner: { value: new Color(GLOW) },
        outer: { value: new Color(BACKGROUND) },
        stretch: { value: new Vector2(1, 1) },
      },
      vertexShader: /* glsl */ `
        varying vec2 at;
        void main() { at = position.xy; gl_Position = vec4(position.xy, 1.0, 1.0); }`,
      fragmentShader: /* glsl */ `
        varying vec2 at;
        uniform vec3 inner, outer;
        uniform vec2 stretch;
        float grain(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }
        void main() {
          float away = length((at - vec2(0.0, 0.12)) * stretch);
          vec3 colour = mix(inner, outer, smoothstep(0.0, 1.15, away));
          gl_FragColor = vec4(colour, 1.0);
          #include <colorspace_fragment>
          gl_FragColor.rgb += (grain(gl_FragCoord.xy) - 0.5) / 255.0;  // or the gradient shows its steps
        }`,
    });
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    this.mesh = new Mesh(geometry, this.material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = -2;
  }

  /** Keeps the glow round at this aspect ratio. */
  resize(width: number, height: number): void {
    const longest = Math.max(width, height);
    this.material.uniforms.stretch.value.set(width / longest, height / longest).multiplyScalar(1.15);
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.material.dispose();
  }
}
