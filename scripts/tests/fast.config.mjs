import config, { slowTests } from '../../jest.config.mjs'
import { inRooms, testFiles } from './rooms.mjs'

const isFast = (name) => !name.startsWith('browser/') && !slowTests.includes(`<rootDir>/test/${name}`)
process.env.TESTS = 'part' // for test/support/part.ts

// npm test: all tests but the slow ones and those in browsers. It needs no server.
export default {
  ...config,
  rootDir: '../..',
  testMatch: inRooms('rooms', testFiles().filter(isFast)),
  globalSetup: undefined,
  globalTeardown: undefined,
}
