import js from '@eslint/js'
import globals from 'globals'
import tseslint from 'typescript-eslint'

/** The arrows of the house: what a room may not import. `core` is the innermost room and knows no other. `tools` are programs beside the library. */
const room = (name, forbidden, message, house = 'src') => ({
  files: [`${house}/${name}/**`],
  rules: { 'no-restricted-imports': ['error', { patterns: [{ regex: forbidden, message }] }] },
})

/** Programs that are compiled once, with their types kept. `projectService` compiles anew after a file with a shebang, and keeps watch: a sixth more processor time. */
const projects = [
  '',
  'examples/',
  'examples/migrating/',
  'examples/pages/',
  'scripts/angular/',
  'test/frameworks/',
].map((folder) => `${folder}tsconfig.json`)

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', '.pack-check/', 'api/', 'site/', 'examples/next/'] },
  js.configs.recommended,
  { files: ['**/*.{mjs,cjs}'], languageOptions: { globals: globals.node } },
  {
    files: ['test/browser/app/**', 'examples/spa/*.js', 'scripts/soak/*/page.mjs', 'scripts/play/app/**'],
    languageOptions: { globals: globals.browser },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: projects, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // A source may throw the answer that refuses it.
      '@typescript-eslint/only-throw-error': ['error', { allow: [{ from: 'lib', name: 'Response' }] }],
      // A copy leaves a member out by naming it beside the rest.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      // A fifth of the linter's time. There are no enums to mistake: `erasableSyntaxOnly` forbids them. Classes with private members are nominal for the compiler.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // `void` marks a promise or a value that is dropped on purpose.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
    },
  },
  {
    files: ['{src,tools}/**'],
    rules: { 'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }] },
  },
  { files: ['src/**'], rules: { complexity: ['error', 15] } },
  {
    files: ['src/{core,record,login}/**'],
    rules: { 'max-lines-per-function': ['error', { max: 32, skipBlankLines: true, skipComments: true }] },
  },
  room(
    'core',
    '^(?!\\./|async-mutex$|p-retry$)',
    'core imports only core, async-mutex and p-retry: the world comes in through its ports.',
  ),
  room(
    'wire',
    '^(?!\\./|\\.\\./core/|axios$)',
    'wire imports core and axios, and nothing of Node: the main entry loads in any runtime.',
  ),
  room(
    'service',
    '^(?!\\./|\\.\\./(core|wire)/)',
    'service imports core and wire: the main entry loads in any runtime.',
  ),
  room(
    'oauth2',
    '^(?!\\./|\\.\\./(core|wire|resources)/|\\.\\./(login/person|dpop/key-fit|client/(challenges|token-error-in))\\.ts$)',
    'oauth2 imports core, wire, resources, the login of a person, the keys that fit, and how client reads challenges: it loads in any runtime.',
  ),
  room(
    'login',
    '^(?!\\./|\\.\\./core/|\\.\\./record/(failure-of-other|identity|other-owners)\\.ts$)',
    'login imports core, and how record identifies a login and meets other owners: core knows it only as a type.',
  ),
  room('log', '^(?!\\./|\\.\\./core/)', 'log imports core: core emits events and writes no lines.'),
  room(
    'resources',
    '^(?!\\./|\\.\\./core/|\\.\\./record/record-shape\\.ts$)',
    'resources imports core, and of the record its types: a page without a store loads no record.',
  ),
  room('client', '^(?!\\./|\\.\\./core/)', 'client imports core and no client library: it serves them all.'),
  room(
    'dpop',
    '^(?!\\./|\\.\\./core/|\\.\\./web/(indexed-db|reason)\\.ts$)',
    'dpop imports core, and how web reaches IndexedDB: it loads in any runtime.',
  ),
  room(
    'axios',
    '^(?!\\./|\\.\\./(core|client)/|axios$)',
    'axios imports core, client and axios, no other room and nothing of Node: the main entry loads in any runtime.',
  ),
  room('fetch', '^(?!\\./|\\.\\./(core|client)/)', 'fetch imports core and client, and no axios: it loads without it.'),
  room(
    'mcp',
    '^(?!\\./|\\.\\./(client|core|fetch|login|oauth2|wire)/)',
    'mcp imports client, core, fetch, login, oauth2, wire, and no SDK: the user brings one.',
  ),
  room('record', '^(?!\\./|\\.\\./core/)', 'record imports core: its rules know no store.'),
  room('store', '^(?!\\./|\\.\\./(core|record)/)', 'store imports core, record and no other room.'),
  room('redis', '^(?!\\./|\\.\\./(core|store)/)', 'redis imports core and store, and no client: the user brings one.'),
  room(
    'postgres',
    '^(?!\\./|\\.\\./(core|store)/)',
    'postgres imports core and store, and no client: the user brings one.',
  ),
  room(
    'sqlite',
    '^(?!\\./|\\.\\./(core|store)/|node:)',
    'sqlite imports core, store and the types of Node: it loads the modules of Node when it needs them.',
  ),
  room(
    'inspector',
    '^(?!\\./|\\.\\./core/|axios$)',
    'inspector imports core and the types of axios, and no framework.',
  ),
  room(
    'web',
    '^(?!\\./|\\.\\./(core|store)/|\\.\\./(login/(change-signal|pending-logins)|record/memory-store)\\.ts$)',
    'web imports core, store, memory, and what login says of acts in other tabs: it loads in any runtime.',
  ),
  room(
    'opentelemetry',
    '^(?!\\./|\\.\\./core/|@opentelemetry/api$)',
    'opentelemetry imports core and the API of OpenTelemetry, and no SDK: the user brings one.',
  ),
  room(
    'doctor',
    '^(?!\\./|\\.\\./\\.\\./src/(((oauth2|sqlite)/)?index|core/option-checks|wire/(http-date|intermediary|proxy))\\.ts$|node:|axios$)',
    'doctor imports the main entry, as its users do, the suggestion of core, three readers of wire, axios and Node.',
    'tools',
  ),
  room(
    'testing',
    '^(?!\\./|node:)',
    'testing is an independent reading of the specification: it shares no code with the library.',
    'tools',
  ),
  {
    files: ['src/core/**'],
    ignores: ['src/core/clock.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['performance', 'setTimeout', 'setInterval', 'setImmediate', 'process'].map((name) => ({
          name,
          message: 'core takes time from its Clock and knows no process.',
        })),
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "MemberExpression[object.name='Date'][property.name='now'], NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'core takes time from its Clock.',
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'examples/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      // Listeners that are asynchronous are among what is tested.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "CallExpression[callee.property.name='toMatchObject'] :matches(Property, ArrayExpression) > Literal[regex]",
          message:
            'toMatchObject takes a RegExp for an object without members, which matches all: use expect.stringMatching.',
        },
      ],
    },
  },
  {
    files: ['examples/**/*.{ts,tsx}'],
    rules: {
      // As the frameworks that they use would have it.
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-deprecated': 'off',
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'off',
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: ['describe', 'it'], package: 'node:test' }] },
      ],
    },
  },
)
