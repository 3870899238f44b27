import { describe, expect, it, jest } from '@jest/globals'
import { type Course, EMPTY, type Message, withDot } from '../../src/inspector/dots.ts'
import { joinTabs, type TabsPage } from '../../src/inspector/tabs.ts'

/** A page whose channel sends nothing by itself. */
function quietPage() {
  const said: Message[] = []
  let hear: (data: unknown) => void = () => undefined
  class BroadcastChannel {
    set onmessage(listener: (event: { data: unknown }) => void) {
      hear = (data) => listener({ data })
    }
    postMessage(message: Message) {
      said.push(message)
    }
    close() {}
  }
  const page = { BroadcastChannel, addEventListener() {}, removeEventListener() {} } as unknown as TabsPage
  return { page, said, hear: (data: unknown) => hear(data) }
}

const course = (at: number) => withDot(EMPTY, [at, 'answered'])

describe('given another tab', () => {
  it('when it sends nothing for more than 90 s, as after a crash, then it is removed', () => {
    const { page, hear } = quietPage()
    const tabs = joinTabs(page, () => EMPTY)
    jest.spyOn(Date, 'now').mockReturnValue(1_000)
    hear({ tab: 'other', course: course(1_000) })
    expect(tabs.living(91_000)).toEqual(new Map([['other', course(1_000)]]))
    expect(tabs.living(91_001).size).toBe(0)
    expect(tabs.living(91_000).size).toBe(0)
  })

  it('when its first message arrives, then this tab sends its own dots, once', () => {
    const { page, hear, said } = quietPage()
    joinTabs(page, () => course(5))
    for (let n = 0; n < 3; n += 1) hear({ tab: 'other', course: EMPTY })
    expect(said).toEqual([{ tab: expect.any(String), course: course(5) }])
  })

  it('when a thousand tabs send messages, then fifty are kept', () => {
    const { page, hear } = quietPage()
    const tabs = joinTabs(page, () => EMPTY)
    for (let n = 0; n < 1_000; n += 1) hear({ tab: `tab ${n}`, course: EMPTY })
    expect(tabs.living(Date.now()).size).toBe(50)
  })
})

describe('given this tab', () => {
  it('when it has nothing new to report, then it sends a sign of life every 10 s', () => {
    const { page, said } = quietPage()
    const tabs = joinTabs(page, () => EMPTY)
    const told = (shown: Course, now: number) => {
      tabs.send(shown, now)
      return said.splice(0).length
    }
    const one = course(1)
    expect([told(EMPTY, 0), told(EMPTY, 9_999), told(EMPTY, 10_000), told(one, 10_001), told(one, 10_002)]).toEqual([
      ...[1, 0, 1, 1, 0],
    ])
  })
})
