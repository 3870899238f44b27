import config, { browserTests } from '../../jest.config.mjs'

// npm run test:browser: the built package in a real Chromium, and the suite of all engines in Firefox and WebKit, too.
export default {
  ...config,
  rootDir: '../..',
  testMatch: browserTests.map((folder) => `${folder}**/*.test.ts`),
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/test/support/browsers-setup.mjs',
  globalTeardown: undefined,
  // One browser at a time.
  maxWorkers: 1,
  coverageThreshold: undefined,
}
