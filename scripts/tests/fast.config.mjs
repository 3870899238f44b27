import config, { browserTests, slowTests } from '../../jest.config.mjs'

// npm test: all tests but the slow ones and those in browsers.
export default {
  ...config,
  rootDir: '../..',
  testPathIgnorePatterns: ['/node_modules/', ...slowTests, ...browserTests],
}
