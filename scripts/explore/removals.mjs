/**
 * The rules of the protocol, each with the edits of `src` that remove it: [file, text that occurs there once, its replacement]. The explorer must
 * then find a fault.
 */
export const REMOVALS = {
  // An expired lease leaves no doubt: the next owner presents its refresh token.
  doubt: [['record/record-state.ts', 'kept && open ? doubted(kept, open.at) : kept', 'kept']],
  // An owner completes any lease, not only its own.
  fence: [['record/record-state.ts', 'if (lease?.fence !== fence) return', 'if (!lease) return']],
  // Any other version is adopted, even an older one.
  version: [
    ['record/record-views.ts', '(state.version > seen.seenVersion ||', '(state.version !== seen.seenVersion ||'],
  ],
  // And an owner that reads an older version does not write the newer one back.
  'version and R11': [
    ['record/record-views.ts', '(state.version > seen.seenVersion ||', '(state.version !== seen.seenVersion ||'],
    ['store/stored-state.ts', 'withSeen(before, this.seen, reading)', 'before'],
  ],
  // An owner that reads an older record does not write back what it has seen; or the others do not wait for that.
  R11: [['store/stored-state.ts', 'withSeen(before, this.seen, reading)', 'before']],
  'R11, the wait': [['record/record-state.ts', 'const waitMs = lossWaitMs(state, request, now)', 'const waitMs = 0']],
  // An owner whose clock jumps treats the lease of another owner as expired.
  'a clock that jumps': [
    ['store/shared-record.ts', 'distrustsClock: this.#distrustsClock(ttlMs)', 'distrustsClock: false'],
  ],
  R1: [
    ['record/lost-writes.ts', 'tokens && state.epoch !== undefined ? lostSince(tokens, epochAt) : tokens', 'tokens'],
  ],
  'R1, a token set that is stored again': [
    ['record/record-state.ts', 'doubtAt: isDoubted ? 0 : doubtMs ===', 'doubtAt: doubtMs ==='],
  ],
  'R1, a login that is stored again': [
    ['store/shared-record.ts', 'isSame ? this.#adopted?.epoch : undefined', 'undefined'],
  ],
  R2: [['record/record-views.ts', 'at - now > CLOCK_SLACK_MS ? 0 : Math.min(ms, at + ms - now)', 'at + ms - now']],
  // The earlier rule: the first token set that is stored wins.
  R3: [['record/record-state.ts', 'fence <= (state.tokens?.fence ?? 0) ||', 'state.version > lease.version ||']],
  // The parts of R4. An owner that takes over an expired lease does not record that its exchange may be in flight;
  'R4, an open lease': [
    ['record/record-state.ts', 'overlaps: state.overlaps || open !== undefined', 'overlaps: state.overlaps'],
  ],
  // nor does an owner that clears the record;
  'R4, a cleared lease': [['record/acts.ts', 'overlaps: overlaps || lease?.settled === false', 'overlaps']],
  // the recorded overlap does not mark the next token set;
  'R4, the next token set': [['record/record-state.ts', 'state.overlaps || isContested', 'isContested']],
  // a token set stored beside a later lease is not marked; or the token set of that lease is not;
  'R4, beside a lease': [['record/record-state.ts', 'state.overlaps || isContested', 'state.overlaps']],
  'R4, after it': [['record/record-state.ts', 'overlaps: isContested,', 'overlaps: false,']],
  // an exchange that ends too late to store its token set does not mark the stored one; or that of the current lease;
  'R4, a late end': [
    [
      'record/record-state.ts',
      'overlapping(state, state.overlaps || state.lease?.settled === false)',
      '{ ...state, overlaps: state.overlaps || state.lease?.settled === false }',
    ],
  ],
  'R4, a late end beside a lease': [
    ['record/record-state.ts', 'state.overlaps || state.lease?.settled === false', 'state.overlaps'],
  ],
  // an exchange without the record marks only the stored token set; or a `clear` drops the recorded overlap;
  'R4, a reported exchange and the next token set': [
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
  // an overlap recorded between a lease and the rejection is ignored.
  'R4, the answer': [['record/record-state.ts', ' || tokens?.overlapped === true', '']],
  // An exchange without the record is reported only by the next lease request; or only separately.
  overlap: [['record/record-state.ts', 'overlapping(inEpoch(stored ?? EMPTY, reading), true)', 'undefined']],
  'overlap by a lease': [
    ['record/record-state.ts', 'others?.overlap ? (overlapping(stored, true) ?? stored) : stored', 'stored'],
  ],
  // An adopted token set gets a version below the stored one.
  adopt: [
    [
      'record/acts.ts',
      'const version = Math.max(empty.version, Math.floor(reading.now / 1_000))',
      'const version = empty.version - 2',
    ],
  ],
  // A lease from before a logout restores the session.
  logout: [['record/record-state.ts', ' || fence <= state.clearedFence || isOther(lease, state))', ')']],
  // A grace never ends.
  grace: [['core/refresh-fate.ts', 'Math.abs(now - doubtAt) < graceMs', 'graceMs > 0']],
  // A refresh token of a login is retired because of doubt; or presented again while its access token is valid.
  R8: [['core/refresh-fate.ts', 'isGraced ? NO_LIMIT : inDoubt?.(doubtAt)', 'isGraced ? NO_LIMIT : undefined']],
  'R8, the wait': [
    ['login/login-rules.ts', 'if (!isLastResort || state.isForced || !isUsable(state)) return', 'return'],
  ],
  // A replace is executed in any epoch.
  R9: [['store/stored-state.ts', 'text, keepMs, reading.epoch)', 'text, keepMs)']],
  // Another user's login counts as the login that the owner knows.
  R10: [['login/login-watch.ts', 'return (tokens.login ?? 0) > 0 &&', 'return this.number === undefined &&']],
  // The result of a check from before an act is applied after it: tokens, or that there are none.
  'an act and a look': [['login/user-logins.ts', '!tokens || !isLast() ||', '!tokens ||']],
  'an act and a look that finds none': [
    ['login/record-checker.ts', 'isLast() && this.#isEnd(found)', 'this.#isEnd(found)'],
  ],
  // The steps of an act do not wait for earlier acts; or a renewal does not.
  'the order of acts': [['core/acts.ts', 'this.#last ? this.#last.then(work) : work()', 'work()']],
  'acts and a renewal': [
    [
      'core/machine.ts',
      'acts.after(() => this.#mutex.runExclusive(() => this.#run(renewal, because)))',
      'this.#mutex.runExclusive(() => this.#run(renewal, because))',
    ],
  ],
  // A logout or a reset clears any login of the record; or treats its tokens as those of the ending login.
  'a logout of one login': [
    ['record/acts.ts', 'if (tokens && keeps(state, seen, act)) return', 'if (tokens && seen.login === -1) return'],
  ],
  'a lease to log out': [
    ['record/record-state.ts', 'if (tokens && keeps(state, request, act))', 'if (tokens && request.login === -1)'],
  ],
  // A renewal continues with the refresh token of a login that came meanwhile.
  'a renewal of one login': [
    ['record/other-owners.ts', ' || login?.isOther(lease.tokens)', ''],
    ['core/renewal.ts', '      login: login?.number,\n', ''],
  ],
  // Versions of two logins are compared, even after lost writes.
  'a login of a lower version': [
    [
      'record/record-views.ts',
      'state.version > seen.seenVersion || isOther(seen, state)',
      'state.version > seen.seenVersion',
    ],
  ],
  // A login that is stored again, or was stored without a response, counts as another user's.
  'a login by its name': [['record/identity.ts', "isSame || fact !== 'loginId'", "fact !== 'loginId'"]],
  // A renewal names the login that the manager had when it began, and continues when outdated.
  'a renewal of now': [
    ['core/renewal.ts', '  seenVersion = 0\n', '  seenVersion = 0\n  named: number | undefined\n'],
    ['core/renewal.ts', 'this.start = start\n', 'this.start = start\n    this.named = account.login?.number\n'],
    ['core/renewal.ts', 'login: login?.number,', 'login: this.named,'],
    ['record/other-owners.ts', '      pauses.check()\n      login?.skipped', '      login?.skipped'],
  ],
  // The register may drop a record that is still needed.
  'the time to keep': [['store/stored-state.ts', 'keptMs(state, reading.now) + DAY_MS', '30_000']],
  // The exchange for a resource takes no lease; its rotation, or its access token, is not in the step that stores the other; or one token serves all resources.
  'resources, the lease': [
    ['resources/slot-view.ts', 'tokens: tokens && ownAgain(', 'lease: before.lease,\n    tokens: tokens && ownAgain('],
  ],
  'resources, the rotation': [
    [
      'resources/slot-view.ts',
      'return { ...after, accessToken,',
      'return { ...after, refreshToken: own?.refreshToken, accessToken,',
    ],
  ],
  'resources, the token': [
    ['resources/slot-view.ts', 'if (isStored) return withSlot(', 'if (tokens === null) return withSlot('],
  ],
  'resources, a token for each': [
    ['resources/slot-view.ts', 'slotsOf(state)[digest]', 'Object.values(slotsOf(state))[0]'],
  ],
  // Found by random runs (test/properties/removed.ts): two acts of one owner are compared by their dates, however inexact a reading is;
  F399: [
    ['core/acts.ts', '  if (stored.owner === act.owner) return stored.n > act.n\n', ''],
    ['core/acts.ts', 'stored.at > act.at + act.ms', 'stored.at > act.at'],
  ],
  // a login is reported after the work of earlier acts in the store;
  F400: [
    [
      'login/user-logins.ts',
      'login.began(grant.subject, start.loginId, subject)',
      'void acts.after(async () => login.began(grant.subject, start.loginId, subject))',
    ],
  ],
  // and what an owner had seen is dated, too.
  F401: [['core/acts.ts', 'stored.version > act.seenVersion && ', '']],
  R5: [['store/record-text.ts', 'nonce: randomHex()', "nonce: ''"]],
}
