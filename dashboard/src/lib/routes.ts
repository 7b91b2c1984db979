// The table of paths. Pure, so that it can be tested without a browser.

export type RouteName =
  | 'now'
  | 'sessions'
  | 'session'
  | 'event'
  | 'compare'
  | 'search'
  | 'prunes'
  | 'prune'
  | 'try'
  | 'agents'
  | 'agent'
  | 'research'
  | 'settings'
  | 'components'
  | 'missing'

export type Area = 'now' | 'sessions' | 'prunes' | 'agents' | 'research' | 'settings'

export interface Match {
  name: RouteName
  area: Area | null
  params: Record<string, string>
}

const table: [pattern: string, name: RouteName, area: Area | null][] = [
  ['/', 'now', 'now'],
  ['/sessions', 'sessions', 'sessions'],
  ['/sessions/:id', 'session', 'sessions'],
  ['/sessions/:id/events/:event', 'event', 'sessions'],
  ['/compare/:a/:b', 'compare', 'sessions'],
  ['/search', 'search', 'sessions'],
  ['/prunes', 'prunes', 'prunes'],
  ['/prunes/:id', 'prune', 'prunes'],
  ['/try', 'try', 'prunes'],
  ['/agents', 'agents', 'agents'],
  ['/agents/:id', 'agent', 'agents'],
  ['/research', 'research', 'research'],
  ['/settings', 'settings', 'settings'],
  ['/components', 'components', null],
]

const split = (path: string): string[] => path.split('/').filter((part) => part !== '')

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/** The route of a path. A path that no pattern matches, or that is not valid percent-encoding, is `missing`. */
export function matchPath(path: string): Match {
  const parts = split(path)
  for (const [pattern, name, area] of table) {
    const wanted = split(pattern)
    if (wanted.length !== parts.length) continue
    const params: Record<string, string> = {}
    const matches = wanted.every((want, index) => {
      const part = parts[index] ?? ''
      if (!want.startsWith(':')) return want === part
      const value = decode(part)
      if (value === null) return false
      params[want.slice(1)] = value
      return true
    })
    if (matches) return { name, area, params }
  }
  return { name: 'missing', area: null, params: {} }
}

/** What a path shows, without the part of it that is selected: the events of a session are one page. */
export function pageOf({ name, params }: Match): string {
  const { event: _selected, ...rest } = params
  return JSON.stringify([name === 'event' ? 'session' : name, rest])
}

export type QueryValue = string | number | boolean | null | undefined

/** A path with the query appended. Empty, false and missing values leave no parameter. */
export function href(path: string, query: Record<string, QueryValue> = {}): string {
  const pairs = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '' || value === false) continue
    pairs.set(key, value === true ? '1' : String(value))
  }
  const text = pairs.toString()
  return text === '' ? path : `${path}?${text}`
}

const segment = (value: string | number): string => encodeURIComponent(String(value))

/** Addresses of the pages, so that no page builds a path by hand. */
export const to = {
  now: (): string => '/',
  sessions: (query?: Record<string, QueryValue>): string => href('/sessions', query),
  session: (id: string, query?: Record<string, QueryValue>): string => href(`/sessions/${segment(id)}`, query),
  event: (id: string, event: number | string, query?: Record<string, QueryValue>): string =>
    href(`/sessions/${segment(id)}/events/${segment(event)}`, query),
  compare: (a: string, b: string): string => `/compare/${segment(a)}/${segment(b)}`,
  search: (query?: Record<string, QueryValue>): string => href('/search', query),
  prunes: (query?: Record<string, QueryValue>): string => href('/prunes', query),
  prune: (id: string, query?: Record<string, QueryValue>): string => href(`/prunes/${segment(id)}`, query),
  try: (query?: Record<string, QueryValue>): string => href('/try', query),
  agents: (query?: Record<string, QueryValue>): string => href('/agents', query),
  agent: (id: string, query?: Record<string, QueryValue>): string => href(`/agents/${segment(id)}`, query),
  research: (query?: Record<string, QueryValue>): string => href('/research', query),
  settings: (query?: Record<string, QueryValue>): string => href('/settings', query),
  components: (): string => '/components',
}
