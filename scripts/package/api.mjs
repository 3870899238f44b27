// Compares the public surface, as the built declarations show it, with the reports in api/, so that a diff shows every change:
// npm run check:api. After an intended change: npm run check:api -- --write
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor'

const isWriting = process.argv.includes('--write')
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
const temporary = mkdtempSync(join(tmpdir(), 'api-'))
mkdirSync('api', { recursive: true })

const none = { default: { logLevel: 'none' } }
const configs = Object.values(exports)
  .filter((entry) => entry.import !== undefined) // all but package.json
  .map(({ import: { types } }) =>
    ExtractorConfig.prepare({
      packageJsonFullPath: resolve('package.json'),
      configObject: {
        projectFolder: resolve('.'),
        mainEntryPointFilePath: resolve(types),
        compiler: { tsconfigFilePath: resolve('tsconfig.json') },
        apiReport: {
          enabled: true,
          reportFileName: basename(types, '.d.ts'),
          reportFolder: resolve('api'),
          reportTempFolder: temporary,
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        // TypeDoc checks the docstrings, and tsc the types. An entry may use what another one exports.
        messages: { extractorMessageReporting: none, tsdocMessageReporting: none, compilerMessageReporting: none },
      },
    }),
  )
// One compiler program for all entries: three times as fast.
const compilerState = CompilerState.create(configs[0], {
  additionalEntryPoints: configs.map((config) => config.mainEntryPointFilePath),
})
const changed = configs.filter((config) => {
  const messageCallback = (message) => (message.handled = true)
  return Extractor.invoke(config, { compilerState, localBuild: isWriting, messageCallback }).apiReportChanged
})
rmSync(temporary, { recursive: true })
if (changed.length > 0 && !isWriting) {
  const files = changed.map(({ reportFilePath }) => `api/${basename(reportFilePath)}`)
  console.error(`The public surface differs from ${files.join(', ')}. If intended: npm run check:api -- --write`)
  process.exitCode = 1
}
