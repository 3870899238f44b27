// Types only; rolldown makes the JavaScript.
import { dts } from 'rollup-plugin-dts'
import { entries } from './scripts/lib/entries.mjs'

/**
 * Both formats read the same declarations, so most are in the package once: a file for ESM leads to the one for CommonJS. Only files that use the types of axios
 * are there twice, because axios declares its own for each format, and `declare module 'axios'` reaches those of one.
 */
const forEsm = {
  name: 'for-esm',
  generateBundle(_, bundle) {
    const isTwofold = (name) => name === 'axios' || (bundle[name]?.imports.some(isTwofold) ?? false)
    for (const [name, { isEntry, code }] of Object.entries(bundle)) {
      const own = name.replace('cjs/', '')
      const led = code.replace(/(?<=')\.\/(.+)\.js(?=';)/g, (path, other) =>
        isTwofold(`cjs/${other}.d.ts`) ? path : `./cjs/${other}.js`,
      )
      const source = isTwofold(name) ? led : isEntry && `export * from './${name.replace('.d.ts', '.js')}';\n`
      if (source) this.emitFile({ type: 'asset', fileName: own, source })
    }
  },
}

export default {
  input: entries,
  external: ['axios', 'async-mutex', 'p-retry', '@opentelemetry/api', /^node:/],
  plugins: [dts()],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: 'cjs/[name].d.ts',
    chunkFileNames: 'cjs/types-[hash].d.ts',
    manualChunks: (id) => (/src.(core|create-token-manager)/.test(id) ? 'core' : undefined),
    plugins: [forEsm],
  },
}
