// Types only; rolldown makes the JavaScript.
import { dts } from 'rollup-plugin-dts'

const output = (extension) => ({
  dir: 'dist',
  format: 'esm',
  entryFileNames: `[name].d.${extension}`,
  chunkFileNames: `types-[hash].d.${extension}`,
})

export default {
  input: { index: 'src/index.ts', redis: 'src/redis/index.ts', testing: 'src/testing/index.ts' },
  external: ['axios', 'async-mutex', 'p-retry', /^node:/],
  plugins: [dts()],
  output: [output('ts'), output('cts')],
}
