/** Tests that start processes or threads, and one that compiles the sources. */
const processes = [
  ...['documents', 'credentials', 'doctor', 'token-command', 'examples', 'new-members', 'operations'],
  ...['faults/page-build', 'faults/pollution-doors', 'faults/pollution-members'],
  ...['faults/processes', 'faults/pollution', 'faults/pollution-alone', 'faults/fetch-pollution', 'faults/serverless'],
  ...[
    'faults/lineages',
    'service/polluted-prototype',
    'web/react-native',
    'exhaustive/removals',
    'properties/removed',
    'exhaustive/explorer',
  ],
  ...['figures/bounded', 'figures/exit', 'figures/process', 'figures/stampede'],
]
/** Searches, and figures of heavy traffic: `npm test` has smaller ones of the same promises. */
const large = [
  'core/state-diagram',
  'exhaustive/reduction',
  'figures/many-managers',
  'figures/outage',
  'figures/traffic',
  'store/fleet',
  'store/overload',
]
/** Tests with a real Redis or PostgreSQL. What a register must do is tested with one in memory by `npm test`, too. */
const servers = [
  ...[
    'clients',
    'doctor-store',
    'epoch',
    'failover',
    'fleet',
    'garbage',
    'logins',
    'model',
    'nights',
    'subscriber',
    'outage',
    'processes',
    'redis-store',
    'restored',
  ].map((name) => `redis/${name}`),
  ...[
    'redis/sharing',
    'redis/trouble',
    'postgres/epoch',
    'postgres/listener',
    'postgres/postgres-library',
    'postgres/postgres-register',
  ],
  ...[
    'postgres/postgres-store',
    'postgres/silence',
    'postgres/trouble',
    'store/commands',
    'store/recipes',
    'store/registers',
    'store/rolling-deploys',
    'resources/stores',
    'resources/places',
    'resources/processes',
  ],
  'faults/busy-loop',
]
/** Tests that need packages of a folder of their own (`scripts/lib/installed.mjs`): real servers, the SDK of OpenTelemetry, jsdom, query libraries. */
const guests = [
  'dpop/mutual-tls',
  'dpop/oidc-provider',
  'sqlite/bun',
  'sqlite/cli',
  'sqlite/clock-set',
  'sqlite/clock-set-processes',
  'sqlite/copies',
  'sqlite/file',
  'sqlite/lock',
  'sqlite/places',
  'sqlite/sqlite-store',
  'faults/jsdom',
  'frameworks/queries',
  'inspector/inspect',
  'loggers/loggers',
  'mocks/your-tests',
  'mcp/discovery',
  'mcp/granted-scope',
  'mcp/hosts',
  'mcp/mcp-login',
  'mcp/oidc-provider',
  'mcp/one-page',
  'mcp/processes',
  'migrating/msal-node',
  'oauth-doctor',
  'oauth2/servers',
  'oauth2/simulated',
  'opentelemetry/instrument',
  'operations/alerts',
  'resources/told',
  'resources/oidc-provider',
]

const pathOf = (name) => `<rootDir>/test/${name}.test.ts`

/** `npm run test:slow` alone. */
export const slowTests = [...processes, ...large, ...servers, ...guests].map(pathOf)

/** In both: `npm test` makes a few draws, `npm run test:slow` makes more and other ones (`share` in test/support/part.ts). */
export const sharedTests = [
  ...['responses', 'as-called', 'calls', 'doors', 'logins', 'manager', 'origins', 'parsers'].map(
    (name) => `properties/${name}`,
  ),
  ...['logins', 'second-origin', 'storm'].map((name) => `figures/${name}`),
  'core/background',
  'faults/throttled-fleet',
].map(pathOf)

/** What only slow tests cover. They hold it to the same threshold. */
export const coveredSlowly = [
  'src/opentelemetry/**/*.ts',
  'src/mcp/**/*.ts',
  'src/{postgres,redis}/**/*.ts',
  'src/sqlite/!(open-file).ts',
  'src/inspector/{elements,inspect,panel,row,rows}.ts',
]

/** In a browser: `npm run test:browser`. */
export const browserTests = ['<rootDir>/test/browser/']

export default {
  testEnvironment: 'node',
  restoreMocks: true,
  // A limit against hanging, not a measure: the machine may be busy with forty other things. Of `npm test`: a minute.
  testTimeout: 600_000,
  // jest would leave one core idle.
  maxWorkers: '100%',
  // A process that has called fetch ends when V8 has compiled the parser of its fetch: 0.25 s of processor time. What a test leaves open, tripwires.ts finds.
  workerGracefulExitTimeout: 30_000,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...browserTests],
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  globalSetup: '<rootDir>/test/support/servers-setup.mjs',
  globalTeardown: '<rootDir>/test/support/postgres-teardown.mjs',
  // Examples import the package by its name. Here that is its source, because nothing may be built yet.
  moduleNameMapper: {
    '^axios-evergreen$': '<rootDir>/src/index.ts',
    '^axios-evergreen/oauth2$': '<rootDir>/src/oauth2/index.ts',
  },
  transform: {
    '\\.(ts|m?js)$': [
      '@swc/jest',
      { module: { type: 'commonjs' }, jsc: { target: 'es2022', parser: { syntax: 'typescript' } } },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!(p-retry|is-network-error|openid-client|oauth4webapi|jose)/)'],
  setupFilesAfterEnv: ['<rootDir>/test/support/storages.ts', '<rootDir>/test/support/tripwires.ts'],
  coverageReporters: ['text'],
  // Run elsewhere: the doctor as a process, a file of SQLite in processes of a newer Node, IndexedDB in Chromium (npm run test:browser).
  collectCoverageFrom: [
    'src/**/*.ts',
    'tools/testing/**/*.ts',
    ...['src/web/{indexed-db,web-register}.ts', 'src/dpop/web-key.ts', 'src/sqlite/open-file.ts', ...coveredSlowly].map(
      (files) => `!${files}`,
    ),
  ],
  coverageThreshold: { global: { lines: 95, functions: 95, branches: 90, statements: 95 } },
}
