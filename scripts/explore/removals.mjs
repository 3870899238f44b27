/**
 * The rules of the protocol, each as what has to be changed in `src` to take it out: [file, what stands there once, what takes its place]. The
 * explorer must find what then goes wrong.
 */
export const REMOVALS = {
  // A claim that ran out leaves no doubt: whoever comes next presents its refresh token.
  doubt: [['record/record-state.ts', 'kept && open ? doubted(kept, open.at) : kept', 'kept']],
  // Whoever comes settles whatever claim stands there.
  fence: [['record/record-state.ts', 'if (lease?.fence !== fence) return', 'if (!lease) return']],
  // Any other version is adopted, an older one too.
  version: [
    ['record/record-views.ts', '(state.version > seen.seenVersion ||', '(state.version !== seen.seenVersion ||'],
  ],
  // And whoever reads an older one writes nothing back.
  'version and R11': [
    ['record/record-views.ts', '(state.version > seen.seenVersion ||', '(state.version !== seen.seenVersion ||'],
    ['store/stored-state.ts', 'withSeen(known.state, this.seen, known.reading)', 'known.state'],
  ],
  // Whoever sees its own clock jump believes that the lease of another owner has expired.
  'a clock that jumps': [
    ['store/shared-record.ts', 'distrustsClock: this.#distrustsClock(ttlMs)', 'distrustsClock: false'],
  ],
  R1: [['record/lost-writes.ts', 'pair && state.epoch !== undefined ? lostSince(pair, epochAt) : pair', 'pair']],
  'R1, a pair that is stored again': [
    ['record/record-state.ts', 'doubtAt: isDoubted ? 0 : undefined', 'doubtAt: undefined'],
  ],
  'R1, a login that is stored again': [
    ['store/shared-record.ts', 'isSame ? this.#adopted?.epoch : undefined', 'undefined'],
  ],
  R2: [['record/record-views.ts', 'at - now > CLOCK_SLACK_MS ? 0 : Math.min(ms, at + ms - now)', 'at + ms - now']],
  // As it was before: the first that is stored wins.
  R3: [['record/record-state.ts', 'fence <= (state.pair?.fence ?? 0) ||', 'state.version > lease.version ||']],
  // The parts of R4. Who takes over a claim that ran out unsettled does not write down that its exchange may be in flight;
  'R4, an open claim': [
    ['record/record-state.ts', 'overlaps: state.overlaps || open !== undefined', 'overlaps: state.overlaps'],
  ],
  // who clears the record does not;
  'R4, a cleared claim': [['record/acts.ts', 'overlaps: overlaps || lease?.settled === false', 'overlaps']],
  // what was written down marks no pair;
  'R4, the next pair': [['record/record-state.ts', 'state.overlaps || isContested', 'isContested']],
  // a pair that is stored beside a later claim is not marked; or the pair of that claim is not;
  'R4, beside a claim': [['record/record-state.ts', 'state.overlaps || isContested', 'state.overlaps']],
  'R4, after it': [['record/record-state.ts', 'overlaps: isContested,', 'overlaps: false,']],
  // an exchange that ends too late for its pair to be stored does not mark the pair that stands there; or the pair of the claim that does;
  'R4, a late end': [
    [
      'record/record-state.ts',
      'overlapping(state, state.overlaps || state.claim?.settled === false)',
      '{ ...state, overlaps: state.overlaps || state.claim?.settled === false }',
    ],
  ],
  'R4, a late end beside a claim': [
    ['record/record-state.ts', 'state.overlaps || state.claim?.settled === false', 'state.overlaps'],
  ],
  // An exchange without the record marks the stored pair only; or a `clear` forgets the mark;
  'R4, a told exchange and the next pair': [
    [
      'record/record-state.ts',
      'overlapping(inEpoch(stored ?? EMPTY, reading), true)',
      'overlapping(inEpoch(stored ?? EMPTY, reading), stored?.overlaps ?? false)',
    ],
    ['record/record-state.ts', 'overlapping(stored, true) ??', 'overlapping(stored, stored.overlaps) ??'],
  ],
  'R4, a mark at a clear': [
    ['record/acts.ts', 'overlaps: overlaps || lease?.settled === false', 'overlaps: lease?.settled === false'],
  ],
  // what was written down between a claim and the refusal is not read.
  'R4, the answer': [['record/record-state.ts', ' || pair?.overlapped === true', '']],
  // An exchange without the record is told by the next claim only; or only beside the claims.
  overlap: [['record/record-state.ts', 'overlapping(inEpoch(stored ?? EMPTY, reading), true)', 'undefined']],
  'overlap by a claim': [
    ['record/record-state.ts', 'others?.overlap ? (overlapping(stored, true) ?? stored) : stored', 'stored'],
  ],
  // An adopted pair takes the version that stood there.
  adopt: [
    [
      'record/acts.ts',
      'const version = Math.max(empty.version, Math.floor(reading.now / 1_000))',
      'const version = empty.version - 2',
    ],
  ],
  // What was granted before a logout brings the session back.
  logout: [['record/record-state.ts', ' || fence <= state.clearedFence || isOfOther(state, lease))', ')']],
  // A grace counts as if it had no end.
  grace: [['core/refresh-fate.ts', 'Math.abs(now - doubtAt) < graceMs', 'graceMs > 0']],
  // A refresh token of a login is given up because of doubt; or presented again while its access token serves.
  R8: [['core/refresh-fate.ts', 'isGraced ? {} : inDoubt?.(doubtAt)', 'isGraced ? {} : undefined']],
  'R8, the wait': [
    ['login/login-rules.ts', 'if (!isLastResort || state.isForced || !isUsable(state)) return', 'return'],
  ],
  // A replace is executed in whatever epoch the register is in.
  R9: [['store/stored-state.ts', 'text, keepMs, reading.epoch)', 'text, keepMs)']],
  // The login of somebody else counts as the one that the owner knows.
  R10: [['login/identity.ts', 'found: { same: true, other: false,', 'found: { same: true, other: true,']],
  // What was asked of the record before an act is believed after it: tokens, or that there are none.
  'an act and a look': [['login/user-logins.ts', '!tokens || !isLast() ||', '!tokens ||']],
  'an act and a look that finds none': [
    ['login/record-checker.ts', 'isLast() && this.#isEnd(found)', 'this.#isEnd(found)'],
  ],
  // The steps of an act do not wait for those of the act before; a renewal does not wait for the acts before.
  'the order of acts': [['core/acts.ts', 'this.#last ? this.#last.then(work) : work()', 'work()']],
  'acts and a renewal': [
    [
      'core/machine.ts',
      'acts.after(() => this.#mutex.runExclusive(() => this.#see(renewal, because)))',
      'this.#mutex.runExclusive(() => this.#see(renewal, because))',
    ],
  ],
  // A logout or a reset clears whatever login the record has; or takes its tokens for those of the login that ends.
  'a logout of one login': [
    [
      'record/acts.ts',
      'if (state.pair && isOfOther(state, seen)) return',
      'if (state.pair && seen.login === -1) return',
    ],
  ],
  'a claim to log out': [
    [
      'record/record-state.ts',
      'if (pair && isOfOther(state, request)) return',
      'if (pair && request.login === -1) return',
    ],
  ],
  // A renewal goes on with the refresh token of a login that has come meanwhile.
  'a renewal of one login': [
    ['core/renewal.ts', ' || login.isOther(lease.tokens)', ''],
    ['core/renewal.ts', '      login: login.number,\n', ''],
  ],
  // Versions of two logins are compared, also after a loss.
  'a login of a lower version': [
    [
      'record/record-views.ts',
      'state.version > seen.seenVersion || isOfOther(state, seen)',
      'state.version > seen.seenVersion',
    ],
  ],
  // A login that is stored again, or was stored without an answer, counts as that of somebody else.
  'a login by its name': [['login/identity.ts', 'one.loginId !== undefined && one.loginId === other.loginId', 'false']],
  // A renewal names the login that the manager had when it began, and goes on when it is outdated.
  'a renewal of now': [
    ['core/renewal.ts', '  #seenVersion = 0\n', '  #seenVersion = 0\n  named: number | undefined\n'],
    ['core/renewal.ts', 'this.start = start\n', 'this.start = start\n    this.named = account.login.number\n'],
    ['core/renewal.ts', 'login: login.number,', 'login: this.named,'],
    ['core/renewal.ts', '      this.pauses.check()\n      login.skipped', '      login.skipped'],
  ],
  // The register may drop a record that is still of use.
  'the time to keep': [['store/stored-state.ts', 'keptMs(state, reading.now) + DAY_MS', '30_000']],
  R5: [['store/record-text.ts', 'nonce: randomHex()', "nonce: ''"]],
}
