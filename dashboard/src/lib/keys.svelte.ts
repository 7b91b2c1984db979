// Keyboard shortcuts of the whole page. Components add theirs while they are mounted; `?` lists what is bound now.

import { untrack } from 'svelte'
import { nameOf, step, type Shortcut } from './shortcuts.ts'

const KEY = 'tamis.single-keys'
const SEQUENCE_MILLIS = 1000
export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !['button', 'checkbox', 'radio', 'range', 'submit'].includes(target.type)
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable
}

class Keys {
  shortcuts: Shortcut[] = $state.raw([])
  /** Readers who dictate, or whose tools use single keys, can turn them off. */
  singleKeys = $state(true)
  #pending = ''
  #timer: ReturnType<typeof setTimeout> | undefined

  start(): void {
    try {
      this.singleKeys = localStorage.getItem(KEY) !== 'off'
    } catch {
      // Without storage the default holds.
    }
    addEventListener('keydown', (event) => this.#press(event))
  }

  setSingleKeys(on: boolean): void {
    this.singleKeys = on
    try {
      localStorage.setItem(KEY, on ? 'on' : 'off')
    } catch {
      // As above.
    }
  }

  add(shortcuts: Shortcut[]): () => void {
    // Untracked: an effect that adds must not run again because of what it added.
    untrack(() => (this.shortcuts = [...this.shortcuts, ...shortcuts]))
    return () => {
      this.shortcuts = untrack(() => this.shortcuts).filter((item) => !shortcuts.includes(item))
    }
  }

  #press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return
    const key = nameOf(event, isMac)
    if (key === null) return
    const isModified = key.startsWith('mod+')
    const active = document.activeElement
    if (isTyping(event.target)) {
      if (key === 'escape' && !active?.closest('dialog')) (active as HTMLElement | null)?.blur()
      if (!isModified) return
    }
    if (!isModified && !this.singleKeys && key.length === 1) return
    if (!isModified && document.querySelector('dialog[open]')) return
    // Enter is the control's own key.
    if (key === 'enter' && event.target instanceof Element && event.target.closest('a, button, summary, input, [role="tab"]')) return
    const next = step(this.shortcuts, this.#pending, key)
    clearTimeout(this.#timer)
    this.#pending = ''
    if (next.kind === 'run') {
      event.preventDefault()
      next.shortcut.run()
    } else if (next.kind === 'wait') {
      this.#pending = next.pending
      this.#timer = setTimeout(() => (this.#pending = ''), SEQUENCE_MILLIS)
    }
  }
}

export const keys = new Keys()

/** Binds shortcuts for as long as the component lives. Call it while the component is set up. */
export function useKeys(shortcuts: Shortcut[]): void {
  $effect(() => keys.add(shortcuts))
}
