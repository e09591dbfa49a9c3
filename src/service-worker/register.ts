/**
 * The page's side of opening without a relay: registers the service worker and hears of newer
 * builds.
 */
import type { After } from '../shared/domain/platform/timers.ts';
import { OFFLINE, type BuildNews } from './settings.ts';

export interface RegisterDeps {
  /** Undefined where the browser has none, or the page came over plain HTTP from elsewhere. */
  readonly container: ServiceWorkerContainer | undefined;
  readonly locks: LockManager | undefined;
  /** Path of this page's entry script. */
  readonly entry: string;
  /** Another build is there, and a reload takes it. */
  readonly onNewer: () => void;
  readonly after: After;
  /** Where it cannot be registered, the page works as ever, but only with its relay. */
  readonly onRefused: (why: unknown) => void;
}

export interface Offline {
  register(): void;
  /** Looks whether the relay has another build by now; registers where that has failed so far. */
  look(): void;
}

const isNews = (data: unknown): data is BuildNews => typeof data === 'object' && data !== null && 'roostEntry' in data;

/** Holds what this page may still ask for against being removed, for as long as it is open. */
function keepParts(locks: LockManager | undefined, entry: string): void {
  locks
    ?.request(OFFLINE.lock + entry, { mode: 'shared' }, () => new Promise<never>(() => undefined))
    .catch(() => {
      // The browser ends all locks of a page that it closes.
    });
}

/**
 * Hears of newer builds from now on: what is said before anybody listens is lost once the page has
 * loaded.
 */
export function prepareOffline({ container, locks, entry, after, onNewer, onRefused }: RegisterDeps): Offline {
  if (!container) return { register: () => undefined, look: () => undefined };
  keepParts(locks, entry);
  container.addEventListener('message', ({ data }) => {
    if (isNews(data) && data.roostEntry !== entry) onNewer();
  });
  let registration: Promise<ServiceWorkerRegistration | null> | null = null;
  let isRefusalAnnounced = false;
  const register = () =>
    (registration ??= container.register(OFFLINE.script, { updateViaCache: 'none' }).catch((error: unknown) => {
      // Perhaps only because the relay went meanwhile.
      registration = null;
      if (!isRefusalAnnounced) onRefused(error);
      isRefusalAnnounced = true;
      return null;
    }));

  /** False where the relay could not be asked, or its build could not be had whole. */
  async function lookOnce(): Promise<boolean> {
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
   * A look of the browser's own may be under way that began before the relay was there: ours ends
   * with it.
   */
  async function look(again: number): Promise<void> {
    if ((await lookOnce()) || again === 0) return;
    cancel();
    cancel = after(OFFLINE.lookAgainMs, () => void look(again - 1));
  }
  return {
    register: () => void register(),
    look: () => void look(OFFLINE.looksAgain),
  };
}

/** The state in which its installation ends; undefined where there is none under way. */
function whenInstalled(worker: ServiceWorker | null): Promise<ServiceWorkerState> | undefined {
  if (!worker) return undefined;
  return new Promise((resolve) => {
    const tell = () => worker.state !== 'installing' && resolve(worker.state);
    worker.addEventListener('statechange', tell);
    tell();
  });
}
