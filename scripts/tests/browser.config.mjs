import config, { browserTests } from '../../jest.config.mjs'

// npm run test:browser: the built package in a real Chromium. `npm run test:engines` runs the suites of all engines in Firefox and WebKit, too:
// ENGINES=webkit npx jest --config scripts/tests/browser.config.mjs FILE runs one.
process.env.ENGINES ??= 'chromium'

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
