import { expect, it } from '@jest/globals'
import { findingsIn } from './support/axe.ts'
import { describeBrowser, stageOfSuite } from './support/browser.ts'

describeBrowser('given a panel in a page (F247)', () => {
  const stage = stageOfSuite()

  it.each([
    ['light', {}, ''],
    [
      'dark',
      { colorScheme: 'dark' },
      `document.documentElement.style = 'color-scheme: dark; background: #121212; color: #eee'`,
    ],
    ['forced colours', { forcedColors: 'active' }, ''],
    ['right to left', {}, `document.documentElement.dir = 'rtl'`],
    ['320 px wide', {}, ''],
    ['of twice the size of text', {}, `document.documentElement.style.fontSize = '200%'`],
  ] as const)(
    'when the page is %s, then every part of the panel has a name and can be distinguished',
    async (look, media, change) => {
      const { site, open } = stage()
      const { page, send, until } = await open()
      await page.emulateMedia(media)
      if (look === '320 px wide') await page.setViewportSize({ width: 320, height: 800 })
      await page.evaluate(`void (${change || 0})`)
      await page.evaluate('look()')
      await send('/wallet')
      site.revokeAccess()
      await send('/wallet')
      await send('/refused')
      await until('axes()[0].dots.length >= 5')
      expect(await findingsIn(page, `document.getElementById('panel')`)).toEqual([])
      const size = look === 'of twice the size of text' ? '24px' : '12px'
      expect(await page.evaluate(`getComputedStyle(document.querySelector('#panel section')).fontSize`)).toBe(size)
      // The page does not scroll sideways, and every dot has a colour of its own.
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      const seen = await page.evaluate<string[][]>(`Array.from(document.querySelectorAll('#panel i'), (dot) => {
      const { backgroundColor, borderTopColor, borderTopWidth, backgroundImage } = getComputedStyle(dot)
      return [dot.title, backgroundColor + borderTopColor + borderTopWidth + backgroundImage.slice(0, 15), dot.getAttribute('role'), dot.ariaLabel]
    })`)
      const looks = new Map(seen.map(([kind, shown]) => [kind, shown]))
      expect(new Set([looks.get('answered'), looks.get('sent again'), looks.get('failed')]).size).toBe(3)
      for (const [, , role, name] of seen) expect([role, name]).toEqual([null, null])
      const [label] = await page.evaluate<string[]>(
        `Array.from(document.querySelectorAll('#panel [role=img]'), ({ ariaLabel }) => ariaLabel)`,
      )
      expect(label).toMatch(
        /^this tab: \d+ token requests? renewed, .*\d+ answered, 1 sent again, 1 failed in the last minute$/,
      )
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${look}.png` })
    },
  )
})
