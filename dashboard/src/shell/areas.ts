import { to, type Area } from '../lib/routes.ts'
import type { IconName } from '../ui/icons.ts'

/** The six areas, in the order of the rail. `key` follows `g`. */
export const areas: { area: Area; title: string; href: string; icon: IconName; key: string }[] = [
  { area: 'now', title: 'Now', href: to.now(), icon: 'now', key: 'n' },
  { area: 'sessions', title: 'Sessions', href: to.sessions(), icon: 'sessions', key: 's' },
  { area: 'prunes', title: 'Prunes', href: to.prunes(), icon: 'prunes', key: 'p' },
  { area: 'agents', title: 'Agents', href: to.agents(), icon: 'agents', key: 'a' },
  { area: 'research', title: 'Research', href: to.research(), icon: 'research', key: 'r' },
  { area: 'settings', title: 'Settings', href: to.settings(), icon: 'settings', key: ',' },
]
