export interface EngineTab {
  evaluate<Value>(expression: string): Promise<Value>
  reload(): Promise<unknown>
  close(): Promise<unknown>
}
export interface Engine {
  readonly name: string
  readonly version: string
  open(address: string): Promise<EngineTab>
  close(): Promise<unknown>
}
export function engines(): Record<string, (preferences?: Record<string, unknown>) => Promise<Engine>>
