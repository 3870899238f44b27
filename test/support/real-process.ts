import { runInThisContext } from 'node:vm'

/** The process itself: jest gives each test file a copy, which receives neither warnings nor unhandled rejections. */
export const realProcess = runInThisContext('process') as NodeJS.Process
