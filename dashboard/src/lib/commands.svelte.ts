// What the command palette offers. Pages add their actions and recent things while they are mounted, or for good.

import { untrack } from 'svelte'
import { plain } from './text.ts'
import type { IconName } from '../ui/icons.ts'

export interface Command {
  id: string
  title: string
  group: string
  /** Shown at the end of the line: a project, a client, a key. */
  note?: string
  icon?: IconName
  /** Either an address to go to, or something to do. */
  href?: string
  run?: () => void
}

class Commands {
  #sources: (() => Command[])[] = $state.raw([])
  /** Titles and notes are often text from logs. */
  all: Command[] = $derived(
    this.#sources
      .flatMap((source) => source())
      .map((command) => ({ ...command, title: plain(command.title), ...(command.note === undefined ? {} : { note: plain(command.note) }) })),
  )

  /** Adds a source of commands; it is read anew each time the palette opens. */
  add(source: () => Command[]): () => void {
    // Untracked: an effect that adds must not run again because of what it added.
    untrack(() => (this.#sources = [...this.#sources, source]))
    return () => {
      this.#sources = untrack(() => this.#sources).filter((item) => item !== source)
    }
  }
}

export const commands = new Commands()

/** Offers commands for as long as the component lives. Call it while the component is set up. */
export function useCommands(source: () => Command[]): void {
  $effect(() => commands.add(source))
}
