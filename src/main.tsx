/** Mounts the page. The only place in the browser's window where parts are wired together. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ErrorBoundary } from 'react-error-boundary';
import { ulid } from 'ulid';
import { askPersistence, openOwner } from './ledger/index.ts';
import { createArchivePort } from './state/archive-port.ts';
import { createRoostState } from './state/index.ts';
import { createReachPort, createRelayPort } from './state/reach.ts';
import { createTabMemory } from './state/tab-memory.ts';
import { App } from './ui/app.tsx';
import { RoostProvider } from './ui/context.tsx';
import { fetchLaterParts } from './ui/later.ts';
import { Broken } from './ui/shell/broken.tsx';

const archive = createArchivePort(async () => {
  const { createArchive, spawnArchiveWorker } = await import('./archive/index.ts');
  return createArchive({ spawn: spawnArchiveWorker });
});
const line = { fetch: (...args: Parameters<typeof fetch>) => fetch(...args), baseUrl: '' };
const owner = openOwner();
const state = createRoostState({
  owner,
  relay: createRelayPort(async () => {
    const { createRelayClient } = await import('./relay/client.ts');
    return createRelayClient(line);
  }),
  reach: createReachPort(async () => {
    const { createReachClient } = await import('./relay/reach-client.ts');
    return createReachClient(line);
  }),
  archive,
  device: {
    now: () => Date.now(),
    newId: () => ulid(),
    persist: askPersistence,
    tab: createTabMemory(sessionStorage),
    browser: createTabMemory(localStorage),
    after(ms, task) {
      const handle = setTimeout(task, ms);
      return () => clearTimeout(handle);
    },
  },
  node: `page_${ulid().slice(-10)}`,
});
state.start();

/** Lines to other devices without the relay: nothing of them is fetched before there is another device. */
const stopWaiting = state.devices.store.subscribe(({ status }) => {
  if (status?.kind !== 'shared' || typeof RTCPeerConnection === 'undefined') return;
  stopWaiting();
  void carry();
});
async function carry() {
  const { createCarrier } = await import('./sync/carrier/index.ts');
  // Absent in old browsers, whatever the types say.
  const locks: LockManager | undefined = navigator.locks;
  createCarrier({ owner, locks, newConnection: () => new RTCPeerConnection(), timers: state.device });
}

const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root to be mounted in');
createRoot(root).render(
  <StrictMode>
    <RoostProvider state={state}>
      <ErrorBoundary FallbackComponent={Broken}>
        <App />
      </ErrorBoundary>
    </RoostProvider>
  </StrictMode>,
);
addEventListener(
  'load',
  () => {
    void fetchLaterParts();
    void archive.warm();
  },
  { once: true },
);
