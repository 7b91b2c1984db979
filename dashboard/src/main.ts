import { mount } from 'svelte'
import './ui/tokens.css'
import './ui/base.css'
import App from './App.svelte'
import { entry } from './lib/entry.svelte.ts'
import { keys } from './lib/keys.svelte.ts'
import { router } from './lib/router.svelte.ts'
import { theme } from './lib/theme.svelte.ts'

theme.start()
// Before the router notes the address: the code must not be in any history entry.
void entry.start()
router.start()
keys.start()

const target = document.getElementById('app')
if (target) mount(App, { target })
