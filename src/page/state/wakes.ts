/** The relay's inboxes, wakes and limits. Loaded with the first view that shows them. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { InboxMessage } from '../../shared/protocol/threads.ts';
import type { WakeDecision, WakeStats } from '../../shared/protocol/wakes.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';
import type { RoostState } from './index.ts';
import { type AgentLimits, createLimits } from './relay-info.ts';
import { createPaged, type Paged } from './pages.ts';
import { onePerPage } from './per-page.ts';

/** Rows per page. */
const PAGE = 30;

interface WakeQueries {
  inbox(agentId: AgentId): Paged<InboxMessage>;
  /** null: all agents. */
  wakes(agentId: AgentId | null): Paged<WakeDecision>;
  stats(agentId: AgentId): Query<WakeStats>;
  limits(agentId: AgentId): AgentLimits;
}

function createWakeQueries({
  callRelay,
  changes,
  device,
}: Pick<RoostState, 'callRelay' | 'changes' | 'device'>): WakeQueries {
  const deps = { changes, device };
  const allWakes = createPaged<WakeDecision, string>({
    ...deps,
    what: ['wakes'],
    askPage: wakePage(null),
    idOf: ({ decisionId }) => decisionId,
    size: PAGE,
  });

  function wakePage(agentId: AgentId | null) {
    return (page: { readonly before: string | null; readonly limit: number }) =>
      callRelay(async (client) => {
        const feed = await client.wakes({ ...page, agent: agentId });
        return feed.ok ? { ok: true, value: { rows: feed.value.wakes, more: feed.value.more } } : feed;
      });
  }

  const wakes = createQueryFamily((agentId: AgentId) =>
    createPaged<WakeDecision, string>({
      ...deps,
      what: ['wakes'],
      agentId,
      askPage: wakePage(agentId),
      idOf: ({ decisionId }) => decisionId,
      size: PAGE,
    }),
  );
  return {
    inbox: createQueryFamily((agentId: AgentId) =>
      createPaged<InboxMessage, string>({
        ...deps,
        what: ['inbox'],
        agentId,
        idOf: ({ messageId }) => messageId,
        size: PAGE,
        askPage: (page) =>
          callRelay(async (client) => {
            const inbox = await client.inbox({ agentId, ...page });
            return inbox.ok ? { ok: true, value: { rows: inbox.value.messages, more: inbox.value.more } } : inbox;
          }),
      }),
    ),
    wakes: (agentId) => (agentId === null ? allWakes : wakes(agentId)),
    stats: createQueryFamily((agentId: AgentId) =>
      createQuery({
        ...deps,
        what: ['wakes', 'config'],
        agentId,
        ask: () => callRelay((client) => client.wakeStats({ agentId })),
      }),
    ),
    limits: createQueryFamily((agentId: AgentId) => {
      const read = () => callRelay((client) => client.agentConfig({ agentId }));
      return createLimits({
        query: createQuery({ ...deps, what: ['config'], agentId, ask: read }),
        read,
        put: (own) => callRelay((client) => client.putAgentConfig({ agentId, body: { ...own, whole: true } })),
      });
    }),
  };
}

/** One instance per page. */
export const wakeQueries = onePerPage(createWakeQueries);
