// Types only; rolldown makes the JavaScript.
import { dts } from 'rollup-plugin-dts'

const rooms = ['inspector', 'oauth2', 'opentelemetry', 'postgres', 'redis', 'store', 'testing', 'web']
const output = (extension) => ({
  dir: 'dist',
  format: 'esm',
  entryFileNames: `[name].d.${extension}`,
  chunkFileNames: `types-[hash].d.${extension}`,
})

export default {
  input: { index: 'src/index.ts', ...Object.fromEntries(rooms.map((room) => [room, `src/${room}/index.ts`])) },
  external: ['axios', 'async-mutex', 'p-retry', '@opentelemetry/api', /^node:/],
  plugins: [dts()],
  output: [output('ts'), output('cts')],
}
