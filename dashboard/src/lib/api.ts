// Requests to the server that served this page. All answers are JSON; failures become `ApiFailure`.

import { href, type QueryValue } from './routes.ts'

export class ApiFailure extends Error {
  override name = 'ApiFailure'
  constructor(
    /** The HTTP status, 0 when the server was not reached. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
  ) {
    super(message)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Reads both wire forms of an error: `{"error": {code, message, hint}}`, and the agents' `{"error": CODE, code, message, suggestions}`. */
export function parseFailure(status: number, body: unknown): ApiFailure {
  if (isObject(body)) {
    if (isObject(body['error'])) {
      const { code, message, hint } = body['error']
      return new ApiFailure(status, text(code) ?? 'unknown', text(message) ?? `the server answered ${status}`, text(hint))
    }
    const code = text(body['code']) ?? text(body['error'])
    if (code !== null) {
      const suggestions = Array.isArray(body['suggestions']) ? body['suggestions'].filter((item) => typeof item === 'string') : []
      return new ApiFailure(status, code, text(body['message']) ?? code, suggestions.length > 0 ? suggestions.join('\n') : null)
    }
  }
  return new ApiFailure(status, 'unknown', `the server answered ${status}`)
}

/** Any thrown value as a failure that a page can show. */
export function toFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error
  return new ApiFailure(0, 'page', error instanceof Error ? error.message : String(error))
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

let onUnauthorized: () => void = () => {}

/** Called at each 401 except that of a used link, so that the shell can show how to connect. */
export function whenUnauthorized(handler: () => void): void {
  onUnauthorized = handler
}

async function send(method: string, path: string, body: unknown, signal: AbortSignal | undefined): Promise<Response> {
  const init: RequestInit = { method, credentials: 'same-origin', redirect: 'error', cache: 'no-store', headers: { accept: 'application/json' } }
  if (signal) init.signal = signal
  if (body !== undefined) {
    init.headers = { ...init.headers, 'content-type': 'application/json' }
    init.body = JSON.stringify(body)
  }
  let response: Response
  try {
    response = await fetch(path, init)
  } catch (error) {
    if (isAbort(error)) throw error
    throw new ApiFailure(0, 'unreachable', 'cannot reach the server', 'is `tamis serve` running?')
  }
  if (response.ok) return response
  const failure = parseFailure(response.status, await response.json().catch(() => null))
  if (response.status === 401 && path !== '/api/page/enter') onUnauthorized()
  throw failure
}

async function json<T>(response: Response): Promise<T> {
  if (response.status === 204) return undefined as T
  return (await response.json()) as T
}

export async function get<T>(path: string, params: Record<string, QueryValue> = {}, signal?: AbortSignal): Promise<T> {
  return json<T>(await send('GET', href(path, params), undefined, signal))
}

export async function post<T>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<T> {
  return json<T>(await send('POST', path, body, signal))
}

export async function put<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return json<T>(await send('PUT', path, body, signal))
}

export async function del<T>(path: string, signal?: AbortSignal): Promise<T> {
  return json<T>(await send('DELETE', path, undefined, signal))
}

/** Posts, then calls `onItem` for each line of an NDJSON answer as it arrives. Resolves at the end of the answer. */
export async function stream<T>(path: string, body: unknown, onItem: (item: T) => void, signal?: AbortSignal): Promise<void> {
  const response = await send('POST', path, body, signal)
  if (!response.body) return
  const lines = new LineReader()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const read = (): Promise<ReadableStreamReadResult<string>> =>
    reader.read().catch((error: unknown) => {
      if (isAbort(error)) throw error
      throw new ApiFailure(0, 'interrupted', 'the answer ended early', 'check that `tamis serve` is still running, then try again')
    })
  for (;;) {
    const { done, value } = await read()
    const ready = done ? lines.end() : lines.push(value)
    for (const line of ready) onItem(JSON.parse(line) as T)
    if (done) return
  }
}

/** Cuts chunks into lines that are not empty. */
export class LineReader {
  #rest = ''

  push(chunk: string): string[] {
    const parts = (this.#rest + chunk).split('\n')
    this.#rest = parts.pop() ?? ''
    return parts.filter((line) => line.trim() !== '')
  }

  end(): string[] {
    const rest = this.#rest
    this.#rest = ''
    return rest.trim() === '' ? [] : [rest]
  }
}
