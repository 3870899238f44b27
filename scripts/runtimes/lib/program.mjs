// For Node, Bun and Deno: the address of the services is the only argument, the results go to stdout.
import { runChecks } from './run.mjs'

const [origin] = globalThis.Deno ? globalThis.Deno.args : globalThis.process.argv.slice(2)
console.log(`results: ${JSON.stringify(await runChecks(origin))}`)
