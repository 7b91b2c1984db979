// Builds the page anew and compares it with the one that is committed and embedded in the program. Also its size.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'

const LARGEST = 150_000

const committed = fileURLToPath(new URL('../../crates/dashboard/page/', import.meta.url))
const built = mkdtempSync(join(tmpdir(), 'tamis-build-'))
try {
  await build({ root: fileURLToPath(new URL('..', import.meta.url)), logLevel: 'warn', build: { outDir: built, emptyOutDir: true } })
  const names = [...new Set([...readdirSync(built), ...readdirSync(committed)])].sort()
  const read = (folder, name) => (readdirSync(folder).includes(name) ? readFileSync(join(folder, name)) : null)
  const different = names.filter((name) => {
    const [one, other] = [read(built, name), read(committed, name)]
    return one === null || other === null || !one.equals(other)
  })
  if (different.length > 0) {
    console.error(`not the build of this source: ${different.join(', ')} in crates/dashboard/page; run \`npm run build\` and commit it`)
    process.exitCode = 1
  }
  const size = names.reduce((sum, name) => sum + gzipSync(read(built, name) ?? '', { level: 9 }).length, 0)
  console.log(`the page has ${size} bytes, compressed`)
  if (size > LARGEST) {
    console.error(`that is more than ${LARGEST}`)
    process.exitCode = 1
  }
} finally {
  rmSync(built, { recursive: true })
}
