/** What the server streams: its vertices go straight into the tables, their normals are made of what is drawn. */
import type { DataTexture } from "three";
import { numbersOf, table } from "./data_textures";
import type { Deformation } from "./deformation";
import type { Description } from "./description";
import { FORM, type Frame } from "./frames";
import { Shading } from "./shading";

export class Streamed implements Deformation {
  readonly count = 1;
  readonly vertices: number;
  readonly sources: Uint32Array;
  sketched = false;
  private readonly all: Surface;
  private few: Surface | null = null;
  private values: Float32Array; // of the last frame

  constructor(private readonly description: Description) {
    this.vertices = description.vertices;
    this.sources = description.origins;
    this.values = description.rest;
    this.all = new Surface(null, description.vertices, description.corners, description.seams);
  }

  get place(): DataTexture {
    return this.drawn.place;
  }

  get normal(): DataTexture {
    return this.drawn.normal;
  }

  get everywhere(): DataTexture {
    return this.all.place;
  }

  private get drawn(): Surface {
    return this.sketched && this.few ? this.few : this.all;
  }

  accept(frame: Frame): boolean {
    if (frame.form !== FORM.vertices || frame.a !== this.vertices || frame.b !== 0) return false;
    this.values = frame.values;
    for (const surface of [this.all, this.few]) surface?.changed();
    return true;
  }

  update(): void {
    this.drawn.move(this.values);
    this.drawn.face();
  }

  updateAll(): void {
    this.all.move(this.values);
  }

  refresh(): void {
    for (const surface of [this.all, this.few]) surface?.changed();
  }

  sketch(vertices: Uint32Array, triangles: Uint32Array): Uint32Array {
    const rows = vertices.map((vertex) => this.sources[vertex]);
    const seams = renumbered(rows.map((row) => this.description.seams[row]));
    this.few?.dispose();
    this.few = new Surface(rows, rows.length, triangles, seams);
    return rows.map((_, i) => i);
  }

  read(): Float32Array {
    return this.values.slice();
  }

  dispose(): void {
    for (const surface of [this.all, this.few]) surface?.dispose();
  }
}

/** Some rows of what is streamed, or all of them, as tables; brought up to date when they are needed. */
class Surface {
  readonly place: DataTexture;
  readonly normal: DataTexture;
  private readonly shading: Shading;
  private isMoved = false;
  private isFaced = false;

  constructor(
    private readonly which: Uint32Array | null,
    rows: number,
    corners: Uint32Array,
    seams: Uint32Array,
  ) {
    this.shading = new Shading(corners, seams);
    this.place = table(rows, 3);
    this.normal = table(rows, 3);
  }

  changed(): void {
    this.isMoved = this.isFaced = false;
  }

  /** The places, from three numbers a streamed row. */
  move(values: Float32Array): void {
    if (this.isMoved) return;
    this.isMoved = true;
    const places = numbersOf(this.place);
    const { which } = this;
    if (!which) places.set(values);
    else
      for (let i = 0, to = 0; i < which.length; i++) {
        const from = 3 * which[i];
        places[to++] = values[from];
        places[to++] = values[from + 1];
        places[to++] = values[from + 2];
      }
    this.place.needsUpdate = true;
  }

  /** The normals, of the places as they are. */
  face(): void {
    if (this.isFaced) return;
    this.isFaced = true;
    this.shading.write(numbersOf(this.place), numbersOf(this.normal));
    this.normal.needsUpdate = true;
  }

  dispose(): void {
    this.place.dispose();
    this.normal.dispose();
  }
}

/** The same numbers as 0, 1, 2 ... in the order in which they come first. */
export function renumbered(numbers: Uint32Array): Uint32Array {
  const known = new Map<number, number>();
  return numbers.map((number) => {
    const place = known.get(number) ?? known.size;
    known.set(number, place);
    return place;
  });
}
