import { readFileSync } from 'node:fs'
import config from '../../jest.config.mjs'
import { testFiles } from './rooms.mjs'

const IN_PARTS = /\{[^}]*\b(part|usually)\b[^}]*\} from '.*\/(part|runs)\.ts'/
const isInParts = (name) =>
  !name.startsWith('browser/') && IN_PARTS.test(readFileSync(new URL(`../../test/${name}`, import.meta.url), 'utf8'))

// npm run test:whole: the large searches, of which npm test and npm run test:slow run a part (test/support/part.ts).
export default {
  ...config,
  rootDir: '../..',
  testMatch: testFiles()
    .filter(isInParts)
    .map((name) => `<rootDir>/test/${name}`),
  globalSetup: undefined,
  globalTeardown: undefined,
  coverageThreshold: undefined,
}
