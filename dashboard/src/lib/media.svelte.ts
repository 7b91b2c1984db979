import { MediaQuery } from 'svelte/reactivity'

/** Narrower than 640 pixels: the bottom bar instead of the rail, rows of two lines. */
const phone = new MediaQuery('(max-width: 639px)')
/** Narrower than 1024 pixels: a panel covers the list that it belongs to. */
const narrow = new MediaQuery('(max-width: 1023px)')

export const media = {
  get isPhone(): boolean {
    return phone.current
  },
  get isNarrow(): boolean {
    return narrow.current
  },
}
