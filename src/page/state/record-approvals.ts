/**
 * Two stores that are loaded with the views that show them: records that wait for the person’s
 * approval at this relay, and the read-only view of the relay’s one other household.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { textOf } from '../../shared/domain/text-of.ts';
import type { AgentId, MessageId } from '../../shared/domain/ids.ts';
import type { Snapshot, StoredEvent } from '../../shared/protocol/events.ts';
import { applyEvent } from '../../shared/protocol/live.ts';
import type { ViewedHousehold } from '../../shared/protocol/http.ts';
import type { StreamItem } from '../../shared/relay-client/index.ts';
import type { AskedRecord } from '../../shared/protocol/records.ts';
import { problemText, type RelayPort } from './ports.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, type Query } from './query.ts';

// The view of a read-only visitor: who is awake in the other household, and what is said there from
// now on. It lives as long as the view.

export interface ViewLine {
  readonly messageId: MessageId;
  /** "human", "relay", "lead" or an agent's id. `agentId` names the conversation. */
  readonly author: string;
  readonly agentId: AgentId;
  readonly text: string;
  /** It is still streaming. */
  readonly open: boolean;
}

interface ViewState {
  readonly link: 'connecting' | 'live' | 'lost';
  readonly agents: ViewedHousehold['agents'];
  readonly session: Snapshot['session'];
  /** Oldest first. */
  readonly lines: readonly ViewLine[];
}

export interface HouseholdView {
  readonly store: StoreApi<ViewState>;
  /** Starts listening. Returns a function that stops it. */
  start(): () => void;
}

/** Lines to keep. Older ones are dropped. */
export const VIEW_LINES = 200;

export function createHouseholdView(relay: Pick<RelayPort, 'viewHousehold' | 'viewedHousehold'>): HouseholdView {
  const store = createStore<ViewState>()(() => ({ link: 'connecting', agents: [], session: null, lines: [] }));
  let snapshot: Snapshot | null = null;

  async function readNames(): Promise<void> {
    const read = await relay.viewedHousehold();
    if (read.ok) store.setState({ agents: read.value.agents });
  }

  function put(line: ViewLine): void {
    const { lines } = store.getState();
    const at = lines.findIndex(({ messageId }) => messageId === line.messageId);
    store.setState({ lines: at < 0 ? [...lines, line].slice(-VIEW_LINES) : lines.with(at, line) });
  }

  function hear(stored: StoredEvent): void {
    const { event } = stored;
    if (snapshot) snapshot = applyEvent(snapshot, stored);
    store.setState({ session: snapshot?.session ?? null });
    if (event.kind === 'answer-started')
      put({ messageId: event.messageId, author: event.agentId, agentId: event.agentId, text: '', open: true });
    else if (event.kind === 'text') {
      const line = store.getState().lines.find(({ messageId }) => messageId === event.messageId);
      if (line) put({ ...line, text: line.text + event.text });
    } else if (event.kind === 'message')
      put({
        messageId: event.messageId,
        author: event.author,
        agentId: event.agentId,
        text: textOf(event.blocks),
        open: false,
      });
    else if (event.kind === 'agent-born' || (event.kind === 'changed' && event.what === 'team')) void readNames();
  }

  function take(item: StreamItem): void {
    switch (item.kind) {
      case 'live':
        snapshot = item.snapshot;
        store.setState({ link: 'live', session: snapshot.session });
        return;
      case 'event':
        return hear(item.stored);
      case 'new-log':
      case 'home':
        return;
      case 'connecting':
      case 'moved':
        store.setState({ link: 'connecting' });
        return;
      default:
        store.setState({ link: 'lost' });
    }
  }

  return {
    store,
    start() {
      void readNames();
      return relay.viewHousehold(take);
    },
  };
}

interface Asked {
  readonly list: Query<readonly AskedRecord[]>;
  /** Returns why some were not accepted, each reason once, in the relay's words. */
  answer(records: readonly AskedRecord[], yes: boolean): Promise<readonly string[]>;
}

function createAsked({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>): Asked {
  const list = createQuery<readonly AskedRecord[]>({
    async ask() {
      const result = await reach((client) => client.recordApprovals());
      return result.ok ? { ok: true, value: result.value.asked } : result;
    },
    changes,
    device,
    what: ['asked', 'mcp-servers', 'schedules', 'config'],
  });
  return {
    list,
    async answer(records, yes) {
      const answers = records.map(({ type, id, part, hash }) => ({ type, id, part, hash, yes }));
      const result = await reach((client) => client.answerRecordApprovals({ body: { answers } }));
      await list.again();
      if (!result.ok) return [problemText(result.problem)];
      const refused = result.value.outcomes.flatMap((each) => (each.outcome === 'refused' ? [each.why] : []));
      return [...new Set(refused)];
    },
  };
}

export const askedOf = onePerPage(createAsked);
