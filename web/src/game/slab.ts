/** The slab: a piece of slate with nine carved squares, on a foot of the same stone. Its unit is one square. */
import {
  CanvasTexture,
  ExtrudeGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  PlaneGeometry,
  Shape,
  SRGBColorSpace,
} from "three";

const HALF_SIZE = 1.78; // from the centre to the edge
const CORNER_RADIUS = 0.2;
const THICKNESS = 0.26;
const TEXTURE_PX = 1024;

/** Random numbers in [0, 1) with a fixed seed, so that the stone is always the same. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

function createCanvas(): { element: HTMLCanvasElement; context: CanvasRenderingContext2D } {
  const element = document.createElement("canvas");
  element.width = element.height = TEXTURE_PX;
  const context = element.getContext("2d");
  if (!context) throw new Error("this browser has no 2D canvas");
  return { element, context };
}

/** Slate: layers in slightly different greys, specks, and a few veins. */
function paintStone(context: CanvasRenderingContext2D): void {
  const random = seededRandom(7);
  context.fillStyle = "#474d56";
  context.fillRect(0, 0, TEXTURE_PX, TEXTURE_PX);
  for (let k = 0; k < 260; k++) {
    const [x, y, r] = [random() * TEXTURE_PX, random() * TEXTURE_PX, 30 + random() * 170];
    const spot = context.createRadialGradient(x, y, 0, x, y, r);
    const tone = random() < 0.5 ? "255, 240, 220" : "10, 16, 30";
    spot.addColorStop(0, `rgba(${tone}, ${0.05 * random()})`);
    spot.addColorStop(1, `rgba(${tone}, 0)`);
    context.fillStyle = spot;
    context.fillRect(x - r, y - r, 2 * r, 2 * r);
  }
  for (let k = 0; k < 9000; k++) {
    const light = random() < 0.45;
    context.fillStyle = light ? `rgba(255, 246, 230, ${0.1 * random()})` : `rgba(0, 4, 12, ${0.16 * random()})`;
    const size = 0.6 + 2.2 * random() * random();
    context.fillRect(random() * TEXTURE_PX, random() * TEXTURE_PX, size * (1 + 2 * random()), size);
  }
  for (let k = 0; k < 5; k++) {
    context.strokeStyle = `rgba(230, 222, 205, ${0.05 + 0.06 * random()})`;
    context.lineWidth = 0.8 + 1.4 * random();
    context.beginPath();
    let [x, y] = [random() * TEXTURE_PX, random() < 0.5 ? 0 : random() * TEXTURE_PX];
    context.moveTo(x, y);
    while (x > -20 && x < TEXTURE_PX + 20 && y < TEXTURE_PX + 20) {
      x += (random() - 0.42) * 60;
      y += 14 + random() * 40;
      context.lineTo(x, y);
    }
    context.stroke();
  }
}

/** The four grooves: lines with small irregularities, deepest in the middle. */
function carve(context: CanvasRenderingContext2D, width: number, style: string, shift: number): void {
  const random = seededRandom(23);
  const unit = TEXTURE_PX / (2 * HALF_SIZE);
  context.strokeStyle = style;
  context.lineCap = "round";
  for (const across of [false, true]) {
    for (const at of [-0.5, 0.5]) {
      for (let piece = 0; piece < 24; piece++) {
        const taper = Math.min(1, 0.35 + Math.sin((Math.PI * (piece + 0.5)) / 24) * 1.3);
        const [from, to] = [piece, piece + 1].map((k) => TEXTURE_PX / 2 + (-1.46 + (2.92 * k) / 24) * unit);
        const line = TEXTURE_PX / 2 + at * unit + (random() - 0.5) * 2.4;
        context.lineWidth = width * taper;
        context.beginPath();
        if (across) {
          context.moveTo(from, line + shift);
          context.lineTo(to, line + shift + (random() - 0.5) * 2);
        } else {
          context.moveTo(line + shift, from);
          context.lineTo(line + shift + (random() - 0.5) * 2, to);
        }
        context.stroke();
      }
    }
  }
}

function stoneTexture(): CanvasTexture {
  const { element, context } = createCanvas();
  paintStone(context);
  carve(context, 13, "rgba(235, 226, 208, 0.34)", 4); // bright edge
  carve(context, 13, "rgba(8, 10, 14, 0.92)", 0);
  const texture = new CanvasTexture(element);
  texture.colorSpace = SRGBColorSpace;
  texture.anisotropy = 4;
  return texture;
}

function shadowTexture(): CanvasTexture {
  const { element, context } = createCanvas();
  const half = TEXTURE_PX / 2;
  const fade = context.createRadialGradient(half, half, 0.25 * half, half, half, half);
  fade.addColorStop(0, "rgba(0, 0, 0, 0.75)");
  fade.addColorStop(0.55, "rgba(0, 0, 0, 0.35)");
  fade.addColorStop(1, "rgba(0, 0, 0, 0)");
  context.fillStyle = fade;
  context.fillRect(0, 0, TEXTURE_PX, TEXTURE_PX);
  return new CanvasTexture(element);
}

function roundedSquare(half: number, corner: number): Shape {
  const shape = new Shape();
  const inner = half - corner;
  shape.absarc(inner, inner, corner, 0, Math.PI / 2);
  shape.absarc(-inner, inner, corner, Math.PI / 2, Math.PI);
  shape.absarc(-inner, -inner, corner, Math.PI, 1.5 * Math.PI);
  shape.absarc(inner, -inner, corner, 1.5 * Math.PI, 2 * Math.PI);
  return shape;
}

export interface Slab {
  group: Group; // x to the right, y up the board, its face at z = 0
  shadow: Mesh; // lies on the ground, x and z
  dispose(): void;
}

/** A slab that leans by `lean` radians and stands on the ground, `drop` squares below its centre. */
export function makeSlab(lean: number, drop: number): Slab {
  const texture = stoneTexture();
  texture.repeat.set(1 / (2 * HALF_SIZE), 1 / (2 * HALF_SIZE));
  texture.offset.set(0.5, 0.5);
  const stone = new MeshStandardMaterial({
    map: texture,
    bumpMap: texture,
    bumpScale: 1.2,
    roughness: 0.82,
    metalness: 0.02,
  });
  const rough = new MeshStandardMaterial({ color: "#3d434b", roughness: 0.9 });
  const bevel = 0.07;
  const face = new ExtrudeGeometry(roundedSquare(HALF_SIZE - bevel, CORNER_RADIUS), {
    depth: THICKNESS - 2 * bevel,
    bevelEnabled: true,
    bevelThickness: bevel,
    bevelSize: bevel,
    bevelSegments: 3,
    curveSegments: 8,
  });
  face.translate(0, 0, -(THICKNESS - bevel));
  const slab = new Mesh(face, [stone, rough]); // the edges are rough
  slab.receiveShadow = true;

  // The foot fills the wedge between the slab and the ground.
  const [sin, cos] = [Math.sin(lean), Math.cos(lean)];
  const profile = new Shape();
  const [top, low] = [1.25, -1.2];
  // In the y-z plane of the board the ground is where y sin + z cos = -drop.
  const under = -(THICKNESS - 0.02);
  const ground = (y: number): number => (-drop - y * sin) / cos;
  profile.moveTo(low, under);
  profile.lineTo(top, under);
  profile.lineTo(top - 0.1, ground(top - 0.1));
  profile.lineTo(low, Math.min(under, ground(low)));
  const wedge = new ExtrudeGeometry(profile, { depth: 2.3, bevelEnabled: false });
  // The profile lies in the y-z plane.
  wedge.applyMatrix4(new Matrix4().set(0, 0, 1, -1.15, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1));
  const foot = new Mesh(wedge, rough);

  const group = new Group();
  group.add(slab, foot);
  const dark = shadowTexture();
  const shadow = new Mesh(
    new PlaneGeometry(5.6, 5.2).rotateX(-Math.PI / 2),
    new MeshBasicMaterial({ map: dark, transparent: true, depthWrite: false }),
  );
  shadow.renderOrder = 0;
  return {
    group,
    shadow,
    dispose() {
      for (const resource of [face, wedge, shadow.geometry, stone, rough, shadow.material, texture, dark])
        resource.dispose();
    },
  };
}
