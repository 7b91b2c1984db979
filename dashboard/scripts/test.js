// Runs every `src/**/*.test.ts` in one process: the compiler is loaded once.
import { readdirSync } from 'node:fs'
import { register } from 'node:module'

register('./typescript.js', import.meta.url)
const source = new URL('../src/', import.meta.url)
for (const file of readdirSync(source, { recursive: true }).sort()) {
  if (file.endsWith('.test.ts')) await import(new URL(file, source))
}
