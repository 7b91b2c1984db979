/** Text as a hostile log may hold it: colours, a change of direction, markup and an address. */
export const foreignText =
  'Foreign text: \u001b[31mred\u001b[0m, \u202eright to left\u202c, <script>alert(1)</script>, https://example.com'
