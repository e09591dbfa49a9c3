/**
 * Restores records (limits, prices, threads) that this household has and its relay lacks. A relay
 * lacks them if its home was lost, or restored from an old copy. The person restores them in one
 * step. Nothing goes to the relay without that, with one exception: the newest version of a
 * schedule. Otherwise the relay would run an old version, or two relays would run it.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Room } from '../../shared/protocol/http.ts';
import { runAgain } from '../../shared/domain/platform/single-flight.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { kindOf } from '../../shared/protocol/documents/kinds.ts';
import type { WithinPage } from '../../shared/protocol/worker.ts';
import type { OfferedRecord, RecordAnswer } from '../../shared/protocol/records.ts';
import { relayQuery } from './query.ts';
import { onePerPage } from './per-page.ts';
import { errorText, problemText } from './ports.ts';
import type { RoostState } from './index.ts';

// Disk usage of the relay's home.

/** One instance per page. Requested whenever a view subscribes. */
export const relayRoom = onePerPage(({ callRelay, changes, device }) =>
  relayQuery<Room>({ callRelay, changes, device }, [], (client) => client.room()),
);

const RESTORE = {
  /** Versions that are compared in one call. */
  compared: 1_000,
  /** Records, and characters of their values, in one call. A larger record goes alone. */
  records: 100,
  chars: 1_000_000,
  /** ms to wait after connecting, or after a new record, before comparing. */
  after: 400,
} as const;

/** Something that the relay lacks. */
export interface Missing {
  readonly doc: Doc;
  /** `older`: it has an older version, or less of it. */
  readonly status: 'unknown' | 'older';
  /** Number of a thread's messages that this household has. */
  readonly messages: number;
}

export interface RestoreOutcome {
  /** Counts by type. */
  readonly taken: ReadonlyMap<string, number>;
  /** The relay had them, or newer ones. */
  readonly kept: number;
  /** Some of them wait for the person's approval. */
  readonly asked: number;
  /** Why some were not accepted, each reason once. */
  readonly refused: readonly string[];
}

interface RestoreState {
  readonly missing: readonly Missing[];
  /** null: nothing is being restored. */
  readonly giving: { readonly done: number; readonly of: number } | null;
  /** The last outcome; null: none yet, or it was dismissed. */
  readonly given: RestoreOutcome | null;
  /** Why it stopped, with what to do. */
  readonly error: string | null;
}

interface Restore {
  readonly store: StoreApi<RestoreState>;
  /** Subscribes and checks whether something is missing. Returns a function that unsubscribes. */
  watch(): () => void;
  give(): Promise<void>;
  /** Dismisses the last outcome. */
  dismiss(): void;
}

interface Version {
  readonly doc: Doc;
  readonly asked: { readonly type: string; readonly id: string; readonly at: string; readonly messages?: number };
  readonly messages: number;
}

const recordIdOf = (doc: Doc) => (typeof doc['recordId'] === 'string' ? doc['recordId'] : null);
const offered = (doc: Doc): OfferedRecord => ({
  type: doc.type,
  id: recordIdOf(doc) ?? '',
  at: doc.at,
  value: doc['value'],
});

function createRestore({ dataWorker, callRelay, household, live, device }: RoostState): Restore {
  const store = createStore<RestoreState>()(() => ({ missing: [], giving: null, given: null, error: null }));

  /** The subject of a thread's messages. */
  const within = (id: string) => `thread-message ${id}`;

  async function versions(): Promise<readonly Version[]> {
    const versions: Version[] = [];
    for (const doc of household.store.getState().records.values()) {
      const id = recordIdOf(doc);
      if (kindOf(doc.type)?.isRecord !== true || id === null) continue;
      const { type, at } = doc;
      const messages =
        type === 'thread' ? (await dataWorker.call('within', { about: within(id), after: null, limit: 0 })).of : 0;
      versions.push({ doc, asked: { type, id, at, ...(type === 'thread' ? { messages } : {}) }, messages });
    }
    return versions;
  }

  async function compare(): Promise<void> {
    if (live.store.getState().link.kind !== 'live' || household.store.getState().status !== 'ready') return;
    const ownVersions = await versions();
    const missing: Missing[] = [];
    for (let from = 0; from < ownVersions.length; from += RESTORE.compared) {
      const part = ownVersions.slice(from, from + RESTORE.compared);
      const compared = await callRelay((client) =>
        client.compareRecords({ body: { records: part.map(({ asked }) => asked) } }),
      );
      // If the comparison fails, it is repeated on the next connection.
      if (!compared.ok) return;
      part.forEach(({ doc, messages }, i) => {
        const status = compared.value.standings[i];
        if (status === 'unknown' || status === 'older') missing.push({ doc, status, messages });
      });
    }
    // The relay has an older version of these schedules. It might run what another relay runs too,
    // or what was removed.
    const due = missing.filter(({ doc, status }) => doc.type === 'schedule' && status === 'older');
    await tell(due);
    const rest = missing.filter((each) => !due.includes(each));
    if (store.getState().missing.length > 0 || rest.length > 0) store.setState({ missing: rest });
  }

  /**
   * Sends the newest version of schedules to a relay that has an older one. The relay knows them
   * already, so the person is not asked.
   */
  async function tell(due: readonly Missing[]): Promise<void> {
    for (let from = 0; from < due.length; from += RESTORE.records) {
      const records = due.slice(from, from + RESTORE.records).map(({ doc }) => offered(doc));
      // A schedule that is running now may be refused. The next check sends it again.
      await callRelay((client) => client.offerRecords({ body: { records } }));
    }
  }

  const compareAgain = runAgain(() => compare().catch((error: unknown) => store.setState({ error: errorText(error) })));
  const compareSoon = () => void compareAgain();

  /** The records in an order the relay can accept: a thread before its messages. */
  async function* offers(missing: readonly Missing[]): AsyncGenerator<readonly OfferedRecord[]> {
    let part: OfferedRecord[] = [];
    let chars = 0;
    const docs = async function* (): AsyncGenerator<Doc> {
      for (const { doc } of missing) {
        yield doc;
        if (doc.type !== 'thread') continue;
        for (let after: string | null = null; ;) {
          const page: WithinPage = await dataWorker.call('within', {
            about: within(recordIdOf(doc) ?? ''),
            after,
            limit: RESTORE.records,
          });
          yield* page.docs;
          after = page.after;
          if (after === null) break;
        }
      }
    };
    for await (const doc of docs()) {
      const length = JSON.stringify(doc).length;
      if (part.length > 0 && (part.length >= RESTORE.records || chars + length > RESTORE.chars)) {
        yield part;
        part = [];
        chars = 0;
      }
      part.push(offered(doc));
      chars += length;
    }
    if (part.length > 0) yield part;
  }

  async function give(): Promise<void> {
    const { missing, giving } = store.getState();
    if (giving || missing.length === 0) return;
    const of = missing.reduce((sum, { messages }) => sum + 1 + messages, 0);
    const answers: RecordAnswer[] = [];
    const acceptedCounts = new Map<string, number>();
    store.setState({ giving: { done: 0, of }, error: null, given: null });
    try {
      for await (const part of offers(missing)) {
        const result = await callRelay((client) => client.offerRecords({ body: { records: [...part] } }));
        if (!result.ok) {
          store.setState({ giving: null, error: problemText(result.problem) });
          return;
        }
        answers.push(...result.value.answers);
        result.value.answers.forEach(({ answer }, i) => {
          const type = part[i]?.type;
          if (answer === 'taken' && type !== undefined) acceptedCounts.set(type, (acceptedCounts.get(type) ?? 0) + 1);
        });
        store.setState({ giving: { done: answers.length, of: Math.max(of, answers.length) } });
      }
      const refused = answers.flatMap((each) => (each.answer === 'refused' ? [each.why] : []));
      store.setState({
        missing: [],
        giving: null,
        given: {
          taken: acceptedCounts,
          kept: answers.filter(({ answer }) => answer === 'kept').length,
          asked: answers.filter(({ answer }) => answer === 'asked').length,
          refused: [...new Set(refused)],
        },
      });
      if (refused.length === 0) compareSoon();
    } catch (error) {
      store.setState({ giving: null, error: errorText(error) });
    }
  }

  return {
    store,
    watch() {
      let cancel: (() => void) | null = null;
      const soon = () => {
        cancel?.();
        cancel = device.after(RESTORE.after, compareSoon);
      };
      const stops = [
        live.store.subscribe(({ link }, before) => {
          if (link.kind === 'live' && before.link.kind !== 'live') soon();
        }),
        household.store.subscribe(({ records, status }, before) => {
          if (records !== before.records || status !== before.status) soon();
        }),
      ];
      soon();
      return () => {
        cancel?.();
        stops.forEach((stop) => stop());
      };
    },
    give,
    dismiss: () => store.setState({ given: null, error: null }),
  };
}

export const restoreOf = onePerPage(createRestore);
