import * as axiosAuthRefresh from '../contestants/axios-auth-refresh.mjs'
import * as axiosJwt from '../contestants/axios-jwt.mjs'
import * as axiosTokenInterceptor from '../contestants/axios-token-interceptor.mjs'
import * as azure from '../contestants/azure-core.mjs'
import * as badgateway from '../contestants/badgateway-oauth2.mjs'
import * as constantInterceptor from '../contestants/constant-interceptor.mjs'
import * as evergreen from '../contestants/evergreen.mjs'
import * as floor from '../contestants/floor.mjs'
import * as google from '../contestants/google-auth-library.mjs'
import * as handWritten from '../contestants/hand-written.mjs'
import * as staticHeader from '../contestants/static-header.mjs'

export const EVERGREEN = evergreen.name
export const FLOOR = floor.name
export const STATIC = staticHeader.name
export const REFERENCE = constantInterceptor.name
/** The reference a second time, under another name: every difference between the two is noise. */
export const AGAIN = 'A/A'

/** The contestants that get tokens, ours first. */
export const renewing = [
  evergreen,
  handWritten,
  axiosAuthRefresh,
  axiosJwt,
  axiosTokenInterceptor,
  azure,
  google,
  badgateway,
]

/** The names of all contestants but ours. */
export const others = renewing.slice(1).map(({ name }) => name)

/** The contestants by name: `{ name, create(context), onAxios(context), transport }`. */
export const contestants = Object.fromEntries(
  [staticHeader, constantInterceptor, floor, ...renewing].map((each) => [
    each.name,
    {
      name: each.name,
      create: each.create,
      onAxios: each.onAxios ?? each.create,
      transport: each.transport ?? 'axios',
    },
  ]),
)

/** The name in tables, in which ours stands out. */
export function shownName(name) {
  return name === EVERGREEN ? `**${name}**` : name
}
