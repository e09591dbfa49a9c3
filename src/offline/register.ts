/** The page's side of opening without a relay: registers the service worker and hears of newer builds. */
import { OFFLINE, type BuildNews } from './settings.ts';

export interface RegisterDeps {
  /** Undefined where the browser has none, or the page came over plain HTTP from elsewhere. */
  readonly container: ServiceWorkerContainer | undefined;
  readonly locks: LockManager | undefined;
  /** Path of this page's entry script. */
  readonly entry: string;
  /** Another build is there, and a reload takes it. */
  readonly onNewer: () => void;
  /** Where it cannot be registered, the page works as ever, but only with its relay. */
  readonly onRefused: (why: unknown) => void;
}

export interface Offline {
  /** Looks whether the relay has another build by now. */
  look(): void;
}

const isNews = (data: unknown): data is BuildNews => typeof data === 'object' && data !== null && 'roostEntry' in data;

/** Holds what this page may still ask for against being removed, for as long as it is open. */
function keepParts(locks: LockManager | undefined, entry: string): void {
  locks?.request(OFFLINE.lock + entry, { mode: 'shared' }, () => new Promise<never>(() => undefined)).catch(() => {
    // The browser ends all locks of a page that it closes.
  });
}

export function registerOffline({ container, locks, entry, onNewer, onRefused }: RegisterDeps): Offline {
  if (!container) return { look: () => undefined };
  keepParts(locks, entry);
  container.addEventListener('message', ({ data }) => {
    if (isNews(data) && data.roostEntry !== entry) onNewer();
  });
  const registration = container.register(OFFLINE.script, { updateViaCache: 'none' }).catch((error: unknown) => {
    onRefused(error);
    return null;
  });
  return {
    look() {
      // The relay may be gone again; it is looked for anew with the next line to it.
      void registration.then((known) => known?.update()).catch(() => undefined);
    },
  };
}
