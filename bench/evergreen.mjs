// The one place that imports the package: as it is built, so that what is measured is what is shipped.
export * from '../dist/index.js'
export * from '../dist/redis.js'
export * from '../dist/testing.js'
