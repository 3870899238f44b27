import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import * as files from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTokenManager, type TokenSource } from '../../src/index.ts'
import * as oauth2 from '../../src/oauth2/index.ts'
import { fences } from '../support/document-code.ts'
import { runCode } from '../support/page-code.ts'
import { serve } from '../service/world.ts'

const page = readFileSync('docs/own-source.md', 'utf8')
const sections = page.split('\n## Machine identity\n')[1]!.split('\n## ')[0]!.split('\n### ').slice(1)
const MODULES: Readonly<Record<string, unknown>> = {
  axios: { __esModule: true, default: axios },
  'node:fs/promises': files,
  'axios-evergreen/oauth2': oauth2,
}

/** Runs the program of a section. @param moved What replaces the addresses and paths of the page. */
function sourceIn(section: string, moved: Readonly<Record<string, string>>): TokenSource {
  let [code = ''] = fences('ts', section)
  for (const [there, here] of Object.entries(moved)) {
    if (!code.includes(there)) throw new Error(`The page does not name ${there}`)
    code = code.replaceAll(there, here)
  }
  return runCode(code, { require: (name: string) => MODULES[name] }, 'return source') as TokenSource
}

interface Case {
  readonly title: string
  readonly moved: (origin: string, path: string) => Record<string, string>
  readonly asked: (request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>, body: string) => unknown
  readonly wants: unknown
  readonly answer: object
}

const file = 'identity-of-the-machine'
const form = (body: string) => Object.fromEntries(new URLSearchParams(body))
const CASES: readonly Case[] = [
  {
    title: 'AKS',
    moved: (origin, path) => ({
      'https://login.microsoftonline.com': origin,
      '/var/run/secrets/azure/tokens/azure-identity-token': path,
    }),
    asked: ({ method, url, headers }, body) => [method, url, headers.authorization, form(body)],
    wants: [
      'POST',
      '/TENANT/oauth2/v2.0/token',
      undefined,
      {
        grant_type: 'client_credentials',
        scope: 'api://orders/.default',
        client_id: 'CLIENT',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: file,
      },
    ],
    answer: { access_token: 'issued', token_type: 'Bearer', expires_in: 3_599 },
  },
  {
    title: 'GitHub Actions',
    moved: (origin) => ({ 'https://pipelines.example.com': origin }),
    asked: ({ method, url, headers }) => [method, url, headers.authorization],
    wants: ['GET', '/token?v=2&audience=api://orders', 'Bearer REQUEST_TOKEN'],
    answer: { value: 'issued' },
  },
  {
    title: 'Google Cloud: federation',
    moved: (origin, path) => ({ 'https://sts.googleapis.com': origin, '/var/run/secrets/tokens/gcp': path }),
    asked: ({ method, url }, body) => [method, url, form(body)],
    wants: [
      'POST',
      '/v1/token',
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        subject_token: file,
        audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/POOL/providers/PROVIDER',
        scope: 'https://www.googleapis.com/auth/cloud-platform',
        client_id: 'pool',
      },
    ],
    answer: { access_token: 'issued', token_type: 'Bearer', expires_in: 3_599 },
  },
  {
    title: 'Google Cloud: the metadata server',
    moved: (origin) => ({ 'http://metadata.google.internal': origin }),
    asked: ({ method, url, headers }) => [method, url, headers['metadata-flavor']],
    wants: ['GET', '/computeMetadata/v1/instance/service-accounts/default/token', 'Google'],
    answer: { access_token: 'issued', token_type: 'Bearer', expires_in: 3_599 },
  },
  {
    title: 'Azure: the metadata service',
    moved: (origin) => ({ 'http://169.254.169.254': origin }),
    asked: ({ method, url, headers }) => [method, url, headers.metadata],
    wants: ['GET', '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=api:%2F%2Forders', 'true'],
    answer: { access_token: 'issued', token_type: 'Bearer', expires_in: '3599' },
  },
]

const rotated = () => {
  const path = join(mkdtempSync(join(tmpdir(), 'identity-')), 'token')
  writeFileSync(path, `${file}\n`)
  return path
}

describe('given the page on workload identity', () => {
  it('when its sections are counted, then each is tested here', () => {
    const titles = ['Kubernetes', ...CASES.map(({ title }) => title)]
    expect(sections.map((section) => titles.find((title) => section.startsWith(title)))).toEqual(titles)
  })

  it('when the projected token of Kubernetes is rotated, then the next renewal reads it again', async () => {
    const path = rotated()
    const source = sourceIn(sections[0]!, { '/var/run/secrets/tokens/api': path })
    const tokens = createTokenManager({ source })
    expect(await tokens.getAccessToken()).toBe(file)
    writeFileSync(path, 'the-next-one')
    await tokens.renew()
    expect(await tokens.getAccessToken()).toBe('the-next-one')
    await tokens.close()
  })

  it.each(CASES)('when the source of $title runs, then the server receives the expected request', async (one) => {
    const server = await serve((_, reply) => {
      reply.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(one.answer))
    })
    const section = sections.find((text) => text.startsWith(one.title))!
    const tokens = createTokenManager({ source: sourceIn(section, one.moved(server.origin, rotated())) })
    expect(await tokens.getAccessToken()).toBe('issued')
    const [seen] = server.seen
    expect(one.asked(seen as never, seen!.body)).toEqual(one.wants)
    await tokens.close()
  })
})
