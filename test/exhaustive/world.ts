import type { TokenGrant } from '../../src/index.ts'
import { hashOf } from './hash.ts'
import { Owner, type Wish } from './owner.ts'
import { reach } from './reached.ts'
import { Register, type Replace } from './register.ts'
import { type Fault, FAULTS, OF_THE_REGISTER, type Scope } from './scope.ts'
import { cut, failed, loginRequired, odd, throttled, TokenService } from './token-service.ts'
import { VainAttempts } from './futile-attempt.ts'
import { Watch } from './watch.ts'
import { person } from '../../src/login/index.ts'

interface Message {
  readonly id: string
  readonly owner: Owner
  readonly to: 'register' | 'service'
  readonly act: () => Reply
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  /** The number of the action that sent the message. */
  readonly bornAt: number
  readonly what: string
  /** What the message would do, in a short text. */
  readonly content: string
  readonly sentAt: number
  hasActed: boolean
}

interface Reply {
  readonly value?: unknown
  readonly error?: unknown
  readonly text: string
}

/** A message, or its reply, that arrives at an unknown time. */
interface Straggler {
  readonly id: string
  readonly message: Message
  readonly reply?: Reply
}

const HOUR = 3_600_000
/** How long a step takes, if time passes meanwhile. */
const WAIT_MS = 10

/** One run: owners, messages, time, and what may happen next. */
export class World {
  readonly watch: Watch
  readonly scope: Scope
  readonly #register: Register
  readonly #service: TokenService
  readonly owners: Owner[] = []
  /** Commands and token requests so far. */
  readonly calls = { register: 0, service: 0 }
  readonly #left: Map<Fault, number>
  #faultsLeft: number
  #slowLeft: number
  #waitsLeft: number
  #now = 0
  /** How far the wall clocks of the machine are ahead. */
  #sleptMs = 0
  #pending: Message[] = []
  #stragglers: Straggler[] = []
  #actions = 0
  /** Owners that received something in the last action. A crash, a freeze or a reset happens only to these: later it would have the same effect. */
  #told = new Set<Owner>()
  #isHit = false
  readonly #vain = new VainAttempts()

  private constructor(scope: Scope) {
    this.scope = scope
    this.#register = new Register(scope.epochs ?? true)
    this.#service = new TokenService(scope.obtainEnds ?? false, scope.graceMs ?? 0)
    this.watch = new Watch(this.#service, () => this.#now, scope)
    this.#left = new Map(Object.entries(scope.faults) as [Fault, number][])
    this.#faultsLeft = scope.most
    this.#slowLeft = scope.slow ?? 0
    this.#waitsLeft = scope.waits ?? 0
  }

  static async begin(scope: Scope): Promise<World> {
    const world = new World(scope)
    for (const [index, wishes] of scope.owners.entries()) {
      await world.tell(() => {
        const owner = world.#owned(index, wishes)
        world.owners.push(owner)
        void owner.live()
        return owner
      })
    }
    for (const choice of scope.begins ?? []) await world.act(choice)
    return world
  }

  #owned(index: number, wishes: readonly Wish[]): Owner {
    running = { name: 'ABCDE'[index]!, drawn: 0, answered: 0 }
    const { onUnavailable = 'private', graceMs = 0, grant } = this.scope
    // The messages of an owner hold the owner, which does not exist yet.
    const owner: Owner = new Owner(index, wishes, this.scope.acts?.[index] ?? [], {
      register: {
        kind: 'register',
        read: () => this.#send(owner, 'register', 'read', () => this.#read(owner)),
        replace: (_key, expected, value, keepMs, epoch?: string) =>
          this.#send(
            owner,
            'register',
            expected === undefined ? 'create' : 'replace',
            (isRepeated) => this.#replace(owner, { expected, value, keepMs, epoch, isRepeated }),
            hashOf([expected, value, keepMs, epoch].join()),
          ),
      },
      source: {
        id: 'account',
        obtain: ({ signal }) =>
          grant === 'login' ? Promise.reject(loginRequired()) : this.#call(owner, signal, undefined),
        refresh: (refreshToken, { signal, resource }) => this.#call(owner, signal, refreshToken, resource?.audience),
        revoke: ({ refreshToken }) => this.#revoke(owner, refreshToken),
        reuseGraceMs: graceMs,
        resources: true,
        login: grant === 'login' ? person : undefined,
      },
      login: (person) => this.#login(owner, person),
      watch: this.watch,
      time: () => this.#now,
      sleptMs: () => this.#sleptMs,
      onUnavailable,
    })
    // Otherwise its second login would have the name of the first.
    owner.drawn = running.drawn
    running = owner
    return owner
  }

  /** Everything that may happen next. The faultless choices come first. Empty: the run has ended. */
  choices(): string[] {
    const usual = this.#pending.map(({ id }) => `go ${id}`)
    const isQuiet = usual.length === 0
    const onlyService = this.#pending.every(({ to }) => to === 'service')
    const isDone = this.owners.every((owner) => owner.isDone || owner.isFrozen)
    const frozen = this.owners.filter((owner) => owner.isFrozen && !owner.isCrashed)
    const thaws = frozen.map(({ name }) => `thaw ${name}`)
    const canPass = this.#nextTimerAt < Infinity
    const time = isQuiet && !isDone && canPass ? ['time'] : []
    const slow = !isQuiet && onlyService && canPass && this.#slowLeft > 0 ? ['slow'] : []
    const late = this.#stragglers.map(({ id }) => id)
    const isWaiting = usual.length + late.length > 0 && this.#nextTimerAt > this.#now + WAIT_MS
    const wait = isWaiting && this.#waitsLeft > 0 ? ['wait'] : []
    const acts = this.owners.filter((owner) => owner.canAct).map(({ name }) => `act ${name}`)
    const isCut = (owner: Owner) => owner.isCutOff && this.#newToRegister(owner).length > 0
    const cuts = this.owners.filter(isCut).map(({ name }) => `cut ${name}`)
    const ends = isQuiet && isDone && frozen.length === 0
    if (ends && late.length === 0) return []
    return [
      ...usual,
      ...time,
      ...(ends ? ['end'] : []),
      ...thaws,
      ...acts,
      ...late,
      ...slow,
      ...wait,
      ...cuts,
      ...this.#faults(),
    ]
  }

  #faults(): string[] {
    if (this.#faultsLeft === 0) return []
    const can = (fault: Fault) => this.#can(fault)
    const faults: string[] = []
    for (const owner of this.owners.filter((one) => !one.isCutOff && this.#canBeHit(one)))
      if (can('outage') && this.#newToRegister(owner).length > 0) faults.push(`outage ${owner.name}`)
    for (const { id, owner, to, bornAt, what } of this.#pending) {
      const canBeHit = this.#canBeHit(owner)
      const isReplace = what === 'replace' || what === 'create'
      // A message is lost or late from the moment at which it is sent: what happens between makes no difference.
      const isNew = bornAt === this.#actions
      // A lost read has the same effect whether it was executed or not.
      const isRead = what === 'read'
      if (canBeHit && can('lost') && isNew) faults.push(`lost ${id}`)
      if (canBeHit && can('lost') && !isRead) faults.push(`lost-after ${id}`)
      if (canBeHit && can('late')) faults.push(...(isNew ? [`late ${id}`] : []), `late-reply ${id}`)
      if (canBeHit && can('twice') && isReplace) faults.push(`twice ${id}`)
      if (canBeHit && can('outage') && isReplace && !owner.isCutOff) faults.push(`outage-after ${id}`)
      if (canBeHit && can('throttled') && to === 'service') faults.push(`throttled ${id}`)
      if (canBeHit && can('failed') && to === 'service') faults.push(`failed ${id}`, `failed-after ${id}`)
      if (canBeHit && can('odd') && to === 'service') faults.push(`odd ${id}`)
      if (to !== 'register') continue
      // The register changes right before its next command: only commands see the change.
      if (can('flush') && this.#register.holds(this.#now) && !isReplace) faults.push(`flush ${id}`)
      if (can('restart') && what === 'read') faults.push(`restart ${id}`)
      if (can('step')) faults.push(`back ${id}`, `ahead ${id}`)
      if (can('jump')) faults.push(`jump ${id}`)
      // Connections break: commands that were sent before have no effect afterwards.
      if (can('restore') && !isReplace)
        this.#register.past.forEach((text, index) => {
          if (text !== this.#register.text) faults.push(`restore ${id} ${index}`)
        })
    }
    for (const owner of this.#told) {
      if (owner.isCrashed || owner.isFrozen || !this.#canBeHit(owner)) continue
      const possible = owner.isDone ? (['reset'] as const) : (['crash', 'freeze', 'reset'] as const)
      faults.push(...possible.filter(can).map((fault) => `${fault} ${owner.name}`))
    }
    return faults
  }

  #can(fault: Fault): boolean {
    return (this.#left.get(fault) ?? 0) > 0
  }

  /** What an owner has sent to the register since the last action. */
  #newToRegister(owner: Owner, bornAt = this.#actions): Message[] {
    return this.#pending.filter((one) => one.owner === owner && one.to === 'register' && one.bornAt === bornAt)
  }

  /** If all owners are alike, the first fault happens to the first owner: the other orders would be the same. */
  #canBeHit(owner: Owner): boolean {
    const [first = ''] = this.scope.owners.map(String)
    return this.#isHit || owner === this.owners[0] || this.scope.owners.some((wishes) => String(wishes) !== first)
  }

  async act(choice: string): Promise<void> {
    this.#actions += 1
    this.#told = new Set()
    const [what, id, detail] = choice.split(' ') as [string, string, string?]
    const fault = FAULTS[what]
    if (fault) this.#spend(fault)
    if (fault && !OF_THE_REGISTER.has(fault)) this.#isHit = true
    if (what === 'time' || what === 'slow') return this.#pass(what === 'slow')
    if (what === 'wait') this.#wait()
    if (what === 'end') this.#stragglers = []
    if (what === 'wait' || what === 'end') return
    if (what === 'arrive') return this.#arrive(choice)
    const owner = this.owners.find(({ name }) => name === id)
    if (owner) return this.#befall(what, owner)
    const message = this.#take(id)
    if (message.to === 'register') message.owner.isCutOff = what === 'outage-after'
    if (fault === 'lost' || fault === 'late' || fault === 'outage') message.owner.troubles += 1
    if (what === 'flush' || what === 'restore') this.watch.isLost(what)
    switch (what) {
      case 'lost':
        return this.#deliver(message, { error: cut(), text: 'cut' })
      case 'lost-after':
      case 'outage-after':
        this.#execute(message)
        return this.#deliver(message, { error: cut(), text: 'cut' })
      case 'late':
        this.#delay(message)
        return
      case 'late-reply':
        this.#delay(message, this.#execute(message))
        return
      case 'throttled':
        return this.#deliver(message, { error: throttled(), text: '429' })
      case 'odd':
        return this.#deliver(message, { error: odd(), text: '400' })
      case 'failed':
        return this.#deliver(message, { error: failed(), text: '503' })
      case 'failed-after':
        this.#execute(message)
        return this.#deliver(message, { error: failed(), text: '503' })
      case 'flush':
        this.#register.flush(this.scope.sameInstant ?? false)
        // Such a command would create a record with a fence from before the flush.
        if (!this.scope.sameInstant) await this.#lose((one) => one.what === 'create')
        break
      case 'restore':
        this.#register.restore(Number(detail))
        if (!this.scope.replacesSurvive) await this.#lose((one) => one.what !== 'read')
        break
      case 'restart':
        this.#register.restart()
        break
      case 'back':
      case 'ahead':
        this.#register.stepClock(what === 'back' ? -HOUR : HOUR)
        this.watch.isStepped = true
        break
      case 'jump':
        this.#register.stepClock(HOUR)
        this.#sleptMs += HOUR
        this.watch.hasSlept = true
    }
    const reply = this.#execute(message)
    if (what === 'twice') this.#stragglers.push({ id: `arrive ${message.id} again`, message })
    await this.#deliver(message, reply)
  }

  /** The state in one line, for users. */
  get shown(): string {
    const { version, fence, overlaps, tokens, lease, coolDown } = this.#register.state ?? {}
    const short = (n = 0) => n % 100_000
    return [
      `t=${this.#now} v${version} f${short(fence)}${overlaps ? ' overlaps' : ''}`,
      tokens &&
        `tokens ${tokens.refreshToken} f${short(tokens.fence)}${tokens.retired ? ' retired' : ''}${tokens.overlapped ? ' overlapped' : ''}`,
      lease && `lease ${lease.owner} f${short(lease.fence)}${lease.settled ? ' settled' : ''}`,
      coolDown && `cool-down ${coolDown.code}`,
      `| ${this.#pending.map(({ id, what }) => `${id} ${what}`).join(', ')}`,
    ].join(' ')
  }

  /** The state that the register holds, for comparison with other runs. */
  get record(): string {
    return JSON.stringify(this.#register.state ?? null)
  }

  /**
   * Everything on which the future of the run depends. The story of an owner represents the owner's state, and a crashed owner has none. The last
   * action determines only which choices there are now (`search.ts`).
   */
  get key(): string {
    const withFaults = this.#faultsLeft > 0
    return [
      this.endKey,
      withFaults && this.#can('restore') ? this.#register.pastKey : '',
      this.#pending.map(({ id }) => id).sort(),
      this.#faultsLeft,
      withFaults ? [...this.#left.values()].join('') : '',
      this.#slowLeft,
      this.#waitsLeft,
      this.#isHit,
    ].join('\n')
  }

  /** The same where no choice is left. */
  get endKey(): string {
    return [
      this.#now,
      this.#sleptMs,
      this.#register.key,
      this.#service.key,
      this.watch.key,
      ...this.owners.map(({ story, isCrashed, isFrozen, isCutOff, unread }) =>
        isCrashed ? 'crashed' : [story, isFrozen, isCutOff, ...unread.map(({ text }) => text)].join(),
      ),
      this.#stragglers
        .map(({ id, message: { owner, content }, reply }) =>
          owner.isCrashed ? `${owner.name} ${content} ${id.endsWith('again')}` : `${id} ${reply?.text}`,
        )
        .sort(),
    ].join('\n')
  }

  /** How long the service accepts an access token, ms; 0 if it has expired. */
  remainingMs(token: string): number {
    return this.#service.remainingMs(token, this.#now) ?? 0
  }

  /** Lets time pass without faults. */
  async calm(ms: number): Promise<void> {
    const end = this.#now + ms
    for (let actions = 0; actions < 500 && (this.#pending.length > 0 || this.#nextTimerAt <= end); actions += 1)
      await this.goOn()
    this.#now = end
  }

  async goOn(): Promise<void> {
    const [message] = this.#pending
    if (message) await this.#deliver(this.#take(message.id), this.#execute(message))
    else await this.#pass(false)
  }

  /** Commands of the register that are in transit take no effect. */
  async #lose(which: (message: Message) => boolean): Promise<void> {
    const isLost = (one: Message) => one.to === 'register' && which(one)
    this.#stragglers = this.#stragglers.filter(({ reply, message }) => reply !== undefined || !isLost(message))
    for (const { id, owner } of this.#pending.filter(isLost)) {
      owner.troubles += 1
      await this.#deliver(this.#take(id), { error: cut(), text: 'cut' })
    }
  }

  #spend(fault: Fault): void {
    this.#faultsLeft -= 1
    this.#left.set(fault, (this.#left.get(fault) ?? 0) - 1)
  }

  async #befall(what: string, owner: Owner): Promise<void> {
    // An act draws its random names at once.
    running = owner
    if (what === 'crash') {
      owner.isCrashed = true
      // Messages of this owner may arrive at any time, or never. It receives no response.
      for (const { id } of this.#pending.filter((one) => one.owner === owner)) this.#delay(this.#take(id))
      this.#stragglers = this.#stragglers.filter(
        ({ message, reply }) => message.owner !== owner || (reply === undefined && message.what !== 'read'),
      )
    } else if (what === 'outage' || what === 'cut') {
      owner.isCutOff = true
      owner.troubles += 1
      for (const { id } of this.#newToRegister(owner, this.#actions - 1))
        await this.#deliver(this.#take(id), { error: cut(), text: 'cut' })
    } else if (what === 'freeze') owner.isFrozen = owner.wasFrozen = true
    else if (what === 'reset' || what === 'act')
      await this.tell(() => {
        owner[what]()
        return owner
      })
    else await this.#thaw(owner)
  }

  async #thaw(owner: Owner): Promise<void> {
    owner.isFrozen = false
    // Node runs timers before it reads sockets.
    await this.#fire(owner)
    for (const { text, deliver } of owner.unread.splice(0)) {
      await this.tell(() => {
        owner.hears(text)
        deliver()
        return owner
      })
    }
  }

  async #pass(isSlow: boolean): Promise<void> {
    if (isSlow) this.#slowLeft -= 1
    const at = this.#nextTimerAt
    if (at === Infinity) {
      this.watch.fail('progress', 'nobody does anything any more')
      return
    }
    this.#now = Math.max(this.#now, at)
    for (const owner of this.owners) await this.#fire(owner)
  }

  /** What an owner knows of the clocks depends on how long a step took. */
  #wait(): void {
    this.#waitsLeft -= 1
    this.#now += WAIT_MS
    for (const owner of this.owners) owner.hears('wait')
  }

  /** Fires the timers that are due, but not those that they set. */
  async #fire(owner: Owner): Promise<void> {
    const due: (() => void)[] = []
    for (let timer = owner.takeTimer(); timer; timer = owner.takeTimer()) due.push(timer)
    for (const timer of due)
      await this.tell(() => {
        owner.hears('timer')
        timer()
        return owner
      })
  }

  get #nextTimerAt(): number {
    return Math.min(...this.owners.map((owner) => owner.nextTimerAt))
  }

  async #arrive(id: string): Promise<void> {
    const straggler = this.#stragglers.find((one) => one.id === id)!
    this.#stragglers = this.#stragglers.filter((one) => one !== straggler)
    const { message, reply } = straggler
    await this.#deliver(message, reply ?? this.#execute(message))
  }

  #delay(message: Message, reply?: Reply): void {
    const id = `arrive ${message.id} ${reply ? 'reply' : 'request'}`
    this.#stragglers.push(reply ? { id, message, reply } : { id, message })
  }

  #execute(message: Message): Reply {
    this.calls[message.to] += 1
    return message.act()
  }

  async #deliver(message: Message, { value, error, text }: Reply): Promise<void> {
    const { id, owner, what, resolve, reject } = message
    if (owner.isCrashed) return
    const deliver = () => (error === undefined ? resolve(value as never) : reject(error))
    const heard = `${id} ${text}`
    if (owner.isFrozen) return void owner.unread.push({ text: heard, deliver })
    const onTheirWay = () => this.#pending.filter((one) => one.owner === owner)
    const isRepeatable = this.scope.isPlain !== true && !this.#stragglers.some((one) => one.message.owner === owner)
    const mark = isRepeatable && !error ? this.#vain.before(owner, message, onTheirWay().length) : undefined
    const isVain = what !== 'read' && value === false && isRepeatable && onTheirWay().length === 0
    const attempt = isVain ? this.#vain.forgotten(owner, id) : undefined
    await this.tell(() => {
      if (!attempt) owner.hears(heard)
      deliver()
      return owner
    })
    this.#vain.after(owner, mark, onTheirWay())
    if (attempt) this.#vain.check(owner, attempt, onTheirWay())
  }

  #take(id: string): Message {
    const message = this.#pending.find((one) => one.id === id)!
    this.#pending = this.#pending.filter((one) => one !== message)
    return message
  }

  /** Delivers something to one owner. The owner does all that follows before anything else happens. */
  async tell(what: () => Owner): Promise<void> {
    const owner = what()
    running = owner
    this.#told.add(owner)
    await drained()
    if (!owner.isCrashed && !owner.isFrozen) this.watch.sees(owner)
  }

  #send<Value>(
    owner: Owner,
    to: Message['to'],
    what: string,
    act: (isRepeated: boolean) => Reply,
    content = '',
  ): Promise<Value> {
    owner.sent += 1
    const id = `${owner.name}${owner.sent}`
    return new Promise<Value>((resolve, reject) => {
      const message: Message = {
        id,
        owner,
        to,
        act: () => {
          const reply = act(message.hasActed)
          message.hasActed ||= reply.value !== false
          return reply
        },
        resolve: resolve,
        reject,
        bornAt: this.#actions,
        what,
        content,
        sentAt: this.#now,
        hasActed: false,
      }
      this.#pending.push(message)
    })
  }

  #login(owner: Owner, person: string | undefined): TokenGrant {
    const name = nextExchangeOf(owner)
    this.watch.loginBegins(`refresh-${name}`)
    return this.#service.login(name, this.#now, person)
  }

  #revoke(owner: Owner, refreshToken = ''): Promise<void> {
    return this.#send(owner, 'service', 'revoke', () => {
      this.watch.revoked(owner, refreshToken)
      this.#service.revoke(refreshToken)
      return { text: 'revoked' }
    })
  }

  #read(owner: Owner): Reply {
    this.watch.reads(owner)
    this.watch.knowledge.learns(owner.name, this.#register.state)
    const reading = this.#register.read(this.#now)
    const { tokens, epoch } = this.#register.state ?? {}
    if (tokens && epoch !== undefined && epoch !== reading.epoch) reach('R1: read in another epoch')
    if (tokens && tokens.at > reading.now + 1_000) reach('R2: an instant lies in the future')
    return { value: reading, text: `${this.#register.key} ${this.#now}` }
  }

  #replace(owner: Owner, { isRepeated, ...replace }: Replace & { readonly isRepeated: boolean }): Reply {
    const before = this.#register.state
    const isReplaced = this.#register.replace(replace, this.#now)
    if (isRepeated && !isReplaced) reach('R5: a replace that is executed twice does nothing')
    if (isReplaced)
      this.watch.replaced(owner, before, this.#register.state!, { now: this.#register.now(this.#now), isRepeated })
    return { value: isReplaced, text: String(isReplaced) }
  }

  async #call(owner: Owner, signal: AbortSignal, refreshToken: string | undefined, what?: string): Promise<TokenGrant> {
    owner.exchangesFor = what
    const presentation = this.watch.presents(owner, refreshToken)
    const { knowledge } = this.watch
    const id = nextExchangeOf(owner)
    owner.exchange = id
    if (refreshToken === undefined) knowledge.begins(id, owner.name, owner.grant?.isPrivate ?? false)
    signal.addEventListener('abort', () => {
      knowledge.givesUp(id)
      this.watch.ended(presentation, 'unknown')
    })
    try {
      const serve = () => this.#served(id, refreshToken, what)
      const grant = await this.#send<TokenGrant>(owner, 'service', refreshToken ?? 'obtain', serve, id)
      this.watch.ended(presentation, 'accepted')
      return grant
    } catch (error) {
      const { status } = error as { status?: number }
      this.watch.ended(presentation, ENDINGS[status ?? 0] ?? 'unknown')
      throw error
    }
  }

  #served(name: string, refreshToken: string | undefined, what?: string): Reply {
    this.watch.knowledge.acts(name)
    try {
      const grant =
        refreshToken === undefined
          ? this.#service.obtain(name, this.#now)
          : this.#service.refresh(name, refreshToken, this.#now, what)
      return { value: grant, text: 'granted' }
    } catch (error) {
      return { error, text: 'refused' }
    }
  }
}

const ENDINGS: Partial<Record<number, 'odd' | 'refused' | 'throttled' | 'failed'>> = {
  400: 'odd',
  401: 'refused',
  429: 'throttled',
  503: 'failed',
}

/** Exchanges and logins have their own count: their names do not depend on the number of earlier commands. */
function nextExchangeOf(owner: Owner): string {
  owner.exchanges += 1
  return `${owner.name}${owner.exchanges}`
}

/** The owner that runs. Only one owner runs at a time. */
let running: { name: string; drawn: number; answered: number } = { name: '', drawn: 0, answered: 0 }

/** Resolves when everything that follows has happened: all code here waits for promises only. */
function drained(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

/** From now on the same choices lead to the same run in this process: UUIDs are counters. Errors have no stack, which saves time. */
export function makeDeterministic(): void {
  Object.defineProperty(crypto, 'randomUUID', { value: () => `${running.name}-${running.drawn++}` })
  Object.defineProperty(globalThis, 'runningProcess', { get: () => running })
  Error.stackTraceLimit = 0
}
