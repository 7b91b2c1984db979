// Computes the contrast of every pair of colours that the design uses, in both themes, and fails below WCAG AA.
import { readFileSync } from 'node:fs'

const tokens = new Map()
for (const [, name, light, dark] of readFileSync(new URL('../src/ui/tokens.css', import.meta.url), 'utf8').matchAll(
  /--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g,
)) {
  tokens.set(name, { light, dark })
}

const grounds = ['canvas', 'surface', 'sunken', 'hover', 'selected']
const text = 4.5
const shape = 3
const pairs = [
  ...['text', 'text-2', 'text-3', 'accent', 'ok', 'wait', 'bad', 'info'].flatMap((ink) => grounds.map((ground) => [ink, ground, text])),
  ...['accent', 'ok', 'wait', 'bad', 'info'].flatMap((tone) => [
    [tone, `${tone}-soft`, text],
    ['text', `${tone}-soft`, text],
    ['text-2', `${tone}-soft`, text],
  ]),
  ['on-accent', 'accent', text],
  ['on-accent', 'accent-hover', text],
  ['text', 'cut', text],
  ['text-2', 'cut', text],
  ...['canvas', 'surface', 'sunken'].flatMap((ground) => [
    ['line-control', ground, shape],
    ...[1, 2, 3, 4].map((index) => [`series-${index}`, ground, shape]),
  ]),
]

function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function ratio(a, b) {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

let failed = 0
for (const theme of ['light', 'dark']) {
  for (const [ink, ground, least] of pairs) {
    const [a, b] = [tokens.get(ink)?.[theme], tokens.get(ground)?.[theme]]
    if (!a || !b) throw new Error(`unknown colour in pair ${ink} on ${ground}`)
    const value = ratio(a, b)
    const isEnough = value >= least
    if (!isEnough) failed += 1
    if (!isEnough || process.argv.includes('--all')) {
      console.log(`${isEnough ? 'ok  ' : 'FAIL'} ${theme.padEnd(5)} ${value.toFixed(2).padStart(5)} of ${least}  --${ink} on --${ground}`)
    }
  }
}
console.log(`${pairs.length * 2} pairs, ${failed} below WCAG AA`)
process.exitCode = failed > 0 ? 1 : 0
