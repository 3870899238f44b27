import { describe, expect, it } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'

const MOST_BYTES = 60_000

describe('given the pictures of the documents', () => {
  const pictures = readdirSync('docs/images').filter((name) => name.endsWith('.svg'))
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))

  it('when they are shown, then each is small, has a title, and is readable on dark pages, too', () => {
    for (const name of pictures) {
      expect({ name, isSmall: Buffer.byteLength(svg(name)) < MOST_BYTES }).toEqual({ name, isSmall: true })
      expect(titleOf(name)).toMatch(/\w+ \w+/)
      expect(svg(name)).toContain('@media (prefers-color-scheme: dark)')
    }
  })

  it('when they are not visible, then each has an alternative text, and a caption below', () => {
    const shown = pages.flatMap((page) => {
      const blocks = readFileSync(`docs/${page}`, 'utf8').split('\n\n')
      return blocks.flatMap((block, n) => {
        const [, alt, name] = /^!\[([^\]]*)\]\((?:\.\.\/)?images\/([\w-]+\.svg)\)$/.exec(block) ?? []
        if (name !== undefined) expect(alt).toBe(titleOf(name))
        if (name === undefined && !block.startsWith('```mermaid')) return []
        expect(blocks[n + 1]).toMatch(/^_[^_].{40,}[^_]_$/s)
        return name ?? []
      })
    })
    expect(shown.sort()).toEqual(pictures)
  })
})

function svg(name: string) {
  return readFileSync(`docs/images/${name}`, 'utf8')
}

function titleOf(name: string) {
  return /<title id="title">([^<]*)<\/title>/.exec(svg(name))?.[1]
}
