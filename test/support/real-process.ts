import { runInThisContext } from 'node:vm'

/** The process itself: jest gives each test file a copy, which hears neither of warnings nor of unhandled rejections. */
export const realProcess = runInThisContext('process') as NodeJS.Process
