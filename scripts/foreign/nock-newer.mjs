import nock from 'nock-newer'
import { checkNock } from './lib/nock.mjs'

await checkNock(nock, 'nock 15')
