/** The page's side of offline support: registers the service worker and detects newer builds. */
import type { After } from '../shared/domain/platform/timers.ts';
import { OFFLINE, type BuildNews } from './settings.ts';

export interface RegisterDeps {
  /**
   * Undefined where the browser has none, or where the page was loaded over plain HTTP from another
   * machine.
   */
  readonly container: ServiceWorkerContainer | undefined;
  readonly locks: LockManager | undefined;
  /** Path of this page's entry script. */
  readonly entry: string;
  /** Another build is available; a reload activates it. */
  readonly onNewer: () => void;
  readonly after: After;
  /** If registration fails, the page works as usual, but only with its relay. */
  readonly onRefused: (why: unknown) => void;
}

export interface Offline {
  register(): void;
  /** Checks for another build at the relay. Registers if that has failed so far. */
  checkForBuild(): void;
}

const isNews = (data: unknown): data is BuildNews => typeof data === 'object' && data !== null && 'roostEntry' in data;

/** Keeps the files this page may still request from being removed, for as long as it is open. */
function keepParts(locks: LockManager | undefined, entry: string): void {
  locks
    ?.request(OFFLINE.lock + entry, { mode: 'shared' }, () => new Promise<never>(() => undefined))
    .catch(() => {
      // The browser releases all locks of a page that it closes.
    });
}

/**
 * Listens for newer builds from now on. A message that arrives before the first listener is lost
 * once the page has loaded.
 */
export function prepareOffline({ container, locks, entry, after, onNewer, onRefused }: RegisterDeps): Offline {
  if (!container) return { register: () => undefined, checkForBuild: () => undefined };
  keepParts(locks, entry);
  container.addEventListener('message', ({ data }) => {
    if (isNews(data) && data.roostEntry !== entry) onNewer();
  });
  let registration: Promise<ServiceWorkerRegistration | null> | null = null;
  let isRefusalAnnounced = false;
  const register = () =>
    (registration ??= container.register(OFFLINE.script, { updateViaCache: 'none' }).catch((error: unknown) => {
      // Perhaps only because the relay became unreachable.
      registration = null;
      if (!isRefusalAnnounced) onRefused(error);
      isRefusalAnnounced = true;
      return null;
    }));

  /** False if the relay could not be asked, or its build could not be stored completely. */
  async function checkOnce(): Promise<boolean> {
    try {
      const known = await register();
      await known?.update();
      return known !== null && (await whenInstalled(known.installing)) !== 'redundant';
    } catch {
      return false;
    }
  }
  let cancel: () => void = () => undefined;
  /**
   * The browser's own check may be running, and may have begun before the relay was reachable. Ours
   * then ends with it.
   */
  async function check(again: number): Promise<void> {
    if ((await checkOnce()) || again === 0) return;
    cancel();
    cancel = after(OFFLINE.recheckMs, () => void check(again - 1));
  }
  return {
    register: () => void register(),
    checkForBuild: () => void check(OFFLINE.rechecks),
  };
}

/** The final state of its installation; undefined if none is in progress. */
function whenInstalled(worker: ServiceWorker | null): Promise<ServiceWorkerState> | undefined {
  if (!worker) return undefined;
  return new Promise((resolve) => {
    const tell = () => worker.state !== 'installing' && resolve(worker.state);
    worker.addEventListener('statechange', tell);
    tell();
  });
}
