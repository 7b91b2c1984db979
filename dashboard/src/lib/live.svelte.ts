// The live connection: one WebSocket for the whole page. Messages are applied once per frame.

import { get } from './api.ts'
import { backoff, MessageQueue, Progress, type LiveMessage } from './messages.ts'
import { toasts } from './toasts.svelte.ts'

export type LiveState = 'live' | 'reconnecting' | 'offline'
type Handler<M> = (batch: M[]) => void

const PATH = '/api/page/live'
/** After this long without a connection the page says that it is offline. */
const OFFLINE_AFTER = 5000

class Live {
  state: LiveState = $state('reconnecting')
  /** False until the first connection: there is nothing to reconnect to yet. */
  hasConnected = $state(false)
  /** The version of the server, from its greeting. */
  server: string | null = $state(null)

  #socket: WebSocket | null = null
  #progress = new Progress()
  #queue = new MessageQueue()
  #handlers = new Map<string, Set<Handler<unknown>>>()
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #lostAt = 0
  #flushing = false
  #running = false

  start(): void {
    if (this.#running) return
    this.#running = true
    this.#lostAt = performance.now()
    addEventListener('online', this.#now)
    document.addEventListener('visibilitychange', this.#now)
    this.#connect()
  }

  stop(): void {
    this.#running = false
    clearTimeout(this.#retry)
    removeEventListener('online', this.#now)
    document.removeEventListener('visibilitychange', this.#now)
    this.#socket?.close()
    this.#socket = null
    this.state = 'offline'
  }

  /** Calls `handler` at most once per frame with the messages of one type. Returns the function that ends it. */
  on<M = LiveMessage>(type: string, handler: Handler<M>): () => void {
    let set = this.#handlers.get(type)
    if (!set) this.#handlers.set(type, (set = new Set()))
    set.add(handler as Handler<unknown>)
    return () => set.delete(handler as Handler<unknown>)
  }

  /** Puts a message in as if it had arrived. For the page of examples and for tests. */
  receive(message: LiveMessage): void {
    if (this.#progress.isReconnected(message)) this.#queue.push({ type: 'gap' })
    if (!this.#progress.accept(message)) return
    this.#queue.push(message)
    this.#schedule()
  }

  #now = (): void => {
    // A frame that was asked for is not drawn any more once the tab is hidden.
    if (document.visibilityState === 'hidden' && this.#flushing) setTimeout(this.#flush, 0)
    if (document.visibilityState !== 'visible' || this.#socket) return
    this.#attempt = 0
    this.#connect()
  }

  #connect(): void {
    clearTimeout(this.#retry)
    if (!this.#running || this.#socket) return
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws'
    const socket = new WebSocket(`${scheme}://${location.host}${PATH}`)
    let opened = false
    this.#socket = socket
    socket.onopen = () => {
      opened = true
      this.#attempt = 0
      this.state = 'live'
      this.hasConnected = true
      socket.send(JSON.stringify(this.#progress.follow()))
    }
    socket.onmessage = (event) => {
      if (typeof event.data !== 'string') return
      let message: LiveMessage
      try {
        message = JSON.parse(event.data) as LiveMessage
      } catch {
        return
      }
      if (message.type === 'hello') this.#greet(message)
      this.receive(message)
    }
    socket.onclose = () => {
      if (this.#socket !== socket) return
      this.#socket = null
      if (opened) this.#lostAt = performance.now()
      this.state = performance.now() - this.#lostAt > OFFLINE_AFTER ? 'offline' : 'reconnecting'
      if (!this.#running) return
      // The browser hides why a WebSocket was refused. A plain request shows whether the cookie is still good.
      if (!opened) void get('/api/page/status').catch(() => {})
      this.#retry = setTimeout(() => this.#connect(), backoff(this.#attempt))
      this.#attempt += 1
    }
  }

  #greet(message: LiveMessage): void {
    const version = typeof message['server'] === 'string' ? message['server'] : null
    // The page of the old server may not understand the new one.
    if (this.server !== null && version !== null && version !== this.server) {
      toasts.show(`tamis ${version} is running now. Reload to get its page.`, 'info', { label: 'Reload', run: () => location.reload() })
    }
    this.server = version
  }

  #schedule(): void {
    if (this.#flushing) return
    this.#flushing = true
    // Hidden tabs get no frames: there, a slow timer keeps the queue short.
    if (document.visibilityState === 'visible') requestAnimationFrame(this.#flush)
    else setTimeout(this.#flush, 1000)
  }

  #flush = (): void => {
    this.#flushing = false
    for (const [type, batch] of this.#queue.take()) {
      for (const handler of this.#handlers.get(type) ?? []) {
        try {
          handler(batch)
        } catch (error) {
          // One page's mistake must not stop the others' messages.
          reportError(error)
        }
      }
    }
  }
}

export const live = new Live()

/** Subscribes for as long as the component lives. Call it while the component is set up. */
export function useLive<M = LiveMessage>(type: string, handler: Handler<M>): void {
  $effect(() => live.on<M>(type, handler))
}
