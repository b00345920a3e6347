// What the Khronos glTF validator says about files.
//
// standard input   [file, ...]
// standard output  [{"errors": n, "warnings": n, "infos": n, "hints": n, "messages": [{code, message, severity, pointer}]}]
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import validator from 'gltf-validator'

const report = async (path) => {
  const result = await validator.validateBytes(new Uint8Array(readFileSync(path)), {
    uri: path,
    maxIssues: 200,
    externalResourceFunction: async (uri) => new Uint8Array(readFileSync(join(dirname(path), decodeURIComponent(uri))))
  })
  const { numErrors, numWarnings, numInfos, numHints, messages } = result.issues
  return { errors: numErrors, warnings: numWarnings, infos: numInfos, hints: numHints, messages }
}

const answers = []
for (const path of JSON.parse(readFileSync(0, 'utf8'))) answers.push(await report(path))
process.stdout.write(JSON.stringify(answers))
