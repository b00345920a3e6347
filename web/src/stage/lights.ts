/**
 * The lights: a warm key from the upper left front, a cool fill, rim lights from behind, and the environment of a room.
 */
import {
  Color,
  DirectionalLight,
  HemisphereLight,
  Object3D,
  PMREMGenerator,
  type Scene,
  type Texture,
  Vector3,
  type WebGLRenderer,
} from "three";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";
import { ROOM_LIGHT } from "./materials";

const DEGREE = Math.PI / 180;
/** Azimuth relative to the camera and elevation (degrees), colour (sRGB) and intensity of each light. */
const LIGHTS = {
  key: { turn: -35, height: 38, colour: "#ffeedb", strength: 2.9 },
  fill: { turn: 50, height: 10, colour: "#c8dcff", strength: 0.75 },
  rim: { turn: 150, height: 35, colour: "#ffd9b0", strength: 3.2 },
  back: { turn: -150, height: 15, colour: "#9cc8ff", strength: 1.3 },
} as const;
type Name = keyof typeof LIGHTS;

/** The azimuth of the lights for a camera at this azimuth; as `render/scene.py`, and continuous at the back. */
export function lightAzimuth(azimuth: number): number {
  return azimuth - 0.4 * Math.sin(azimuth);
}

/** The unit vector towards a light. */
export function lightDirection(azimuth: number, turn: number, height: number): Vector3 {
  const a = lightAzimuth(azimuth) + turn * DEGREE;
  const e = height * DEGREE;
  return new Vector3(Math.sin(a) * Math.cos(e), Math.sin(e), Math.cos(a) * Math.cos(e));
}

export class Lights {
  private readonly lights: Record<Name, DirectionalLight>;
  private readonly target = new Object3D();
  private readonly environment;
  private centre = new Vector3();
  private radius = 1;

  constructor(
    private readonly scene: Scene,
    renderer: WebGLRenderer,
    private readonly shadowSize: number,
    isSoftware: boolean,
  ) {
    const room = new RoomEnvironment();
    const generator = new PMREMGenerator(renderer);
    this.environment = generator.fromScene(room, 0.04);
    generator.dispose();
    room.dispose();
    scene.environment = isSoftware ? null : this.environment.texture;
    scene.environmentIntensity = ROOM_LIGHT;
    // Software rendering uses a hemisphere light instead of the environment; only wet materials reflect it.
    scene.add(new HemisphereLight("#dce8ff", "#8a7a78", isSoftware ? 0.95 : 0.6), this.target);
    const entries = Object.entries(LIGHTS).map(([name, settings]) => {
      const light = new DirectionalLight(new Color(settings.colour), settings.strength);
      light.target = this.target;
      scene.add(light);
      return [name, light] as const;
    });
    this.lights = Object.fromEntries(entries) as Record<Name, DirectionalLight>;
    this.lights.back.visible = !isSoftware; // each light costs a quarter of the rendering time
    const { shadow } = this.lights.key;
    this.lights.key.castShadow = true;
    shadow.mapSize.set(shadowSize, shadowSize);
    shadow.radius = 3;
    shadow.intensity = 0.9;
  }

  /** The environment map, for materials that reflect it. */
  get room(): Texture {
    return this.environment.texture;
  }

  /** Fits the shadow camera of the key light to the character. */
  fit(centre: Vector3, radius: number): void {
    this.centre.copy(centre);
    this.radius = radius;
    const { shadow } = this.lights.key;
    const box = shadow.camera;
    box.left = box.bottom = -1.15 * radius;
    box.right = box.top = 1.15 * radius;
    box.near = 0.5 * radius;
    box.far = 6 * radius;
    box.updateProjectionMatrix();
    // 1.5 texels: less leaves stripes at grazing angles, more separates the shadow from the foot.
    shadow.normalBias = (1.5 * 2.3 * radius) / this.shadowSize;
    shadow.bias = -0.0004;
  }

  /** Turns the lights for a camera. */
  follow(azimuth: number): void {
    this.target.position.copy(this.centre);
    this.target.updateMatrixWorld();
    for (const [name, light] of Object.entries(this.lights) as [Name, DirectionalLight][]) {
      const { turn, height } = LIGHTS[name];
      light.position.copy(this.centre).addScaledVector(lightDirection(azimuth, turn, height), 3 * this.radius);
    }
  }

  dispose(): void {
    this.scene.environment = null;
    this.environment.dispose();
    for (const light of Object.values(this.lights)) light.dispose();
  }
}
