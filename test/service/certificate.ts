import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A self-signed certificate. It is generated here, because a key in the repository would alarm every scanner. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** @param name The host of the certificate. @param days Its validity, in days from today: [first, last]. */
export function selfSigned(name = 'localhost', [first, last] = [-1, 1]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from(name)))))
  const algorithm = der(0x30, oid('2a8648ce3d040302')) // ECDSA with SHA-256
  const alternative = der(0x30, der(0x82, Buffer.from(name)))
  const extensions = der(0xa3, der(0x30, der(0x30, oid('551d11'), der(0x04, alternative))))
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.from([1]), randomBytes(8)),
    algorithm,
    subject, // the issuer
    der(0x30, time(first), time(last)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const text = der(0x30, body, algorithm, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))

/** UTCTime, midnight. */
function time(days: number): Buffer {
  const digits = new Date(Date.now() + days * 86_400_000).toISOString().replace(/\D/g, '')
  return der(0x17, Buffer.from(`${digits.slice(2, 8)}000000Z`))
}
