/** Threads on a real store, with everything that they tell written down. */
import { randomUUID } from 'node:crypto';
import { createDirectory } from '../../server/team/directory/index.ts';
import type { Directory } from '../../server/team/directory/index.ts';
import type { ThreadHooks } from '../../server/team/threads/hooks.ts';
import type { Store } from '../../server/store/index.ts';
import { createThreads, type OpenThreads } from '../../server/team/threads/index.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';
import { createManualTimers, type ManualTimers } from './manual-timers.ts';

export type Told = {
  [Hook in keyof ThreadHooks]: { readonly hook: Hook } & Parameters<ThreadHooks[Hook]>[0];
}[keyof ThreadHooks];

export interface ThreadHouse {
  readonly relay: string;
  readonly threads: OpenThreads;
  readonly directory: Directory;
  readonly timers: ManualTimers;
  /** What was told, in order. */
  readonly told: Told[];
  /** Set to have the next telling fail. */
  readonly failure: { next: Error | null };
  /** The same home, as another process would open it. */
  again(): Promise<ThreadHouse>;
  /** How often the page was told to ask again. */
  changes(): number;
}

/** "a", "b" and "c" are Ada, Bo and Cleo, in seats 1 to 3; "r" is Ria, who is retired. */
export async function openThreadHouse(store: Store, relay = randomUUID()): Promise<ThreadHouse> {
  let clock = 1_000;
  const now = () => ++clock;
  const events: RoostEvent[] = [];
  const directory = createDirectory({ db: store.db, home: relay, tell: () => undefined, now });
  const names = { a: 'Ada', b: 'Bo', c: 'Cleo', r: 'Ria' };
  await directory.set({
    agents: Object.entries(names).map(([agentId, name], position) => ({
      agentId,
      name,
      position: agentId === 'r' ? null : position,
      retired: agentId === 'r',
    })),
  });
  const told: Told[] = [];
  const failure: ThreadHouse['failure'] = { next: null };
  const note = async (item: Told): Promise<null> => {
    // A telling takes its time; what comes next waits for it.
    await new Promise((resolve) => setImmediate(resolve));
    const { next } = failure;
    failure.next = null;
    if (next) throw next;
    told.push(item);
    return null;
  };
  const hooks: ThreadHooks = {
    added: (change) => note({ hook: 'added', ...change }),
    async mentioned(change) {
      await note({ hook: 'mentioned', ...change });
      return `${change.agentId} was asked for.`;
    },
    async mentionsRead(change) {
      await note({ hook: 'mentionsRead', ...change });
    },
    async leftLast(change) {
      await note({ hook: 'leftLast', ...change });
    },
  };
  const timers = createManualTimers();
  const threads = createThreads({
    db: store.db,
    home: relay,
    directory,
    tell: (event) => void events.push(event),
    now,
    newId: randomUUID,
    timers,
    hooks,
  });
  return {
    relay,
    threads,
    directory,
    timers,
    told,
    failure,
    again: () => openThreadHouse(store, relay),
    changes: () =>
      events.filter((event) => event.kind === 'changed' && event.what === 'threads' && event.agentId === null).length,
  };
}

type Good<Answer> = Extract<Answer, { readonly ok: true }>;
const isGood = <Answer extends { readonly ok: boolean }>(answer: Answer): answer is Good<Answer> => answer.ok;

/** An answer that is not a refusal. */
export function good<Answer extends { readonly ok: boolean }>(answer: Answer): Good<Answer> {
  if (isGood(answer)) return answer;
  throw new Error(`refused: ${JSON.stringify(answer)}`);
}
