// One side of the page: a login, one or two tabs that ask the API, what is counted, and the lanes that show it.

const RELOGIN_MS = 4_000
const AGAIN_MS = 2_000
/** No response of the API takes that long. A longer request waits for a token. */
const LONG_MS = 500
const NONE = { answered: 0, failed: 0, waited: 0, calls: 0, renewals: 0 }

/**
 * @param side `owner`; `root`: the element of the side; `kit`: how this side opens a tab, and takes over a login; `service`; `time`: the timeline.
 * `story`: facts in, a sentence out.
 */
export function startSide({ owner, root, kit, service, time, story }) {
  const part = (name) => root.querySelector(`[data-part=${name}]`)
  const tokenLane = time.lane(part('tokens'), 'Token requests')
  const counts = { answered: 0, failed: 0, calls: 0, lost: 0 }
  let outMs = 0
  let outSince = Infinity
  let since = { ...NONE }
  let login = 'pending'
  let why
  let isShutOut = false
  /** Why the service ended the login, and the status of the last token request that failed. */
  let [ended, status] = []
  let until = 0
  /** When the pending requests began. */
  const waiting = new Map()
  /** When the pending token requests began. */
  const calling = new Map()
  let endOfBars = []
  const tabs = []

  function openTab(place) {
    const lane = time.lane(place, tabs.length === 0 ? 'Requests' : 'Requests of the second tab')
    const tab = { lane, place, ...kit.open(logOut) }
    tabs.push(tab)
    return tab
  }

  async function send({ lane, api }) {
    if (login !== 'present') return
    const become = lane.begin('dot')
    let attempts = 0
    // axios calls this for each response, also for a 401 before the request is sent again.
    const validateStatus = (status) => (attempts += 1) > 0 && status < 300
    const begun = performance.now()
    waiting.set(become, begun)
    const isAnswered = await api.get('/orders', { validateStatus }).then(
      () => true,
      () => false,
    )
    waiting.delete(become)
    become(isAnswered ? (attempts > 1 ? 'again' : 'answered') : 'failed')
    count(isAnswered ? 'answered' : 'failed')
    if (isAnswered && isLong(begun)) count('waited')
  }

  const isLong = (begun) => performance.now() - begun > LONG_MS

  function count(name) {
    if (name in counts) counts[name] += 1
    if (name in since) since[name] += 1
  }

  function logOut(reason) {
    if (login !== 'present') return
    login = 'lost'
    why = reason ?? ended ?? status
    count('lost')
    outSince = performance.now()
    endLife()
    endOfBars = [tokenLane.bar('out')]
    setTimeout(logIn, RELOGIN_MS)
  }

  async function logIn() {
    const answer = await service.logIn(owner)
    isShutOut = !answer
    if (!answer) return void setTimeout(logIn, AGAIN_MS)
    await kit.adopt(answer)
    since = { ...NONE }
    login = 'present'
    outMs += Math.max(0, performance.now() - outSince)
    outSince = Infinity
    ended = undefined
    endLife()
    received()
  }

  function endLife() {
    until = 0
    for (const end of endOfBars.splice(0)) end()
  }

  function received() {
    until = performance.now() + service.lifetimeMs
    endOfBars.push(tokenLane.bar('life', until))
  }

  function observe(event) {
    if (event.type === 'ended') {
      ended = event.why
      endLife()
    } else if (event.type === 'called') {
      calling.set(event.id, tokenLane.begin('call'))
      count('calls')
    } else if (event.type === 'responded') {
      calling.get(event.id)?.(event.status === 200 ? 'renewed' : 'refused')
      calling.delete(event.id)
      if (event.status !== 200) return void (status = event.status)
      count('renewals')
      if (login === 'present' && ended === undefined) received()
    }
  }

  function show(on) {
    const hasToken = until > performance.now()
    const long = Array.from(waiting.values()).filter(isLong).length
    const now = story({ ...since, login, why, isShutOut, waiting: long, hasToken, on, nextS: kit.nextS?.() ?? 0 })
    const says = part('says')
    if (says.textContent !== now.text) says.textContent = now.text
    for (const [name, value] of Object.entries(counts)) part(name).textContent = value
    part('seconds').textContent = Math.round((outMs + Math.max(0, performance.now() - outSince)) / 1_000)
    return now
  }

  openTab(part('requests'))
  void logIn()
  return {
    observe,
    show,
    /** The nth moment of the page: the tabs take turns. */
    tick: (n) => tabs[n % 2] && void send(tabs[n % 2]),
    describe: () => [tokenLane, ...tabs.map(({ lane }) => lane)].forEach((lane) => lane.describe()),
    forget: () => (since = { ...NONE }),
    second(isOn) {
      part('second').parentElement.hidden = !isOn
      if (isOn) return openTab(part('second'))
      const { lane, close } = tabs.pop()
      close()
      lane.end()
    },
    first: tabs[0],
  }
}
