import nock from 'nock'
import { checkNock } from '../lib/nock.mjs'

await checkNock(nock, 'nock 15')
