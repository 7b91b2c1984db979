// Words about sessions that several pages use.

import type { PageEventKind } from './types.ts'
import type { IconName } from '../ui/icons.ts'
import type { Tone } from '../ui/tone.ts'

/** The last part of a path. */
export const folderOf = (root: string | null | undefined): string => root?.replace(/\/+$/, '').split('/').at(-1) ?? ''

/** The title, or else how the conversation began. */
export const titleOf = (session: { title: string | null; prompt: string | null; id: string }): string =>
  session.title || session.prompt || `Session ${session.id.slice(0, 8)}`

export const kindNames: Record<PageEventKind, string> = {
  user: 'Prompt',
  command: 'Command',
  message: 'Message',
  reasoning: 'Reasoning',
  call: 'Call',
  result: 'Result',
  usage: 'Tokens',
  notification: 'Note',
  compaction: 'Compaction',
  summary: 'Summary',
}

export const kindIcons: Record<PageEventKind, IconName> = {
  user: 'chevron',
  command: 'chevron',
  message: 'sessions',
  reasoning: 'more',
  call: 'tool',
  result: 'right',
  usage: 'idle',
  notification: 'info',
  compaction: 'warning',
  summary: 'file',
}

export const lensNames: Record<string, string> = {
  failures: 'Failures',
  loops: 'Loops',
  token_usage: 'Tokens',
  slow_steps: 'Slow steps',
  repeated_reads: 'Repeated reads',
  context_growth: 'Context growth',
}

export const severityTones: Record<string, Tone> = { critical: 'bad', warning: 'wait', info: 'info' }
export const severityNames: Record<string, string> = { critical: 'Critical', warning: 'Warning', info: 'Note' }
