const { TESTS } = process.env

/**
 * `npm test` (`fast`) and `npm run test:slow` (`slow`) run a part of the largest searches. `npm run test:whole`, and `npx jest <file>`, run them whole; so does
 * `npm run test:browser`, but for the gate.
 */
export const part = <T>(whole: T, some: T): T => (TESTS === 'fast' || TESTS === 'slow' ? some : whole)

/** How much of a search `npm test` runs, if `npm run test:slow` runs the rest (`sharedTests` in jest.config.mjs). */
export const share = <T>(most: T, few: T): T => (TESTS === 'fast' ? few : most)
