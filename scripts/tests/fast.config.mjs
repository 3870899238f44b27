import config, { slowTests } from '../../jest.config.mjs'

// npm test: all but the slow ones.
export default { ...config, rootDir: '../..', testPathIgnorePatterns: ['/node_modules/', ...slowTests] }
