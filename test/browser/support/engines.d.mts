export interface EngineTab {
  evaluate<Value>(expression: string): Promise<Value>
  reload(): Promise<unknown>
  close(): Promise<unknown>
  /** Ends the process of this tab, or of some tabs: where engines give several tabs one process, nobody knows of which. */
  crash?(): Promise<void>
  /** As the browser does it to a hidden tab. Chromium only. */
  freeze?(): Promise<unknown>
  thaw?(): Promise<unknown>
  /** As the browser does it to a hidden tab if memory is short. @returns The tab in front. With `discards` only. */
  discard?(): Promise<{ close(): Promise<void> }>
  /** As the browser does it when nobody asks them for long. Chromium only. */
  stopServiceWorkers?(): Promise<unknown>
}
/** Engines lack the commands that their protocols lack. */
export interface Engine {
  readonly name: string
  readonly version: string
  open(address: string): Promise<EngineTab>
  offline?(isOffline: boolean): Promise<void>
  /** @param bytes Undefined: what the browser gives. */
  quota?(origin: string, bytes?: number): Promise<unknown>
  clear?(origin: string): Promise<unknown>
  close(): Promise<unknown>
}
export function engines(): Record<
  string,
  (settings?: { readonly profile?: 'denied' | 'private' | 'workers'; readonly discards?: boolean }) => Promise<Engine>
>
