import { member } from '../core/thrown.ts'
import { reasonIn } from '../store/reason.ts'

const RIGHTS = 'the file and its folder must belong to the user of this process, and be writable'

/** Advice by the result code of SQLite, or by the code of the system. */
const ADVICE = {
  BUSY: 'another process has held the lock for too long, or was stopped while holding it',
  CANTOPEN: RIGHTS,
  CORRUPT: 'the file is damaged: delete it, and log in or obtain again',
  EACCES: RIGHTS,
  EEXIST: 'a part of the path of file is not a folder',
  EISDIR: 'file is a folder',
  ENOSPC: 'the disk is full, free space on it',
  ENOTDIR: 'a part of the path of file is not a folder',
  EPERM: RIGHTS,
  EROFS: RIGHTS,
  FULL: 'the disk is full, free space on it',
  IOERR: 'the disk or its file system failed: a network file system cannot be used',
  NOTADB: 'the file is not an SQLite database: name another file',
  READONLY: RIGHTS,
}

/** The primary result codes that node:sqlite reports as numbers (SQLite, "Result and Error Codes"). */
const CODES: Readonly<Record<number, string>> = {
  5: 'BUSY',
  6: 'LOCKED',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  26: 'NOTADB',
}

const OPEN = 'the database has an open transaction, which could be rolled back: pass a separate connection'
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/(within|inside) a transaction/, OPEN],
  [/no such column|has no column|NOT NULL constraint/, 'the table does not have the columns of this store'],
  [/no such table/, 'the table was deleted while this process was running: restart the process'],
  [/not open|closed database/, 'the database is closed: close the manager first'],
]

/** @returns The primary result code, such as `BUSY`; any other code as it is; undefined without a code. */
export function codeOf(thrown: unknown): unknown {
  const [number, given] = ['errcode', 'code'].map((name) => member(thrown, name))
  const primary = typeof number === 'number' ? CODES[number & 0xff] : undefined
  // better-sqlite3 and bun:sqlite report the extended code: SQLITE_READONLY_DIRECTORY.
  return primary ?? (typeof given === 'string' ? given.replace(/^SQLITE_([A-Z]+)(_.*)?$/, '$1') : given)
}

/** @returns Why a step failed, without secrets: messages of SQLite quote values. */
export function reasonOf(thrown: unknown): string {
  const message = member(thrown, 'message')
  const words = MESSAGES.find(([pattern]) => typeof message === 'string' && pattern.test(message))?.[1]
  if (words !== undefined) return words
  const code = codeOf(thrown)
  return code === member(thrown, 'code') ? reasonIn(thrown, ADVICE) : reasonIn({ code }, ADVICE)
}
