import assert from 'node:assert/strict'
import { inspect } from 'axios-evergreen/web/inspector'

// It needs a page to draw on.
assert.equal(typeof inspect, 'function')
