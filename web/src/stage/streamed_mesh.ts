/**
 * Streamed vertices: positions are copied into the tables, and normals are computed from the triangles that are drawn.
 */
import type { DataTexture } from "three";
import { makeTable, tableData } from "./data_textures";
import type { Deformation } from "./deformation";
import type { Description } from "./description";
import { FORM, type Frame } from "./frames";
import { Shading } from "./shading";

export class StreamedMesh implements Deformation {
  readonly count = 1;
  readonly vertices: number;
  readonly sources: Uint32Array;
  usesLod = false;
  private readonly all: Surface;
  private lodSurface: Surface | null = null;
  private values: Float32Array; // of the last frame

  constructor(private readonly description: Description) {
    this.vertices = description.vertices;
    this.sources = description.origins;
    this.values = description.rest;
    this.all = new Surface(null, description.vertices, description.corners, description.seams);
  }

  get positionTexture(): DataTexture {
    return this.drawnSurface.place;
  }

  get normalTexture(): DataTexture {
    return this.drawnSurface.normal;
  }

  get allPositions(): DataTexture {
    return this.all.place;
  }

  private get drawnSurface(): Surface {
    return this.usesLod && this.lodSurface ? this.lodSurface : this.all;
  }

  accept(frame: Frame): boolean {
    if (frame.form !== FORM.vertices || frame.a !== this.vertices || frame.b !== 0) return false;
    this.values = frame.values;
    for (const surface of [this.all, this.lodSurface]) surface?.invalidate();
    return true;
  }

  update(): void {
    this.drawnSurface.move(this.values);
    this.drawnSurface.writeNormals();
  }

  updateAll(): void {
    this.all.move(this.values);
  }

  refresh(): void {
    for (const surface of [this.all, this.lodSurface]) surface?.invalidate();
  }

  setLod(vertices: Uint32Array, triangles: Uint32Array): Uint32Array {
    const rows = vertices.map((vertex) => this.sources[vertex]);
    const seams = renumber(rows.map((row) => this.description.seams[row]));
    this.lodSurface?.dispose();
    this.lodSurface = new Surface(rows, rows.length, triangles, seams);
    return rows.map((_, i) => i);
  }

  readPositions(): Float32Array {
    return this.values.slice();
  }

  dispose(): void {
    for (const surface of [this.all, this.lodSurface]) surface?.dispose();
  }
}

/** All streamed rows or some of them as tables; they are updated when they are needed. */
class Surface {
  readonly place: DataTexture;
  readonly normal: DataTexture;
  private readonly shading: Shading;
  private hasPositions = false;
  private hasNormals = false;

  constructor(
    private readonly which: Uint32Array | null,
    rows: number,
    corners: Uint32Array,
    seams: Uint32Array,
  ) {
    this.shading = new Shading(corners, seams);
    this.place = makeTable(rows, 3);
    this.normal = makeTable(rows, 3);
  }

  invalidate(): void {
    this.hasPositions = this.hasNormals = false;
  }

  /** Writes the positions, from three numbers for each streamed row. */
  move(values: Float32Array): void {
    if (this.hasPositions) return;
    this.hasPositions = true;
    const places = tableData(this.place);
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

  /** Writes the normals of the current positions. */
  writeNormals(): void {
    if (this.hasNormals) return;
    this.hasNormals = true;
    this.shading.write(tableData(this.place), tableData(this.normal));
    this.normal.needsUpdate = true;
  }

  dispose(): void {
    this.place.dispose();
    this.normal.dispose();
  }
}

/** Replaces numbers by 0, 1, 2 ... in the order of their first occurrence. */
export function renumber(numbers: Uint32Array): Uint32Array {
  const known = new Map<number, number>();
  return numbers.map((number) => {
    const place = known.get(number) ?? known.size;
    known.set(number, place);
    return place;
  });
}
