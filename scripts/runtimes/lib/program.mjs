// For Node, Bun and Deno: the only argument is the address of the services; the results go to stdout.
import { runChecks } from './run.mjs'

const [origin] = globalThis.Deno ? globalThis.Deno.args : globalThis.process.argv.slice(2)
console.log(`results: ${JSON.stringify(await runChecks(origin))}`)
