// Lets `node --test` load TypeScript, by removing the types. Node 20 cannot do that itself.
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import ts from 'typescript'

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const text = await readFile(new URL(url), 'utf8')
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }
  return { format: 'module', shortCircuit: true, source: ts.transpileModule(text, { compilerOptions: options }).outputText }
}

// The hooks run in a thread of their own, which loads this module again.
if (isMainThread) register(import.meta.url)
