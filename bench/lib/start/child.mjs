// Measures how long the import of a package takes after that of axios, for the process that started this one.
const before = performance.now()
await import('axios')
const between = performance.now()
await import(process.argv[2])
process.send({ axios: between - before, beyond: performance.now() - between }, () => process.exit())
