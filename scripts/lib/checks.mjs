// Counts checks, and prints a line for each. The last line is `N passed, N failed`, which .ci/run and scripts/foreign.mjs read.
let [passed, failed] = [0, 0]

/** Runs a check. */
export async function check(name, act) {
  const failure = await Promise.resolve()
    .then(act)
    .then(
      () => undefined,
      (error) => error?.stack ?? String(error),
    )
  report(name, failure)
}

/** @param failure Why the check failed; undefined if it passed. */
export function report(name, failure) {
  if (failure === undefined) passed += 1
  else failed += 1
  // Not console.log, which libraries replace.
  process.stdout.write(
    failure === undefined ? `ok    ${name}\n` : `FAIL  ${name}\n${failure.replace(/^/gm, '      ')}\n`,
  )
}

/** Prints the counts, and sets the exit code. @returns Whether all checks passed. */
export function finish() {
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  if (failed > 0 || passed === 0) process.exitCode = 1
  return process.exitCode !== 1
}
