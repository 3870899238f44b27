import * as fc from 'fast-check'
import { mutated } from './texts.ts'

/** The response of a server. */
export interface Answer {
  readonly status: number
  readonly location?: string
  /** Only so many characters of the response are sent. */
  readonly cut?: Cut
}
interface Cut {
  readonly at: number
  readonly how: 'end' | 'reset'
}

/** Where something points to: one of the origins of the net, or this origin. */
export type Where = number | 'here'

export interface Hop {
  readonly status: number
  readonly to: Where
}

export interface Asked {
  /** The first two instances have the tokens of a manager each; the third has none. */
  readonly from: 0 | 1 | 2
  readonly method: 'get' | 'post' | 'put'
  readonly transport: 'none' | 'that of Node' | 'following' | 'following, of the instance' | 'own'
  readonly spelling: number
  /** Changes the address further; the origins of the net replace `{0}`, `{1}`, …. */
  readonly mutated: string | undefined
  readonly to: Where
  readonly hops: readonly Hop[]
  readonly cut: (Cut & { readonly hop: number }) | undefined
  /** The API rejects the first token. */
  readonly isRejected: boolean
  /** Turns of the event loop before it is sent. */
  readonly turns: number
}

export interface OriginCourse {
  readonly header: 'Authorization' | 'X-Api-Token'
  /** How all requests and instances share one headers object. */
  readonly shares: 'nothing' | 'config' | 'interceptor' | 'early interceptor' | 'defaults'
  readonly asked: readonly Asked[]
}

/** How an address is written. `path` begins with a slash. The config may have another `baseURL` than the instance. */
export const SPELLINGS: readonly ((origin: string, path: string, home: string) => { url: string; baseURL?: string })[] =
  [
    (origin, path) => ({ url: origin + path }),
    (origin, path) => ({ url: path, baseURL: origin }),
    (origin, path) => ({ url: path.slice(1), baseURL: `${origin}/` }),
    (origin, path) => ({ url: origin.replace(/^\w+/, (protocol) => protocol.toUpperCase()) + path }),
    (origin, path) => ({ url: origin.replace(/^\w+:/, '') + path }),
    (origin, path) => ({ url: origin.replace('//', '\\\\') + path }),
    (origin, path) => ({ url: origin.replace('//', '/') + path }),
    (origin, path) => ({ url: origin.replace('//', '//\t') + path }),
    (origin, path) => ({ url: origin.replace('//', '///') + path }),
    (origin, path, home) => ({ url: origin.replace('//', `//${new URL(home).host}@`) + path }),
    (origin, path, home) => ({ url: `${origin}${path}#@${new URL(home).host}` }),
    (origin, path, home) => ({ url: `${origin}${path}?@${new URL(home).host}/` }),
    (origin, path) => ({ url: ` ${origin}${path}` }),
    (origin, path, home) => ({ url: `${path}/../..${path}`, baseURL: `${home}@${new URL(origin).host}` }),
    (origin, path) => ({ url: `\\\\${new URL(origin).host}${path}` }),
    (origin, path) => ({ url: `/\\${new URL(origin).host}${path}`, baseURL: '/' }),
    (origin, path) => ({ url: origin.replace(/(?<=\w)$/, '.') + path }),
  ]

const where: fc.Arbitrary<Where> = fc.oneof(
  { weight: 2, arbitrary: fc.constant('here') },
  { weight: 5, arbitrary: fc.nat({ max: 12 }) },
)
const addresses = [
  '{0}/p',
  '{1}/p',
  '{2}/p',
  '{3}/p',
  '//{0}/p',
  '{0}@{2}/p',
  '{2}#@{0}',
  '\\\\{2}\\p',
  '{0}.evil.test/p',
]

const asked = (mayMutate: boolean): fc.Arbitrary<Asked> =>
  fc.record({
    from: fc.constantFrom(0, 0, 1, 1, 2),
    method: fc.constantFrom('get', 'get', 'post', 'put'),
    transport: fc.constantFrom(
      'none',
      'none',
      'none',
      'that of Node',
      'following',
      'following, of the instance',
      'own',
    ),
    spelling: fc.oneof(fc.constantFrom(0, 0, 1, 1), fc.nat({ max: SPELLINGS.length - 1 })),
    mutated: mayMutate
      ? fc.option(mutated(fc.constantFrom(...addresses)), { nil: undefined, freq: 2 })
      : fc.constant(undefined),
    to: where,
    hops: fc.array(fc.record({ status: fc.constantFrom(301, 302, 303, 307, 308), to: where }), { maxLength: 5 }),
    cut: fc.option(
      fc.record({ hop: fc.nat({ max: 3 }), at: fc.nat({ max: 130 }), how: fc.constantFrom('end', 'reset') }),
      { nil: undefined, freq: 2 },
    ),
    isRejected: fc.boolean(),
    turns: fc.nat({ max: 3 }),
  })

/** @param mayMutate Whether addresses may point to any name: not over a real network. */
export const originCourses = (mayMutate: boolean): fc.Arbitrary<OriginCourse> =>
  fc.record({
    header: fc.constantFrom('Authorization', 'Authorization', 'X-Api-Token'),
    shares: fc.constantFrom('nothing', 'config', 'interceptor', 'interceptor', 'early interceptor', 'defaults'),
    asked: fc.array(asked(mayMutate), { minLength: 1, maxLength: 4 }),
  })
