// JavaScript: ESM that imports p-retry, CommonJS that carries it inside (p-retry is ESM only).
// No source maps: the output keeps its comments and file names, and the package does not ship what they would point at.
const rooms = ['inspector', 'oauth2', 'opentelemetry', 'postgres', 'redis', 'store', 'testing', 'web']
const input = { index: 'src/index.ts', ...Object.fromEntries(rooms.map((room) => [room, `src/${room}/index.ts`])) }
const external = ['axios', 'async-mutex', '@opentelemetry/api', /^node:/]
const dir = 'dist'
/** What several entries need is in few files: each file more is time at the start of a process. */
const codeSplitting = {
  groups: [
    { name: 'options', test: /src.core.(clock|option-checks)/ },
    ...['core', 'wire', 'store'].map((room) => ({ name: room, test: RegExp(`src.${room}.`), minShareCount: 2 })),
  ],
}

export default [
  {
    input,
    platform: 'neutral',
    external: [...external, 'p-retry'],
    output: { dir, format: 'esm', codeSplitting, chunkFileNames: 'shared-[name].js', cleanDir: true },
  },
  {
    input,
    platform: 'neutral',
    external,
    // Modules are strict by themselves; CommonJS would run the same code in sloppy mode.
    output: {
      dir,
      format: 'cjs',
      strict: true,
      entryFileNames: '[name].cjs',
      codeSplitting,
      chunkFileNames: 'shared-[name].cjs',
    },
  },
  // The program `axios-evergreen` uses the built package, as its users do.
  {
    input: { doctor: 'src/doctor/main.ts' },
    platform: 'node',
    external,
    plugins: [
      { name: 'built', resolveId: (id) => (id === '../index.ts' ? { id: './index.js', external: true } : null) },
    ],
    output: { dir, format: 'esm' },
  },
]
