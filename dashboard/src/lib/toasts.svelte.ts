import type { Tone } from '../ui/tone.ts'

export interface Toast {
  id: number
  tone: Tone
  text: string
  /** What the reader can do about it. */
  action?: ToastAction | undefined
}

export interface ToastAction {
  label: string
  run: () => void
}

const SHOWN_MILLIS = 6000

class ToastList {
  items: Toast[] = $state.raw([])
  #next = 1

  /** Shows a short message in the corner. Failures, and what there is something to do about, stay until they are closed. */
  show(text: string, tone: Tone = 'neutral', action?: ToastAction): void {
    const id = this.#next++
    this.items = [...this.items.slice(-3), { id, tone, text, action }]
    if (tone !== 'bad' && !action) setTimeout(() => this.close(id), SHOWN_MILLIS)
  }

  close(id: number): void {
    this.items = this.items.filter((item) => item.id !== id)
  }
}

export const toasts = new ToastList()
