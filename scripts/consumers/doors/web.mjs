import assert from 'node:assert/strict'
import { followPage, webStore } from 'axios-evergreen/web'

// Both need a page; that they load without one lets the same code render on a server.
assert.equal(typeof followPage, 'function')
assert.equal(typeof webStore, 'function')
