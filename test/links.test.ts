import { describe, expect, it } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { withAbsoluteLinks, withAbsoluteRunbooks } from '../scripts/package/links.mjs'

const pages = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md') && existsSync(name))

/** Parts of the next changelog. */
const changesets = readdirSync('.changeset')
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => `.changeset/${name}`)

interface Link {
  readonly page: string
  readonly target: string
  readonly anchor: string
}

/** @returns Links to files of this project, including pictures. Other addresses cannot be checked here. */
function linksOf(page: string, content = readFileSync(page, 'utf8')): Link[] {
  const text = content.replace(/^```.*?^```/gms, '')
  const folder = changesets.includes(page) ? '.' : dirname(page)
  return Array.from(
    text.matchAll(/(?:\]\(([^)\s]*)\)|\b(?:src|srcset)="([^"]*)")/g),
    ([, link, picture = '']) => link ?? picture,
  )
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path = '', anchor = ''] = link.split('#')
      return { page, target: path === '' ? page : normalize(join(folder, path)), anchor }
    })
}

/** @returns The anchors of a page, as code hosts derive them from headings. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(page, 'utf8').replace(/^```.*?^```/gms, '')
  const seen = new Map<string, number>()
  return Array.from(text.matchAll(/^#{1,6} (.+)$/gm), ([, heading = '']) => {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
}

describe('given the links of the documents', () => {
  it.each([...pages, ...changesets])(
    'when those of %s are followed, then each leads to a file, and to an existing heading if it names one',
    (page) => {
      const dead = linksOf(page).filter(
        ({ target, anchor }) =>
          !existsSync(target) || (anchor !== '' && target.endsWith('.md') && !anchorsOf(target).includes(anchor)),
      )
      expect(dead).toEqual([])
    },
  )

  it('when the README names a page in its table, then the title of that page begins with that name', () => {
    const table = readFileSync('README.md', 'utf8')
      .match(/^\|.*$/gm)!
      .join('\n')
    const links = Array.from(table.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g), ([, name, page]) => ({
      name: name!,
      page: page!,
    }))
    expect(links.length).toBeGreaterThan(8)
    const title = (page: string) => /^# (.+)/.exec(readFileSync(page, 'utf8'))![1]!
    expect(links.filter(({ name, page }) => !title(page).startsWith(name))).toEqual([])
  })

  it('when the changelog is made of the changesets, then each has its kind of change', () => {
    const odd = changesets.filter(
      (name) => !/^---\n'axios-evergreen': (major|minor|patch)\n---\n\n\S/.test(readFileSync(name, 'utf8')),
    )
    expect(odd).toEqual([])
  })

  it('when the site is built, then it contains all of them, with the README as its front page', () => {
    const { projectDocuments } = JSON.parse(readFileSync('typedoc.json', 'utf8')) as { projectDocuments: string[] }
    // This one exists only in the site: it leads to a file of the site.
    const ofSite = 'scripts/site/play.md'
    expect(['README.md', ...projectDocuments].sort()).toEqual([...pages, ofSite].sort())
  })

  it('when the package is packed, then links of the README are absolute, and those of other pages lead to a file of the package or are absolute', () => {
    const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' })
    const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }]
    const inside = files.map(({ path }) => path)
    expect(inside).toEqual(
      expect.arrayContaining(['README.md', 'docs/getting-started.md', 'docs/operations/alerts.yml']),
    )
    const goal = { repository: 'https://code.example/us/it', version: '1.2.3', shipped: inside }
    const isThere = (target: string) => inside.some((path) => path === target || path.startsWith(`${target}/`))
    const relative = inside
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) => linksOf(name, withAbsoluteLinks({ name, text: readFileSync(name, 'utf8') }, goal)))
    expect(relative.filter(({ page }) => page === 'README.md')).toEqual([])
    expect(relative.filter(({ target }) => !isThere(target))).toEqual([])
    // As `npm pack` packs them: a guide needs no repository, except for its pictures.
    const guides = inside.filter((name) => /^docs\/.*\.md$/.test(name)).flatMap((name) => linksOf(name))
    expect(guides.filter(({ target }) => !isThere(target) && !/\.(svg|webp)$/.test(target))).toEqual([])
  })

  it('when the alerts are packed, then each runbook is the address of its version', () => {
    const rules = readFileSync('docs/operations/alerts.yml', 'utf8')
    const packed = withAbsoluteRunbooks(rules, { repository: 'https://code.example/us/it', version: '1.2.3' })
    const addresses = packed.match(
      /runbook: https:\/\/code\.example\/us\/it\/blob\/v1\.2\.3\/docs\/operations\.md#\w+$/gm,
    )
    expect(addresses).toHaveLength(rules.match(/- alert:/g)!.length)
  })

  it('when one is made absolute, then it names the version, and a picture leads to the picture itself', () => {
    const goal = { repository: 'https://code.example/us/it', version: '1.2.3', shipped: ['docs/a.md', 'README.md'] }
    const text =
      '[a](a.md#x) [b](faults.md#row) ![c](images/c.svg) <img src="images/c.webp"> [d](https://d.example) [e](#e)'
    expect(withAbsoluteLinks({ name: 'docs/b.md', text }, goal)).toBe(
      '[a](a.md#x) [b](https://code.example/us/it/blob/v1.2.3/docs/faults.md#row) ' +
        '![c](https://code.example/us/it/raw/v1.2.3/docs/images/c.svg) ' +
        '<img src="https://code.example/us/it/raw/v1.2.3/docs/images/c.webp"> [d](https://d.example) [e](#e)',
    )
    expect(withAbsoluteLinks({ name: 'README.md', text: '[a](docs/a.md)' }, goal)).toBe(
      '[a](https://code.example/us/it/blob/v1.2.3/docs/a.md)',
    )
  })
})
