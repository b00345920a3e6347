// What three-vrm makes of an avatar and a VRM animation: its bones and expressions, and the poses at given times.
//
// standard input   {"avatar": file, "animation": file or null, "times": [seconds], "springs": seconds of a step or null}
// standard output  {"bones": {bone: node}, "expressions": [names], "matrices": [[16 numbers for each node]], 
//                   "weights": [{expression: weight}]}
import { readFileSync } from 'node:fs'
import { VRMLoaderPlugin } from '@pixiv/three-vrm'
import { createVRMAnimationClip, VRMAnimationLoaderPlugin } from '@pixiv/three-vrm-animation'
import { AnimationMixer } from 'three'
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js'
import { packedWithoutPictures } from './gltf_parts.mjs'

globalThis.self ??= globalThis // the loader asks for the browser's name of the global object

async function load(path, plugin) {
  const { json, glb } = packedWithoutPictures(path)
  const loader = new GLTFLoader()
  loader.register(plugin)
  return { json, gltf: await loader.parseAsync(glb, '') }
}

const order = JSON.parse(readFileSync(0, 'utf8'))
const { json, gltf } = await load(order.avatar, (parser) => new VRMLoaderPlugin(parser))
const vrm = gltf.userData.vrm
const objects = new Array(json.nodes.length).fill(null)
gltf.scene.traverse((object) => {
  const made = gltf.parser.associations.get(object)
  if (made?.nodes !== undefined) objects[made.nodes] = object
})
const bones = {}
for (const [bone, { node }] of Object.entries(vrm.humanoid.rawHumanBones)) bones[bone] = objects.indexOf(node)
const matrices = []
const weights = []
if (order.animation) {
  const animation = await load(order.animation, (parser) => new VRMAnimationLoaderPlugin(parser))
  const mixer = new AnimationMixer(vrm.scene)
  mixer.clipAction(createVRMAnimationClip(animation.gltf.userData.vrmAnimations[0], vrm)).play()
  for (const time of order.times) {
    mixer.setTime(time)
    vrm.humanoid.update()
    vrm.scene.updateMatrixWorld(true)
    vrm.nodeConstraintManager?.update()
    vrm.scene.updateMatrixWorld(true)
    if (order.springs) {
      if (!matrices.length) vrm.springBoneManager.reset()
      vrm.springBoneManager.update(order.springs)
      vrm.scene.updateMatrixWorld(true)
    }
    matrices.push(objects.flatMap((object) => object?.matrixWorld.toArray() ?? new Array(16).fill(null)))
    weights.push(vrm.expressionManager?.getValue ? Object.fromEntries(
      vrm.expressionManager.expressions.map((one) => [one.expressionName, one.weight])) : {})
  }
}
const expressions = vrm.expressionManager?.expressions.map((one) => one.expressionName) ?? []
process.stdout.write(JSON.stringify({ bones, expressions, matrices, weights }))
