/** The ground: a disc that fades into the background, with a faint grid, the key light's shadow and contact shadows. */
import { CircleGeometry, Color, Mesh, ShadowMaterial, type Texture, Vector2, type Vector3 } from "three";

export const BACKGROUND = "#16181c";
const NEAR = "#282c33"; // near the character
const GRID = "#5a616c";
const EXTENT = 5.5; // radius of the ground, relative to the radius of the character

export class Ground {
  readonly mesh: Mesh;
  private readonly uniforms = {
    centre: { value: new Vector2() },
    radius: { value: 1 },
    near: { value: new Color(NEAR) },
    far: { value: new Color(BACKGROUND) },
    gridColour: { value: new Color(GRID) },
    gridStep: { value: 0.1 },
    contact: { value: null as Texture | null },
    contactBox: { value: [0, 0, 1, 1] }, // x, z of a corner, and the inverse of the size
    contactStrength: { value: 0 },
  };

  constructor() {
    const material = new ShadowMaterial({ transparent: true, depthWrite: false, toneMapped: false });
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", "#include <common>\nvarying vec2 onGround;")
        .replace(
          "#include <project_vertex>",
          "#include <project_vertex>\nonGround = (modelMatrix * vec4(transformed, 1.0)).xz;",
        );
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", `#include <common>\n${GROUND_FUNCTIONS}`)
        .replace("gl_FragColor = vec4( color, opacity * ( 1.0 - getShadowMask() ) );", GROUND_COLOUR);
    };
    this.mesh = new Mesh(new CircleGeometry(1, 64).rotateX(-Math.PI / 2), material);
    this.mesh.receiveShadow = true;
    this.mesh.renderOrder = -1;
    this.mesh.frustumCulled = false;
  }

  /** Puts the ground below the character: `centre` in x and z, height `y`. */
  fit(centre: Vector3, radius: number, y: number): void {
    this.mesh.position.set(centre.x, y, centre.z);
    this.mesh.scale.setScalar(EXTENT * radius);
    this.mesh.updateMatrixWorld();
    this.uniforms.centre.value.set(centre.x, centre.z);
    this.uniforms.radius.value = radius;
    this.uniforms.gridStep.value = gridStep(radius);
  }

  /** Sets the contact shadow: an image of the box from `low`, of `size` metres along x and z. */
  contact(texture: Texture | null, low: Vector2, size: Vector2): void {
    this.uniforms.contact.value = texture;
    this.uniforms.contactBox.value = [low.x, low.y, 1 / size.x, 1 / size.y];
    this.uniforms.contactStrength.value = texture ? 0.75 : 0;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as ShadowMaterial).dispose();
  }
}

/** A round distance between grid lines: a fifth to a half of the radius. */
export function gridStep(radius: number): number {
  const power = 10 ** Math.floor(Math.log10(0.5 * radius));
  const factor = [5, 2, 1].find((multiple) => multiple * power <= 0.5 * radius) ?? 1;
  return factor * power;
}

const GROUND_FUNCTIONS = /* glsl */ `
varying vec2 onGround;
uniform vec2 centre;
uniform vec3 near, far, gridColour;
uniform float radius, gridStep, contactStrength;
uniform vec4 contactBox;
uniform sampler2D contact;
float gridLine() {
  vec2 cell = onGround / gridStep;
  vec2 width = fwidth(cell);
  vec2 line = 1.0 - smoothstep(vec2(0.0), 1.2 * width, abs(fract(cell - 0.5) - 0.5));
  line *= 1.0 - smoothstep(0.15, 0.5, width);
  return max(line.x, line.y);
}
`;

const GROUND_COLOUR = /* glsl */ `
  float away = length(onGround - centre) / radius;
  vec3 lit = mix(far, near, exp(-0.32 * away * away));
  if (away < 4.0) {  // beyond, there is nothing but the fading ground
    lit = mix(lit, gridColour, 0.16 * gridLine() * (1.0 - smoothstep(0.8, 4.0, away)));
    float light = 1.0 - 0.62 * (1.0 - getShadowMask());
    vec2 at = (onGround - contactBox.xy) * contactBox.zw;
    if (contactStrength > 0.0 && at == clamp(at, 0.0, 1.0)) light *= 1.0 - contactStrength * texture2D(contact, at).r;
    lit *= light;
  }
  gl_FragColor = vec4(lit, 1.0 - smoothstep(1.6, ${EXTENT.toFixed(1)}, away));
`;
