// What the doctor finds and where settings come from, in words.

import type { PageCheckFinding, PageSetting } from './types.ts'

const order = { problem: 0, note: 1, fine: 2 }

/** Problems first; otherwise as they were found. */
export const sortFindings = (findings: readonly PageCheckFinding[]): PageCheckFinding[] => [...findings].sort((one, other) => order[one.verdict] - order[other.verdict])

/** Whether a fix can be run as it is, and not only be read. */
export const isCommand = (fix: string): boolean => /^(tamis|ln|git|npm|brew|cargo) [^,;]*$/.test(fix)

export const sourceWord: Record<PageSetting['source'], string> = {
  flag: 'Flag',
  variable: 'Environment',
  project: 'Project',
  user: 'Your file',
  default: 'Default',
  unset: 'Unset',
}
