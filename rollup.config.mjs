// Types only; rolldown makes the JavaScript.
import { dts } from 'rollup-plugin-dts'
import { entries } from './scripts/lib/entries.mjs'

const output = (extension) => ({
  dir: 'dist',
  format: 'esm',
  entryFileNames: `[name].d.${extension}`,
  chunkFileNames: `types-[hash].d.${extension}`,
})

export default {
  input: entries,
  external: ['axios', 'async-mutex', 'p-retry', '@opentelemetry/api', /^node:/],
  plugins: [dts()],
  output: [output('ts'), output('cts')],
}
