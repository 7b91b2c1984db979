export type Theme = 'system' | 'light' | 'dark'

const KEY = 'tamis.theme'
const isTheme = (value: unknown): value is Theme => value === 'system' || value === 'light' || value === 'dark'

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return isTheme(value) ? value : 'system'
  } catch {
    return 'system'
  }
}

class ThemeChoice {
  choice: Theme = $state('system')
  #system = matchMedia('(prefers-color-scheme: dark)')
  #systemIsDark = $state(this.#system.matches)
  isDark: boolean = $derived(this.choice === 'dark' || (this.choice === 'system' && this.#systemIsDark))

  start(): void {
    this.set(stored())
    this.#system.addEventListener('change', () => (this.#systemIsDark = this.#system.matches))
  }

  set(choice: Theme): void {
    this.choice = choice
    if (choice === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = choice
    try {
      localStorage.setItem(KEY, choice)
    } catch {
      // Without storage the choice holds until the page is closed.
    }
  }

  /** system, light, dark, system … */
  next(): void {
    this.set(this.choice === 'system' ? 'light' : this.choice === 'light' ? 'dark' : 'system')
  }
}

export const theme = new ThemeChoice()
