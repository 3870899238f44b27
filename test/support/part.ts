/** `npm test` runs a part of the largest searches. `npm run test:slow`, and `npx jest <file>`, run them whole. */
export const part = <T>(whole: T, some: T): T => (process.env.TESTS === 'part' ? some : whole)
