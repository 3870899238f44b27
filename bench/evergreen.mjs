// The only module that imports the package: the built files, so that the benchmarks measure what is shipped.
export * from '../dist/index.js'
export * from '../dist/redis.js'
export * from '../dist/testing.js'
