// The text of the page Try. It is too large for an address, so it stays for as long as the tab does.

class Draft {
  text = $state('')
  /** The file or prune that the text is from. */
  source = $state('')
  /** What the text lacks of its source. */
  missing = $state('')

  set(text: string, source = '', missing = ''): void {
    this.text = text
    this.source = source
    this.missing = missing
  }

  /** The reader changed the text: it is not that of its source any more. */
  edited(): void {
    this.source = ''
    this.missing = ''
  }
}

export const draft = new Draft()

const at = (second: number): string => `10:${String(20 + Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}`
const requests = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${at(from + index)} INFO  http: GET /api/items/${(from * 7 + index * 13) % 97} 200 in ${2 + ((from + index * 5) % 9)} ms`)

/** Shows what the engine does, without a text at hand. */
export const example = {
  goal: 'why did the connection to the database drop?',
  text: [
    `${at(0)} INFO  server: version 3.2.0 listens on port 8080`,
    `${at(0)} INFO  cache: 512 MB in 16 shards`,
    `${at(1)} INFO  mail: queue opened, 0 messages wait`,
    `${at(1)} INFO  db: pool of 20 connections to db-1:5432`,
    ...requests(2, 38),
    `${at(40)} WARN  db: 18 of 20 connections in use`,
    ...requests(41, 12),
    `${at(53)} WARN  db: 20 of 20 connections in use, 7 requests wait`,
    `${at(54)} ERROR db: connection to db-1:5432 dropped: too many clients already`,
    `${at(54)} WARN  db: retry 1 of 3 in 200 ms`,
    `${at(55)} WARN  db: retry 2 of 3 in 400 ms`,
    `${at(56)} INFO  db: connected to db-1:5432`,
    ...requests(57, 30),
    `${at(88)} INFO  mail: sent 3 messages`,
    `${at(89)} INFO  cache: 84 % of lookups hit`,
    ...requests(90, 40),
    '',
  ].join('\n'),
}
