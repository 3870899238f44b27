import { expect } from '@jest/globals'
import {
  clientCredentials,
  loginPassword,
  type TokenEvents,
  type TokenManager,
  type TokenManagerOptions,
} from '../../../src/index.ts'
import type { TokenServiceOptions } from '../../../src/wire/token-call.ts'
import { managerOf } from '../../axios/support/tokens.ts'
import { listen } from '../../support/managed.ts'
import { proper, type ScriptedServer, serveScripts, type Step } from '../../support/scripted-server.ts'
import { TokenServiceModel } from '../../support/token-service-model.ts'
import { manualClock, type ManualClock } from '../../../tools/testing/manual-clock.ts'
import { settle } from '../../support/watched-clock.ts'

export interface Setting {
  /** Default B. */
  readonly variant?: 'A' | 'B'
  readonly manager?: Partial<TokenManagerOptions>
  readonly transport?: TokenServiceOptions['transport']
  readonly clock?: ManualClock
}

/** A manager, a network, and the token service behind the network. */
export interface Network {
  readonly clock: ManualClock
  readonly service: TokenServiceModel
  readonly server: ScriptedServer
  readonly tokens: TokenManager
  readonly told: ReturnType<typeof listen>
}

/** @param scripts One for each connection. The last script is for all later connections. */
export async function startNetwork(
  adapter: 'http' | 'fetch',
  scripts: Step[][] = [proper],
  { variant = 'B', manager = {}, transport = {}, clock = manualClock() }: Setting = {},
): Promise<Network> {
  const service = new TokenServiceModel(clock)
  const server = await serveScripts(scripts, service)
  const options = { baseUrl: server.origin, transport: { adapter, ...transport } }
  const source =
    variant === 'A'
      ? clientCredentials({ ...options, ...service.client })
      : loginPassword({ ...options, ...service.login })
  const tokens = managerOf(source, { clock, ...manager })
  return { clock, service, server, tokens, told: listen(tokens) }
}

/** The same with the first token obtained. The scripts are for the later connections. */
export async function startWithToken(
  adapter: 'http' | 'fetch',
  scripts: Step[][] = [proper],
  setting: Setting = {},
): Promise<Network> {
  const network = await startNetwork(adapter, [proper, ...scripts], setting)
  await network.tokens.getAccessToken()
  return network
}

/** Token requests started so far. */
export function calls({ tokens }: Network): number {
  const { obtains, refreshes } = tokens.status().counts
  return obtains + refreshes
}

/** Resolves when the manager has emitted such an event and acted on it, however long this machine takes. */
export async function toldOf({ tokens, told }: Network, name: keyof TokenEvents): Promise<void> {
  if (told[name].length === 0) await new Promise<void>((resolve) => tokens.on(name, () => resolve()))
  await settle()
}

/** Lets `ms` pass: no call starts before the end of that time, and one starts at the end. */
export async function expectNextCallAfter(network: Network, ms: number): Promise<void> {
  const before = calls(network)
  await network.clock.advance(ms - 1)
  expect(calls(network)).toBe(before)
  await network.clock.advance(1)
  expect(calls(network)).toBe(before + 1)
}

/** Time advances by itself while the manager pauses between two calls. */
export function hurryPauses({ tokens, clock }: Network): void {
  tokens.on('retry', ({ delayMs }) => clock.advance(delayMs))
}
