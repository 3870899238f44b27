import config, { coveredSlowly, sharedTests, slowTests } from '../../jest.config.mjs'

process.env.TESTS = 'slow' // for test/support/part.ts

// npm run test:slow: what npm test leaves out, and more draws of some searches. Coverage does not count the processes that these tests start.
export default {
  ...config,
  rootDir: '../..',
  testMatch: [...slowTests, ...sharedTests],
  collectCoverageFrom: coveredSlowly,
}
