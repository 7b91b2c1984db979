// Which binding a key completes. Pure, so that sequences can be tested without a browser.

export interface Shortcut {
  /** Keys in order, separated by spaces: `g n`, `?`, `mod+k`. `mod` is Ctrl or Cmd. */
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
