// Which binding a key completes. Pure, so that sequences can be tested without a browser.

export interface Shortcut {
  /** Keys in order, separated by spaces: `g n`, `?`, `mod+k`. `mod` is Cmd on a Mac and Ctrl elsewhere. */
  keys: string
  label: string
  group?: string
  run: () => void
}

export type Step = { kind: 'run'; shortcut: Shortcut } | { kind: 'wait'; pending: string } | { kind: 'none' }

/** The later binding wins, so that what is on top of the page overrides what is below. */
export function step(shortcuts: readonly Shortcut[], pending: string, key: string): Step {
  const typed = pending === '' ? key : `${pending} ${key}`
  const shortcut = shortcuts.findLast((item) => item.keys === typed)
  if (shortcut) return { kind: 'run', shortcut }
  if (shortcuts.some((item) => item.keys.startsWith(`${typed} `))) return { kind: 'wait', pending: typed }
  return pending === '' ? { kind: 'none' } : step(shortcuts, '', key)
}

/** The name of a key as bindings write it; `null` for a key with other modifiers, which is the browser's or the system's. */
export function nameOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>, isMac: boolean): string | null {
  if (event.altKey) return null
  if (!event.metaKey && !event.ctrlKey) return event.key.length === 1 ? event.key : event.key.toLowerCase()
  const isMod = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey
  return isMod && !event.shiftKey ? `mod+${event.key.toLowerCase()}` : null
}
