const { TestEnvironment } = require('jest-environment-node')

/** The mutant under which a test has failed: no other test needs to run. */
let killed

/** Skips all tests after the first failure: if one test hangs, hundreds do. */
module.exports = class FailFast extends TestEnvironment {
  async handleTestEvent({ name, test }) {
    const mutant = this.global.__stryker__?.activeMutant
    if (mutant === undefined) return
    if (name === 'test_fn_failure' || name === 'hook_failure') killed = mutant
    if (name === 'test_start' && killed === mutant) test.mode = 'skip'
  }
}
