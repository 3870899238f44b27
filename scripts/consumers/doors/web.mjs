import assert from 'node:assert/strict'
import { followPage, webStore } from 'axios-evergreen/web'

// Both need a page, but load without one, so that the same code can render on a server.
assert.equal(typeof followPage, 'function')
assert.equal(typeof webStore, 'function')
