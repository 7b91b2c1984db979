import type { IconName } from './icons.ts'

/** What a colour says. Never the only sign: a word or an icon goes with it. */
export type Tone = 'neutral' | 'accent' | 'ok' | 'wait' | 'bad' | 'info'

export const toneIcon: Record<Tone, IconName> = {
  neutral: 'idle',
  accent: 'running',
  ok: 'check',
  wait: 'waiting',
  bad: 'error',
  info: 'info',
}
