interface Server {
  stop(): Promise<void>
}

const running = new Set<Server>()

/** The server stops with its test file at the latest, even if the test that would stop it has failed. */
export function stoppedWithFile<Given extends Server>(server: Given): Given {
  const stop = server.stop.bind(server)
  let stopping: Promise<void> | undefined
  server.stop = () => {
    running.delete(server)
    return (stopping ??= stop())
  }
  running.add(server)
  return server
}

export async function stopAll(): Promise<void> {
  await Promise.all(Array.from(running, (server) => server.stop()))
}
