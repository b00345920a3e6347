// What the meshopt library makes of numbers: its encoded bytes, and what its own decoder makes of these.
//
// standard input   [{"data": base64, "count", "stride", "mode", "filter", "version", "bits"}]
//                  with a filter, data are float32: vectors and rotations of 4 numbers, else stride / 4 numbers
// standard output  [{"encoded": base64, "decoded": base64}]
import { readFileSync } from 'node:fs'
import { MeshoptDecoder } from 'meshoptimizer/decoder'
import { MeshoptEncoder } from 'meshoptimizer/encoder'

await Promise.all([MeshoptDecoder.ready, MeshoptEncoder.ready])

const FILTERS = {
  OCTAHEDRAL: MeshoptEncoder.encodeFilterOct,
  QUATERNION: MeshoptEncoder.encodeFilterQuat,
  EXPONENTIAL: MeshoptEncoder.encodeFilterExp,
  COLOR: MeshoptEncoder.encodeFilterColor
}

const answers = JSON.parse(readFileSync(0, 'utf8')).map(({ data, count, stride, mode, filter, version, bits }) => {
  let bytes = new Uint8Array(Buffer.from(data, 'base64'))
  if (filter) bytes = FILTERS[filter](new Float32Array(bytes.buffer), count, stride, bits)
  const encoded = MeshoptEncoder.encodeGltfBuffer(bytes, count, stride, mode, version)
  const decoded = new Uint8Array(count * stride)
  MeshoptDecoder.decodeGltfBuffer(decoded, count, stride, encoded, mode, filter)
  const text = (array) => Buffer.from(array).toString('base64')
  return { encoded: text(encoded), decoded: text(decoded) }
})
process.stdout.write(JSON.stringify(answers))
