/** Mounts the page. The only place in the browser's window that wires the parts together. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ErrorBoundary } from 'react-error-boundary';
import { newId } from '../shared/domain/platform/new-id.ts';
import { realTimers } from '../shared/domain/platform/timers.ts';
import { askPersistence, openDataWorker } from '../worker/ledger/index.ts';
import { lacksTexts, spoken, t } from './language/t.ts';
import { prepareOffline } from '../service-worker/register.ts';
import { PAGE_KEY } from '../shared/protocol/page-key.ts';
import { withPageKey } from '../shared/relay-client/page-key.ts';
import { createExportsPort, createTextStorage, hearOtherTabs } from './state/ports.ts';
import { createRoostState } from './state/index.ts';
import { createCallRelay, createRelayPort } from './state/call-relay.ts';
import { App } from './ui/app.tsx';
import { RoostProvider } from './ui/context.tsx';
import { preloadTalk } from './ui/chat/conversation.tsx';
import { Broken } from './ui/shell/broken.tsx';
import { APPEARANCE_KEY, followViewHeight } from './ui/shell/window.ts';

const exports = createExportsPort(async () => {
  const { createExports, spawnExportWorker } = await import('./exports/index.ts');
  return createExports({ spawn: spawnExportWorker });
});
const dataWorker = openDataWorker();
const { after } = realTimers;
const pageKey = () => localStorage.getItem(PAGE_KEY.stored);
function tellPageKey() {
  dataWorker
    .call('takePageKey', { key: pageKey() })
    .catch((error: unknown) => console.warn('The background worker took no page key:', error));
}
addEventListener('storage', ({ key }) => {
  // Another tab has opened a link, or storage was cleared.
  if (key === PAGE_KEY.stored || key === null) tellPageKey();
});
const browser = createTextStorage(localStorage);
const shelf = () => import('./state/file-shelf.ts');
const line = { fetch: withPageKey((...args) => fetch(...args), pageKey), baseUrl: '' };
const state = createRoostState({
  dataWorker,
  relay: createRelayPort(async () => (await import('../shared/relay-client/page-client.ts')).createPageClient(line)),
  callRelay: createCallRelay(async () => {
    const { createDeferredClient } = await import('../shared/relay-client/deferred-client.ts');
    return createDeferredClient(line);
  }),
  exports,
  device: {
    now: () => Date.now(),
    newId,
    persist: askPersistence,
    browser,
    hear: hearOtherTabs,
    shelf: {
      put: async (...file) => (await shelf()).putFile(...file, browser),
      read: async (id) => (await shelf()).readFile(id),
      remove: async (ids) => (await shelf()).removeFiles(ids),
    },
    after,
  },
  node: `page_${newId().slice(-12)}`,
});
state.start();
dataWorker.subscribe((news) => {
  if (news.news === 'welcome') tellPageKey();
  if (news.news === 'restarting' && news.reload) location.reload();
});
void preloadTalk();

const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root to be mounted in');
document.documentElement.lang = spoken.language;
document.documentElement.dir = spoken.direction;
followViewHeight();
const mount = () =>
  createRoot(root).render(
    <StrictMode>
      <RoostProvider state={state}>
        <ErrorBoundary FallbackComponent={Broken}>
          <App />
        </ErrorBoundary>
      </RoostProvider>
    </StrictMode>,
  );
/** A new language is fetched first. If that fails, the page is shown in the language it has. */
async function mountInLanguage(): Promise<void> {
  try {
    const { fetchTexts } = await import('./language/fetch-texts.ts');
    if (await fetchTexts()) return location.reload();
  } catch (error) {
    console.warn('The page stays in the language that it has:', error);
  }
  mount();
}
if (lacksTexts()) void mountInLanguage();
else if (localStorage.getItem(APPEARANCE_KEY) === null) mount();
else
  void import('./ui/shell/appearance.ts')
    .then(({ followAppearance }) => followAppearance())
    .catch((error: unknown) => console.warn('The page stays as the system is:', error))
    .finally(mount);

const offline = prepareOffline({
  container: import.meta.env.PROD && isSecureContext ? navigator.serviceWorker : undefined,
  locks: navigator.locks,
  entry: new URL(import.meta.url).pathname,
  after,
  onNewer: () => state.notices.offer(t`A newer Roost is here.`, { label: t`Reload`, run: () => location.reload() }),
  onRefused: (why) => console.warn('Roost will not open here without its relay:', why),
});
/** Runs last: everything the page has loaded by then comes from the browser's own cache. */
async function openOffline(): Promise<void> {
  await Promise.allSettled([import('./ui/later.ts').then((later) => later.fetchLaterParts()), exports.warm()]);
  const { carryWhenShared } = await import('../worker/sync/carrier/index.ts');
  carryWhenShared(dataWorker, { after });
  offline.register();
  if (state.live.store.getState().link.kind === 'live') offline.checkForBuild();
  state.live.store.subscribe(({ link }, before) => {
    if (link.kind === 'live' && before.link.kind !== 'live') offline.checkForBuild();
  });
}
addEventListener('load', () => void openOffline(), { once: true });
