import config, { coveredSlowly, slowTests } from '../../jest.config.mjs'

process.env.TESTS = 'part' // for test/support/part.ts

// npm run test:slow: what npm test leaves out. Coverage does not count the processes that these tests start.
export default {
  ...config,
  rootDir: '../..',
  testMatch: slowTests,
  collectCoverageFrom: coveredSlowly,
}
