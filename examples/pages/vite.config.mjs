// Builds the page of each framework, and the worker. A project of yours needs the plugin of its own framework, and no alias.
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const entry = (name) => ({ find: `axios-evergreen${name}`, replacement: here(`../../src${name}/index.ts`) })

export default defineConfig({
  root: here('.'),
  plugins: [vue(), svelte()],
  resolve: { alias: [entry('/login'), entry('/oauth2'), entry('/web'), entry('')] },
  build: {
    // The page waits for its key before it does anything else.
    target: 'es2022',
    rollupOptions: {
      input: {
        react: here('react/main.tsx'),
        vue: here('vue/main.ts'),
        svelte: here('svelte/main.ts'),
        angular: here('angular/main.ts'),
        redirect: here('redirect/page.ts'),
        transfers: here('redirect/transfers.ts'),
        tokens: here('tokens.ts'),
        session: here('session/tokens.ts'),
        page: here('worker/page.ts'),
        worker: here('worker/worker.ts'),
      },
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: '[name].js' },
    },
  },
})
