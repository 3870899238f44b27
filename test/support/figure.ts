/** Prints what a test has measured. */
export function printFigure(what: string, figure: string): void {
  process.stdout.write(`figure: ${what}: ${figure}\n`)
}
