/**
 * The rules of the protocol, each as what has to be changed in `src` to take it out: [file, what stands there once, what takes its place]. The
 * explorer must find what then goes wrong.
 */
export const REMOVALS = {
  // A claim that ran out leaves no doubt: whoever comes next presents its refresh token.
  doubt: [['core/record-state.ts', 'kept && open ? doubted(kept, open.at) : kept', 'kept']],
  // Whoever comes settles whatever claim stands there.
  fence: [
    [
      'core/record-state.ts',
      'const isMine = state.claim?.fence === fence\n  const after',
      'const isMine = state.claim !== undefined\n  const after',
    ],
  ],
  // Any other version is adopted, an older one too.
  version: [['core/record-state.ts', 'state.version > seenVersion)', 'state.version !== seenVersion)']],
  R1: [['core/record-state.ts', 'pair && state.epoch !== undefined ? doubted(pair, 0) : pair', 'pair']],
  R2: [['core/record-state.ts', 'at - now > CLOCK_SLACK_MS ? 0 : Math.min(ms, at + ms - now)', 'at + ms - now']],
  // As it was before: the first that is stored wins.
  R3: [['core/record-state.ts', 'fence <= (state.pair?.fence ?? 0) ||', 'state.version > version ||']],
  R4: [
    ['core/record-state.ts', 'overlapped || state.overlaps || isContested', 'false'],
    ['core/record-state.ts', 'overlapped: state.pair.overlapped || isNews', 'overlapped: false'],
    ['core/record-state.ts', 'overlapped: true }, overlaps: true }', 'overlapped: false } }'],
    ['core/suspicion.ts', ', answer?.overlapped]', ']'],
  ],
  R5: [['store/record-text.ts', 'nonce: randomHex()', "nonce: ''"]],
}
