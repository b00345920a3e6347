// What three.js makes of glTF files: world positions of all vertices and world matrices of all nodes at given times.
//
// standard input   {"output": file, 
//                   "jobs": [{"path": file, "requests": [{"clip": index or null, "times": [seconds]}]}]}
// standard output  [{"nodes": [...], "meshes": [...], "clips": [...], "requests": [{"vertices": at, "matrices": at}]}]
// output file      raw float64, little endian; `at` counts numbers. vertices (M, V, 3), matrices (M, N, 4, 4) column by column
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { MeshoptDecoder } from 'meshoptimizer/decoder'
import { AnimationMixer, LoopOnce, Vector3 } from 'three'
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js'
import { packedWithoutPictures } from './gltf_parts.mjs'

globalThis.self ??= globalThis // the loader asks for the browser's name of the global object

async function load(path) {
  const { json, glb } = packedWithoutPictures(path)
  const gltf = await new GLTFLoader().setMeshoptDecoder(MeshoptDecoder).parseAsync(glb, '')
  const objects = new Array((json.nodes ?? []).length).fill(null)
  const meshes = []
  gltf.scene.traverse((object) => {
    const made = gltf.parser.associations.get(object)
    if (made?.nodes !== undefined) objects[made.nodes] = object
    if (object.isMesh) meshes.push(object)
  })
  return { json, gltf, objects, meshes }
}

function describe({ json, gltf, objects, meshes }) {
  const nodeOf = (object) => {
    for (let at = object; at; at = at.parent) if (objects.includes(at)) return objects.indexOf(at)
    return -1
  }
  return {
    nodes: objects.map((object, i) => ({ name: json.nodes[i].name ?? null, inScene: object !== null })),
    meshes: meshes.map((mesh) => ({
      node: nodeOf(mesh),
      mesh: gltf.parser.associations.get(mesh)?.meshes ?? -1,
      primitive: gltf.parser.associations.get(mesh)?.primitives ?? 0,
      skinned: Boolean(mesh.isSkinnedMesh),
      vertices: mesh.geometry.attributes.position.count
    })),
    clips: gltf.animations.map((clip) => ({ name: clip.name, end: clip.duration }))
  }
}

function vertexPositions(meshes, out) {
  const point = new Vector3()
  let at = 0
  for (const mesh of meshes) {
    const count = mesh.geometry.attributes.position.count
    for (let i = 0; i < count; i++) {
      // morphs and skin, in the mesh's own space (a skinned mesh is taken back there by the inverse of its matrix)
      mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld)
      point.toArray(out, at)
      at += 3
    }
  }
}

function bake({ gltf, objects, meshes }, request, write) {
  const vertices = meshes.reduce((sum, mesh) => sum + mesh.geometry.attributes.position.count, 0)
  const times = request.clip === null ? [0] : request.times
  const positions = new Float64Array(times.length * vertices * 3)
  const matrices = new Float64Array(times.length * objects.length * 16).fill(NaN)
  const mixer = new AnimationMixer(gltf.scene)
  times.forEach((time, m) => {
    if (request.clip !== null) {
      // once and clamped: the last moment of the clip is the last key, not the first one again
      const action = mixer.clipAction(gltf.animations[request.clip]).reset().setLoop(LoopOnce, 1)
      action.clampWhenFinished = true
      action.play()
      mixer.setTime(time)
    }
    gltf.scene.updateMatrixWorld(true)
    vertexPositions(meshes, positions.subarray(m * vertices * 3, (m + 1) * vertices * 3))
    objects.forEach((object, n) => object?.matrixWorld.toArray(matrices, (m * objects.length + n) * 16))
  })
  mixer.stopAllAction() // puts the rest pose back
  return { vertices: write(positions), matrices: write(matrices) }
}

const order = JSON.parse(readFileSync(0, 'utf8'))
const file = openSync(order.output, 'w')
let written = 0
const write = (numbers) => {
  const at = written
  const bytes = Buffer.from(numbers.buffer)
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(file, bytes, sent)
  written += numbers.length
  return at
}
const answers = []
for (const job of order.jobs) {
  const scene = await load(job.path)
  answers.push({ ...describe(scene), requests: job.requests.map((request) => bake(scene, request, write)) })
}
closeSync(file)
process.stdout.write(JSON.stringify(answers))
