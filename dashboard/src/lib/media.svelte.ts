import { MediaQuery } from 'svelte/reactivity'

/** Narrower than 640 pixels: the bottom bar instead of the rail, rows of two lines. */
const phone = new MediaQuery('(max-width: 639px)')

export const media = {
  get isPhone(): boolean {
    return phone.current
  },
}
