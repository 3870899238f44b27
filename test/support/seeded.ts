/** Draws in [0, 1) that are the same each time (minimal standard generator of Park and Miller). @param seed From 1. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}
