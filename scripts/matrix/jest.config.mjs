import config from '../../jest.config.mjs'

// One cell of scripts/test-matrix.mjs: another copy of axios instead of the installed one.
export default {
  ...config,
  rootDir: '../..',
  globalSetup: undefined,
  moduleNameMapper: { '^axios$': process.env.TEST_AXIOS_FILE },
  setupFiles: ['<rootDir>/test/support/adapter.ts'],
}
