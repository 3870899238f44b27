import config from '../../jest.config.mjs'

// npm run test:next: the example of Next.js, with the real framework. Not part of the gate: its packages have 370 MB.
export default {
  ...config,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/frameworks/next.manual.ts'],
  globalSetup: undefined,
  globalTeardown: undefined,
  coverageThreshold: undefined,
}
