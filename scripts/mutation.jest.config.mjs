import config from '../jest.config.mjs'

// Without the tests that build the package, start processes or a Redis server: they see no mutant, or take too long.
export default {
  ...config,
  rootDir: '..',
  globalSetup: undefined,
  testMatch: ['<rootDir>/test/{core,service}/**/*.test.ts'],
  testPathIgnorePatterns: ['/processes'],
  testEnvironmentOptions: { globalsCleanup: 'off' },
  coverageThreshold: undefined,
}
