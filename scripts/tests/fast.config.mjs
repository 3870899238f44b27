import config, { browserTests, slowTests } from '../../jest.config.mjs'

// npm test: all but the slow ones, and those of browsers.
export default {
  ...config,
  rootDir: '../..',
  testPathIgnorePatterns: ['/node_modules/', ...slowTests, ...browserTests],
}
