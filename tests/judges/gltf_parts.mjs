// A glTF file as JSON and one block of bytes, without materials and images, packed again as a GLB in memory.
// three.js needs a browser only for pictures; without them its loader runs in Node.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const JSON_CHUNK = 0x4e4f534a
const BIN_CHUNK = 0x004e4942

export function readGltf(path) {
  const bytes = readFileSync(path)
  if (bytes.toString('latin1', 0, 4) !== 'glTF') return { json: JSON.parse(bytes.toString('utf8')), bin: null }
  let json = null
  let bin = null
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at)
    const type = bytes.readUInt32LE(at + 4)
    const chunk = bytes.subarray(at + 8, at + 8 + length)
    if (type === JSON_CHUNK) json = JSON.parse(chunk.toString('utf8'))
    if (type === BIN_CHUNK && bin === null) bin = chunk
    at += 8 + length
  }
  return { json, bin }
}

const MESHOPT = ['EXT_meshopt_compression', 'KHR_meshopt_compression']

function bufferBytes(buffer, bin, folder) {
  // a fallback buffer only stands for what compressed views decode to
  if (MESHOPT.some((name) => buffer.extensions?.[name]?.fallback)) return Buffer.alloc(0)
  if (buffer.uri === undefined) return bin
  const embedded = /^data:[^,]*;base64,/.exec(buffer.uri)
  if (embedded) return Buffer.from(buffer.uri.slice(embedded[0].length), 'base64')
  return readFileSync(join(folder, decodeURIComponent(buffer.uri)))
}

function stripPictures(json) {
  for (const name of ['materials', 'textures', 'images', 'samplers']) delete json[name]
  for (const mesh of json.meshes ?? []) for (const primitive of mesh.primitives) delete primitive.material
}

export function packedWithoutPictures(path) {
  const { json, bin } = readGltf(path)
  stripPictures(json)
  const blocks = []
  const starts = []
  let size = 0
  for (const buffer of json.buffers ?? []) {
    const bytes = bufferBytes(buffer, bin, dirname(path)).subarray(0, buffer.byteLength)
    const padded = Buffer.alloc(Math.ceil(bytes.length / 8) * 8)
    bytes.copy(padded)
    starts.push(size)
    blocks.push(padded)
    size += padded.length
  }
  for (const view of json.bufferViews ?? []) {
    const compressed = MESHOPT.map((name) => view.extensions?.[name]).filter((one) => one !== undefined)
    for (const place of [view, ...compressed]) {
      place.byteOffset = (place.byteOffset ?? 0) + starts[place.buffer]
      place.buffer = 0
    }
  }
  if (blocks.length) json.buffers = [{ byteLength: size }]
  return { json, glb: pack(json, Buffer.concat(blocks)) }
}

function pack(json, bin) {
  const text = Buffer.from(JSON.stringify(json))
  const chunk = (type, bytes, filler) => {
    const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4, filler)
    bytes.copy(padded)
    const head = Buffer.alloc(8)
    head.writeUInt32LE(padded.length, 0)
    head.writeUInt32LE(type, 4)
    return Buffer.concat([head, padded])
  }
  const chunks = [chunk(JSON_CHUNK, text, 0x20)]
  if (bin.length) chunks.push(chunk(BIN_CHUNK, bin, 0))
  const body = Buffer.concat(chunks)
  const head = Buffer.alloc(12)
  head.write('glTF', 0, 'latin1')
  head.writeUInt32LE(2, 4)
  head.writeUInt32LE(12 + body.length, 8)
  const whole = Buffer.concat([head, body])
  return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length)
}
