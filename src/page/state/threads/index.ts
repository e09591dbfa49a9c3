/** Threads as the page shows them. Loaded with the parts of the page that show them. */
import type { AgentId, ThreadId } from '../../../shared/domain/ids.ts';
import type { Thread } from '../../../shared/protocol/threads.ts';
import { createQuery, type Query } from '../query.ts';
import { onePerPage } from '../per-page.ts';
import { problemText } from '../ports.ts';
import { DONE, type Done } from '../actions/parts.ts';
import type { RelayResult } from '../../../shared/relay-client/index.ts';
import type { DeferredClient } from '../../../shared/relay-client/deferred-client.ts';
import { createThreadTalk, type ThreadDeps, type ThreadTalk } from './talk.ts';

export type { ThreadTalk, ThreadTalkState } from './talk.ts';

/** Threads per request. */
const LIST_PAGE = 200;
/** Most threads on the page. The newest are shown. */
export const THREADS_LISTED = 1_000;

export interface Threads {
  readonly list: Query<readonly Thread[]>;
  /** The same object for the same id as long as the page is open. */
  talk(threadId: ThreadId): ThreadTalk;
  create(
    title: string,
    participants: readonly string[],
  ): Promise<{ readonly ok: true; readonly threadId: ThreadId } | { readonly ok: false; readonly reason: string }>;
  add(threadId: ThreadId, agentId: AgentId): Promise<Done>;
  remove(threadId: ThreadId, agentId: AgentId): Promise<Done>;
  close(threadId: ThreadId, summary: string): Promise<Done>;
}

function createThreads(deps: ThreadDeps): Threads {
  const { changes, device, callRelay } = deps;
  async function all(): Promise<RelayResult<readonly Thread[]>> {
    const threads: Thread[] = [];
    for (;;) {
      const page = await callRelay((client) =>
        client.threads({ before: threads.at(-1)?.threadId ?? null, limit: LIST_PAGE }),
      );
      if (!page.ok) return page;
      threads.push(...page.value.threads);
      if (!page.value.more || page.value.threads.length === 0 || threads.length >= THREADS_LISTED)
        return { ok: true, value: threads };
    }
  }
  const list = createQuery<readonly Thread[]>({ ask: all, changes, device, what: ['threads'] });
  const talks = new Map<string, ThreadTalk>();
  function talk(threadId: ThreadId): ThreadTalk {
    const known = talks.get(threadId) ?? createThreadTalk(threadId, deps);
    talks.set(threadId, known);
    return known;
  }
  /** Changes one thread. Resolves after the view is up to date. */
  async function change(
    threadId: ThreadId,
    call: (client: DeferredClient) => Promise<RelayResult<unknown>>,
  ): Promise<Done> {
    const done = await callRelay(call);
    if (!done.ok) return { ok: false, reason: problemText(done.problem) };
    await Promise.all([talk(threadId).again(), list.again()]);
    return DONE;
  }

  return {
    list,
    talk,
    async create(title, participants) {
      const made = await callRelay((client) =>
        client.createThread({ body: { title, participants: [...participants] } }),
      );
      if (!made.ok) return { ok: false, reason: problemText(made.problem) };
      await list.again();
      return { ok: true, threadId: made.value.threadId };
    },
    add: (threadId, agentId) => change(threadId, (client) => client.addToThread({ threadId, body: { agentId } })),
    remove: (threadId, agentId) => change(threadId, (client) => client.removeFromThread({ threadId, agentId })),
    close: (threadId, summary) => change(threadId, (client) => client.closeThread({ threadId, body: { summary } })),
  };
}

/** The threads of this page. */
export const threadsOf = onePerPage(createThreads);
