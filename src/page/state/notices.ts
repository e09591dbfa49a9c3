/**
 * Short notices to the person. Errors and offers stay until dismissed; the others disappear by
 * themselves.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { t } from '../language/t.ts';
import type { RelayProblem } from '../../shared/relay-client/index.ts';
import { isRefusedAs, problemText, type Device } from './ports.ts';

interface Notice {
  readonly id: string;
  readonly tone: 'info' | 'error';
  readonly text: string;
  readonly action: { readonly label: string; readonly run: () => void } | null;
  /** It is about the connection to the relay and disappears when that is back. */
  readonly ofConnection: boolean;
}

export interface Notices {
  readonly store: StoreApi<{ readonly list: readonly Notice[] }>;
  /** Returns an id for dismissing it. */
  info(text: string, action?: Notice['action']): string;
  /**
   * This browser now belongs to another home of the relay. The notice explains why the agents are
   * not awake, so it stays until dismissed.
   */
  moved(): void;
  /** Valid at any time. Stays until accepted or dismissed. Returns its id. */
  offer(text: string, action: NonNullable<Notice['action']>): string;
  error(text: string, action?: Notice['action']): void;
  /** The relay refused a request. */
  refused(problem: RelayProblem): void;
  /** The relay is connected again. */
  connectionIsBack(): void;
  dismiss(id: string): void;
}

/** ms an informing notice stays. Notices with an action stay longer. */
const STAY_MS = 6_000;
const STAY_WITH_ACTION_MS = 15_000;

const MOVED = t`This browser has joined another household of this relay. The earlier session ends after a while.`;

export function createNotices(device: Pick<Device, 'newId' | 'after'>): Notices {
  const store = createStore<{ readonly list: readonly Notice[] }>()(() => ({ list: [] }));
  const dismiss = (id: string) => store.setState(({ list }) => ({ list: list.filter((notice) => notice.id !== id) }));
  const add = (
    tone: Notice['tone'],
    text: string,
    action: Notice['action'],
    stayMs = Infinity,
    ofConnection = false,
  ) => {
    const id = device.newId();
    store.setState(({ list }) => ({
      list: [...list.filter((notice) => notice.text !== text), { id, tone, text, action, ofConnection }],
    }));
    if (Number.isFinite(stayMs)) device.after(stayMs, () => dismiss(id));
    return id;
  };
  return {
    store,
    info: (text, action = null) => add('info', text, action, action ? STAY_WITH_ACTION_MS : STAY_MS),
    moved: () => void add('info', MOVED, null),
    offer: (text, action) => add('info', text, action),
    error: (text, action = null) => void add('error', text, action),
    refused(problem) {
      const ofConnection =
        problem.kind === 'unreachable' || problem.kind === 'timeout' || isRefusedAs(problem, 'database-away');
      // If the connection stays down, a banner says so.
      add('error', problemText(problem), null, ofConnection ? STAY_WITH_ACTION_MS : Infinity, ofConnection);
    },
    connectionIsBack() {
      const { list } = store.getState();
      if (list.some(({ ofConnection }) => ofConnection))
        store.setState({ list: list.filter(({ ofConnection }) => !ofConnection) });
    },
    dismiss,
  };
}
