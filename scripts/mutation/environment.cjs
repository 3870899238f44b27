const { TestEnvironment } = require('jest-environment-node')

/** Under this change a test has failed: nothing more needs to be known of it. */
let killed

/** Skips all that follows the first failure. Where one test hangs, hundreds do. */
module.exports = class FailFast extends TestEnvironment {
  async handleTestEvent({ name, test }) {
    const mutant = this.global.__stryker__?.activeMutant
    if (mutant === undefined) return
    if (name === 'test_fn_failure' || name === 'hook_failure') killed = mutant
    if (name === 'test_start' && killed === mutant) test.mode = 'skip'
  }
}
