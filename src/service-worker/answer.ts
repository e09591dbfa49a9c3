/** What the service worker answers, and what it leaves alone. */
import type { After } from '../shared/domain/platform/timers.ts';
import type { Precache } from './precache.ts';
import { OFFLINE } from './settings.ts';

export type Asked = Pick<Request, 'method' | 'mode' | 'url'>;

export interface AnswerDeps<Ask extends Asked> {
  readonly precache: Pick<Precache, 'shell' | 'file' | 'has'>;
  /** Of the page. */
  readonly origin: string;
  readonly fetch: (request: Ask) => Promise<Response>;
  readonly after: After;
}

const isRelayOnly = (path: string) =>
  OFFLINE.relayOnly.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));

/** Null: this is the network's alone, as if there were no service worker. */
export function createAnswer<Ask extends Asked>({
  precache,
  origin,
  fetch,
  after,
}: AnswerDeps<Ask>): (request: Ask) => Promise<Response> | null {
  /**
   * The relay's own answer, if it comes in time and is one: a proxy that finds no relay answers
   * with 502.
   */
  function fromRelay(request: Ask): Promise<Response | null> {
    return new Promise((resolve) => {
      const cancel = after(OFFLINE.navigationMs, () => resolve(null));
      fetch(request).then(
        (response) => {
          cancel();
          resolve(response.status >= 500 ? null : response);
        },
        // Out of reach: what is kept is the answer.
        () => {
          cancel();
          resolve(null);
        },
      );
    });
  }

  async function document(request: Ask): Promise<Response> {
    const shell = await precache.shell();
    return shell === undefined ? fetch(request) : ((await fromRelay(request)) ?? shell);
  }
  const file = async (request: Ask, path: string) => (await precache.file(path)) ?? fetch(request);

  return (request) => {
    const { origin: asked, pathname } = new URL(request.url);
    if (request.method !== 'GET' || asked !== origin || isRelayOnly(pathname)) return null;
    if (request.mode === 'navigate') return document(request);
    return precache.has(pathname) ? file(request, pathname) : null;
  };
}
