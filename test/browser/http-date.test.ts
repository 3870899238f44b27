import { expect, it } from '@jest/globals'
import { transformSync } from '@swc/core'
import { readFileSync } from 'node:fs'
import { parseHttpDate } from '../../src/wire/http-date.ts'
import { describeEngines } from './support/engine-stage.ts'

const MONTHS = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
  'Foo',
  'jan',
  'Sept',
]
const DAYS = ['00', '01', '06', '29', '30', '31', '32', ' 6', '6']
const YEARS = ['0094', '1900', '1994', '2000', '2026', '9999', '94', '26', '00']
const TIMES = ['00:00:00', '08:49:37', '23:59:59', '24:00:00', '08:60:00', '08:49:61', '08:49', '08:49:37.5', '8:49:37']

/** Dates in the three forms of RFC 9110, right and wrong. */
const TEXTS = MONTHS.flatMap((month) =>
  DAYS.flatMap((day) =>
    YEARS.flatMap((year) =>
      TIMES.flatMap((time) => [
        `Sun, ${day} ${month} ${year} ${time} GMT`,
        `Sunday, ${day}-${month}-${year} ${time} GMT`,
        `Sun ${month} ${day} ${time} ${year}`,
      ]),
    ),
  ),
)

describeEngines('HTTP-dates, which Date.parse reads', (stage) => {
  it('when each is read, then the result is that of Node', async () => {
    const source = readFileSync('src/wire/http-date.ts', 'utf8').replaceAll('export ', '')
    const { code } = transformSync(source, {
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'es6' },
    })
    const { evaluate } = await stage().open()
    const NOW = Date.UTC(2026, 10, 28)
    const read = await evaluate<(number | null)[]>(
      `(() => { ${code}; return ${JSON.stringify(TEXTS)}.map((text) => parseHttpDate(text, ${NOW}) ?? null) })()`,
    )
    const here = TEXTS.map((text) => parseHttpDate(text, NOW) ?? null)
    expect(here.filter((at) => at !== null).length).toBeGreaterThan(1_000)
    expect(TEXTS.filter((_, n) => read[n] !== here[n])).toEqual([])
  })
})
