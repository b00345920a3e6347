/**
 * Tables of numbers on the graphics card: float textures that are read by row number, 2048 rows in a line of texels.
 */
import { DataTexture, FloatType, NearestFilter, type PixelFormat, RGBAFormat, RGBFormat } from "three";

export const LINE_TEXELS = 2048; // every WebGL2 device supports textures of this width

/** The number of texture lines that a table of so many rows needs. */
export function lineCount(rows: number): number {
  return Math.max(1, Math.ceil(rows / LINE_TEXELS));
}

/** GLSL to read row `i` of a table. */
export const READ_ROW = /* glsl */ `
vec4 rowOf(highp sampler2D table, int i) { return texelFetch(table, ivec2(i & ${LINE_TEXELS - 1}, i >> 11), 0); }
`;

/** An empty table with `rows` rows of three or four numbers. */
export function makeTable(rows: number, width: 3 | 4): DataTexture {
  const format: PixelFormat = width === 4 ? RGBAFormat : RGBFormat;
  const height = lineCount(rows);
  const texture = new DataTexture(
    new Float32Array(LINE_TEXELS * height * width),
    LINE_TEXELS,
    height,
    format,
    FloatType,
  );
  texture.minFilter = texture.magFilter = NearestFilter;
  if (width === 3) texture.internalFormat = "RGB32F";
  texture.needsUpdate = true;
  return texture;
}

/** The numbers of a table. */
export function tableData(texture: DataTexture): Float32Array {
  return texture.image.data as Float32Array;
}

/** A table with these numbers. */
export function tableFrom(numbers: Float32Array, width: 3 | 4): DataTexture {
  const texture = makeTable(numbers.length / width, width);
  tableData(texture).set(numbers);
  return texture;
}
