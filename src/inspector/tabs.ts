import { type Course, endOf, type Message, readMessage } from './dots.ts'

/** Longest time between two messages of a panel, ms. */
const SIGN_MS = 10_000
/** A tab that has sent nothing for this long counts as closed, ms: browsers may run timers of hidden tabs only once a minute. */
const LOST_MS = 90_000
/** A limit, because any script of the origin can send on the channel. */
const MOST_TABS = 50

/** The parts of the page that are used here. */
export interface TabsPage {
  readonly BroadcastChannel?: new (name: string) => Channel
  addEventListener(type: 'pagehide', listener: () => void): void
  removeEventListener(type: 'pagehide', listener: () => void): void
}
interface Channel {
  onmessage: ((event: { readonly data: unknown }) => void) | null
  postMessage(message: Message): void
  close(): void
}

/** The panels of this origin. */
export interface Tabs {
  /** What the other panels show, in the order in which they first sent a message. */
  living(now: number): ReadonlyMap<string, Course>
  /** Sends the others what this panel shows, if that is new or the last message is old. */
  send(course: Course, now: number): void
  leave(): void
}

/** @param course What this panel shows. */
export function joinTabs(page: TabsPage, course: () => Course): Tabs {
  // Not a secret: the id only distinguishes panels.
  const tab = Math.random().toString(36).slice(2, 14)
  const others = new Map<string, { readonly course: Course; readonly at: number }>()
  const channel = channelOf(page)
  let told: { readonly end: number; readonly at: number } | undefined
  if (!channel) return { living: () => new Map(), send: () => undefined, leave: () => undefined }

  channel.onmessage = ({ data }) => {
    const message = readMessage(data)
    if (!message) return
    const isNew = !others.has(message.tab)
    if (!message.course) others.delete(message.tab)
    else if (!isNew || others.size < MOST_TABS) {
      others.set(message.tab, { course: message.course, at: Date.now() })
      if (isNew) channel.postMessage({ tab, course: course() })
    }
  }
  let isGone = false
  const goodbye = () => channel.postMessage({ tab })
  page.addEventListener('pagehide', goodbye)
  return {
    living(now) {
      for (const [other, { at }] of others) if (now - at > LOST_MS) others.delete(other)
      return new Map(Array.from(others, ([other, { course }]) => [other, course]))
    },
    send(course, now) {
      if (told?.end === endOf(course) && now - told.at < SIGN_MS) return
      told = { end: endOf(course), at: now }
      channel.postMessage({ tab, course })
    },
    leave() {
      if (isGone) return
      isGone = true
      page.removeEventListener('pagehide', goodbye)
      goodbye()
      channel.close()
    },
  }
}

/** @returns undefined if there is no BroadcastChannel, or if the user has forbidden storage. */
function channelOf({ BroadcastChannel }: TabsPage): Channel | undefined {
  try {
    return BroadcastChannel && new BroadcastChannel('axios-evergreen.inspector')
  } catch {
    return undefined
  }
}
