/** All rooms but those that only a process of their own can load: the doctor, the inspector, OpenTelemetry, the simulated service. */
const rooms = [
  ...['core', 'wire', 'service', 'store', 'redis', 'postgres', 'sqlite'],
  ...['oauth2', 'web', 'dpop', 'client', 'fetch'],
]

// npm run test:mutation: changes these rooms in thousands of small ways, and runs the tests that reach each change. Of one room:
// npm run test:mutation -- --mutate 'src/store/**/*.ts'
export default {
  mutate: rooms.map((room) => `src/${room}/**/*.ts`),
  testRunner: 'jest',
  jest: { projectType: 'custom', configFile: 'scripts/mutation/jest.config.mjs' },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // Values that modules compute once when they load are seen by every test: one such mutant costs a run of all of them.
  ignoreStatic: true,
  reporters: ['progress-append-only', 'clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: 'coverage/mutation.json' },
  thresholds: { high: 95, low: 90, break: 90 },
  ignorePatterns: ['/coverage', '/dist', '/examples', '/bench'],
  timeoutMS: 10_000,
}
