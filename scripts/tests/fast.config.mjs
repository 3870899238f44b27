import config, { slowTests } from '../../jest.config.mjs'
import { inRooms, testFiles } from './rooms.mjs'

const isFast = (name) => !name.startsWith('browser/') && !slowTests.includes(`<rootDir>/test/${name}`)
process.env.TESTS = 'fast' // for test/support/part.ts

// npm test: all tests but the slow ones and those in browsers. It needs no server.
export default {
  ...config,
  rootDir: '../..',
  // The longest test takes 4 s on an idle machine. A wrong rule can hang many tests, one after the other.
  testTimeout: 60_000,
  testMatch: inRooms('rooms', testFiles().filter(isFast)),
  globalSetup: undefined,
  globalTeardown: undefined,
}
