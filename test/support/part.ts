/** `npm test` and `npm run test:slow` run a part of the largest searches. `npm run test:whole`, and `npx jest <file>`, run them whole; so does `npm run test:browser`, but for the gate. */
export const part = <T>(whole: T, some: T): T => (process.env.TESTS === 'part' ? some : whole)
