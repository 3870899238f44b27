import { describe, expect, it } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'

const INCLUDED = /<!-- file: (\S+) -->\n+```\w+\n(.*?)```\n+<!-- \/file -->/gs

const included = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) => {
    const text = readFileSync(`docs/${page}`, 'utf8')
    return Array.from(text.matchAll(INCLUDED), ([, file = '', shown = '']) => ({ page, file, shown }))
  })

describe('given a page that shows a file of an example', () => {
  it.each(included)(
    'when $page is read, then it shows $file unchanged (node scripts/show-files.mjs writes it)',
    ({ file, shown }) => {
      expect(shown).toBe(readFileSync(file, 'utf8'))
    },
  )

  it('when the pages are read, then they show the worker that keeps the manager, and it has less than 80 lines with its page', () => {
    const files = ['examples/pages/worker/worker.ts', 'examples/pages/worker/page.ts']
    expect(included.map(({ file }) => file)).toContain(files[0])
    const lines = files.flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n'))
    expect(lines.length).toBeLessThan(80)
  })
})
