/**
 * One message to several agents at once, and what each of them answered. The last one is stored in
 * the browser, so that its answers are there after a reload.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { z } from 'zod';
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Doc, MessageDoc } from '../../shared/protocol/documents.ts';
import { agentIdSchema } from '../../shared/protocol/documents.ts';
import { isKnown } from '../../shared/protocol/documents/kinds.ts';
import { visibleMessages } from './conversations.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';

const KEY = 'roost-asked-everyone';
/** Messages of each conversation among which the answers are searched after a reload. */
const SEARCHED = 60;

const askedSchema = z.object({
  text: z.string(),
  time: z.number(),
  each: z.array(z.object({ agentId: agentIdSchema, clientId: z.string() })),
});
/** The message, and the client id under which each agent was sent it. */
type Asked = z.infer<typeof askedSchema>;

interface EveryoneState {
  /** null: nothing was asked yet. */
  readonly asked: Asked | null;
  /** The loaded messages of each agent since the question. */
  readonly messages: ReadonlyMap<AgentId, readonly MessageDoc[]>;
}

interface Everyone {
  readonly store: StoreApi<EveryoneState>;
  /** Sends the text to each of these agents. */
  ask(text: string, agentIds: readonly AgentId[]): void;
  /** Subscribes a view. Returns a function that unsubscribes. */
  view(): () => void;
}

function stored(text: string | null): Asked | null {
  try {
    const found = askedSchema.safeParse(JSON.parse(text ?? 'null'));
    return found.success ? found.data : null;
  } catch {
    // The value was not written by Roost.
    return null;
  }
}

/** An agent's answers: what it wrote after the person's message and before the next one. */
export function answersTo(clientId: string, agentId: AgentId, messages: readonly MessageDoc[]): readonly MessageDoc[] {
  const at = messages.findIndex((message) => message.clientId === clientId);
  if (at < 0) return [];
  const after = messages.slice(at + 1);
  const next = after.findIndex(({ author }) => author === 'human');
  return after.slice(0, next < 0 ? undefined : next).filter(({ author }) => author === agentId);
}

function createEveryone({ actions, dataWorker, device, household }: RoostState): Everyone {
  const store = createStore<EveryoneState>()(() => ({
    asked: stored(device.browser.read(KEY)),
    messages: new Map(),
  }));

  function take(docs: readonly Doc[]): void {
    const { asked, messages } = store.getState();
    const arrived = docs.flatMap((doc) =>
      isKnown(doc) &&
      doc.type === 'message' &&
      !household.isHidden(doc) &&
      asked?.each.some(({ agentId }) => agentId === doc.agentId)
        ? [doc]
        : [],
    );
    if (arrived.length === 0) return;
    const next = new Map(messages);
    for (const doc of arrived) {
      const held = next.get(doc.agentId) ?? [];
      if (!held.some(({ messageId }) => messageId === doc.messageId))
        next.set(doc.agentId, visibleMessages([...held, doc]));
    }
    store.setState({ messages: next });
  }
  async function readAll(): Promise<void> {
    for (const { agentId } of store.getState().asked?.each ?? []) {
      const page = await dataWorker.call('conversation', { agentId, before: null, limit: SEARCHED });
      take(page.messages);
    }
  }

  return {
    store,
    ask(text, agentIds) {
      const each = agentIds.map((agentId) => ({ agentId, clientId: device.newId() }));
      const asked = { text, time: device.now(), each };
      device.browser.write(KEY, JSON.stringify(asked));
      store.setState({ asked, messages: new Map() });
      for (const { agentId, clientId } of each) void actions.send(agentId, text, undefined, { clientId });
    },
    view() {
      readAll().catch(() => {
        // The conversation itself says why it cannot be read.
      });
      return dataWorker.subscribe((news) => {
        if (news.news === 'documents') take(news.docs);
      });
    },
  };
}

/** One instance per page. */
export const everyoneOf = onePerPage(createEveryone);
