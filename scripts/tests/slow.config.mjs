import config, { coveredSlowly, inParts, slowTests } from '../../jest.config.mjs'

// npm run test:slow: what npm test leaves out. Coverage does not count the processes that these tests start.
export default {
  ...config,
  rootDir: '../..',
  testMatch: [...slowTests, ...inParts],
  collectCoverageFrom: coveredSlowly,
}
