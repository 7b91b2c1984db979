export interface Crumb {
  label: string
  href: string
}

/** What the header shows about the current page. `Page.svelte` sets it. */
class Shell {
  title = $state('')
  crumbs: Crumb[] = $state.raw([])
  isFill = $state(false)
  isPaletteOpen = $state(false)
  isHelpOpen = $state(false)
}

export const shell = new Shell()
