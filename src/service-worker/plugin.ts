/**
 * The build plugin that makes the page installable and available offline. It adds the manifest, its
 * icons and the service worker. The service worker is built last, because it lists every other file
 * by name and content.
 */
import { base64 } from '@scure/base';
import { build, type HtmlTagDescriptor, type Plugin, type Rolldown } from 'vite';
import { OFFLINE, type Build, type BuiltFile } from './settings.ts';

/**
 * The web app manifest. The build adds the URLs of the icons. A manifest has one colour only; the
 * document's own `theme-color` follows the system's dark or light scheme.
 */
const NIGHT = '#0a0c14';

const MANIFEST = {
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

export interface OfflineFiles {
  /** Path of the service worker's source. */
  readonly serviceWorker: string;
  /** PNG by its name in the manifest. */
  readonly icon: (name: string) => Uint8Array;
  /** The browsers it is built for. */
  readonly target: string[];
}

const MANIFEST_FILE = 'manifest.webmanifest';
const APPLE_ICON = 'apple-touch-icon';
/**
 * Every browser with service workers knows WOFF2. The drawing worker is large, and loaded only on
 * demand.
 */
const isNeeded = (fileName: string) => !/\.(woff|map)$|\/drawing-worker-/.test(fileName);

async function sha256(content: string | Uint8Array): Promise<string> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
  return base64.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

async function listFiles(bundle: Rolldown.OutputBundle): Promise<Build> {
  const outputs = Object.values(bundle).filter(({ fileName }) => isNeeded(fileName));
  const files: BuiltFile[] = await Promise.all(
    outputs.map(async (output) => ({
      path: `/${output.fileName}`,
      integrity: `sha256-${await sha256(output.type === 'chunk' ? output.code : output.source)}`,
    })),
  );
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const entry = outputs.find((output) => output.type === 'chunk' && output.isEntry);
  if (!entry) throw new Error('The page has no entry script.');
  const version = (await sha256(JSON.stringify(files))).replace(/[^A-Za-z0-9]/g, '').slice(0, 16);
  return { version, entry: `/${entry.fileName}`, files };
}

/**
 * The icon for the iOS home screen is inlined in the document: iOS fetches icons without the cookie
 * that lets the page in.
 */
function tags(appleIcon: Uint8Array): HtmlTagDescriptor[] {
  return [
    {
      tag: 'link',
      attrs: { rel: 'manifest', href: `/${MANIFEST_FILE}`, crossorigin: 'use-credentials' },
      injectTo: 'head',
    },
    {
      tag: 'link',
      attrs: { rel: APPLE_ICON, href: `data:image/png;base64,${base64.encode(appleIcon)}` },
      injectTo: 'head',
    },
  ];
}

export function offlinePage({ serviceWorker, icon, target }: OfflineFiles): Plugin {
  const icons = new Map<string, string>();
  return {
    name: 'roost-offline',
    apply: 'build',
    buildStart() {
      for (const { name } of MANIFEST.icons)
        icons.set(name, this.emitFile({ type: 'asset', name: `${name}.png`, source: icon(name) }));
    },
    transformIndexHtml: { order: 'post', handler: () => tags(icon(APPLE_ICON)) },
    generateBundle() {
      const withFiles = MANIFEST.icons.map(({ name, ...more }) => ({
        src: `/${this.getFileName(icons.get(name) ?? '')}`,
        type: 'image/png',
        ...more,
      }));
      this.emitFile({
        type: 'asset',
        fileName: MANIFEST_FILE,
        source: JSON.stringify({ ...MANIFEST, icons: withFiles }),
      });
    },
    writeBundle: {
      order: 'post',
      sequential: true,
      async handler({ dir = '' }, bundle) {
        await build({
          configFile: false,
          publicDir: false,
          logLevel: 'warn',
          define: { ROOST_BUILD: JSON.stringify(await listFiles(bundle)) },
          build: {
            outDir: dir,
            emptyOutDir: false,
            target,
            rolldownOptions: {
              input: serviceWorker,
              output: { format: 'iife', entryFileNames: OFFLINE.script.slice(1) },
            },
          },
        });
      },
    },
  };
}
