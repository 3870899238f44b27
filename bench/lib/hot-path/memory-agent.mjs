import { Agent } from 'node:http'
import { Duplex } from 'node:stream'

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
const END_OF_REQUEST = '\r\n\r\n'

/** An agent of Node whose connections respond to each request on this thread, without a body: neither kernel nor server is measured. */
export class MemoryAgent extends Agent {
  constructor() {
    super({ keepAlive: true })
  }

  createConnection() {
    return new MemorySocket()
  }
}

class MemorySocket extends Duplex {
  _read() {
    // The response has been pushed already.
  }

  _write(chunk, encoding, done) {
    // The response comes in a later turn of the event loop, as from a network.
    if (chunk.includes(END_OF_REQUEST)) setImmediate(() => this.push(ANSWER))
    done()
  }

  // Methods that Node and axios call on a socket.
  setKeepAlive() {
    return this
  }

  setNoDelay() {
    return this
  }

  setTimeout() {
    return this
  }

  ref() {
    return this
  }

  unref() {
    return this
  }
}
