import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig, type ProxyOptions } from 'vite'

// Where `tamis serve` listens while `npm run dev` runs.
const server = process.env['TAMIS_SERVER'] ?? 'http://127.0.0.1:3001'

// The server refuses requests whose Host or Origin is not its own, so the proxy sends the server's.
const proxy: ProxyOptions = {
  target: server,
  changeOrigin: true,
  ws: true,
  configure(proxy) {
    proxy.on('proxyReq', (request) => request.setHeader('origin', server))
    proxy.on('proxyReqWs', (request) => request.setHeader('origin', server))
  },
}

export default defineConfig({
  plugins: [
    svelte(),
    {
      // No paint before the script has set the theme and drawn the first state.
      name: 'render-blocking-script',
      transformIndexHtml: {
        order: 'post',
        handler: (html) => html.replaceAll(' crossorigin', '').replace('<script type="module"', '<script type="module" blocking="render"'),
      },
    },
  ],
  server: { host: '127.0.0.1', port: 5173, proxy: { '/api': proxy } },
  build: {
    outDir: '../crates/dashboard/page',
    emptyOutDir: true,
    // `light-dark()` and nested CSS are used as they are; these are the first versions with both.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: true,
    rolldownOptions: {
      output: {
        entryFileNames: 'page.js',
        assetFileNames: 'page[extname]',
        codeSplitting: false,
      },
    },
  },
})
