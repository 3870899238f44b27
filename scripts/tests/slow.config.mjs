import config, { slowTests } from '../../jest.config.mjs'

// npm run test:slow: what npm test leaves out. Its processes are not those whose coverage is counted.
export default { ...config, rootDir: '../..', testMatch: slowTests, coverageThreshold: undefined }
