import config, { browserTests } from '../../jest.config.mjs'

// npm run test:browser: the built package in a real Chromium. `npm run test:engines` also runs the cross-engine suites in Firefox and WebKit.
// For one file: ENGINES=webkit npx jest --config scripts/tests/browser.config.mjs FILE
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
