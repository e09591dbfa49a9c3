/**
 * The web app manifest, but for the addresses of its icons, which the build puts in by name. It knows one colour
 * only; the document's own `theme-color` follows the system's choice of dark and light.
 */
const NIGHT = '#0a0c14';

export const MANIFEST = {
  id: '/',
  name: 'Roost',
  short_name: 'Roost',
  description: 'A home for a team of agents that remember who they are.',
  lang: 'en',
  dir: 'ltr',
  start_url: '/',
  scope: '/',
  display: 'standalone',
  background_color: NIGHT,
  theme_color: NIGHT,
  categories: ['productivity', 'social'],
  shortcuts: [
    { name: 'The lead', url: '/lead' },
    { name: 'Threads', url: '/threads' },
  ],
  icons: [
    { name: 'icon-192', sizes: '192x192', purpose: 'any' },
    { name: 'icon-512', sizes: '512x512', purpose: 'any' },
    { name: 'icon-maskable-192', sizes: '192x192', purpose: 'maskable' },
    { name: 'icon-maskable-512', sizes: '512x512', purpose: 'maskable' },
  ],
} as const;
