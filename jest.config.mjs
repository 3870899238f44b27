export default {
  testEnvironment: 'node',
  restoreMocks: true,
  // jest would leave one core idle.
  maxWorkers: '100%',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  transform: {
    '\\.(ts|js)$': [
      '@swc/jest',
      { module: { type: 'commonjs' }, jsc: { target: 'es2022', parser: { syntax: 'typescript' } } },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!(p-retry|is-network-error)/)'],
  setupFilesAfterEnv: ['<rootDir>/test/support/tripwires.ts'],
  collectCoverageFrom: ['src/**/*.ts'],
  coverageThreshold: { global: { lines: 95, functions: 95, branches: 90, statements: 95 } },
}
