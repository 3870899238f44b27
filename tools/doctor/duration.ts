/** A readable duration, in the largest unit of which there are at least two. */
export function duration(ms: number): string {
  const [unit, of] = UNITS.find(([, least]) => ms >= 2 * least) ?? (['ms', 1] as const)
  return `${Number((ms / of).toFixed(unit === 'ms' ? 0 : 1))} ${unit}`
}
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const
