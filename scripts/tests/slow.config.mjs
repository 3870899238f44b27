import config, { slowTests } from '../../jest.config.mjs'

// npm run test:slow: what npm test leaves out. Coverage would not count the processes that these tests start.
export default { ...config, rootDir: '../..', testMatch: slowTests, coverageThreshold: undefined }
