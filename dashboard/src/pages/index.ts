import type { Component } from 'svelte'
import type { RouteName } from '../lib/routes.ts'
import Agent from './Agent.svelte'
import Agents from './Agents.svelte'
import Compare from './Compare.svelte'
import Components from './Components.svelte'
import Missing from './Missing.svelte'
import Now from './Now.svelte'
import Prune from './Prune.svelte'
import Prunes from './Prunes.svelte'
import Research from './Research.svelte'
import Search from './Search.svelte'
import Session from './Session.svelte'
import Sessions from './Sessions.svelte'
import Settings from './Settings.svelte'
import Try from './Try.svelte'

/** Each page gets the parameters of its path as props: `id`, `event`, `a`, `b`. */
type PageComponent = Component<any>

export const pages: Record<RouteName, PageComponent> = {
  now: Now,
  sessions: Sessions,
  session: Session,
  event: Session,
  compare: Compare,
  search: Search,
  prunes: Prunes,
  prune: Prune,
  try: Try,
  agents: Agents,
  agent: Agent,
  research: Research,
  settings: Settings,
  components: Components,
  missing: Missing,
}
