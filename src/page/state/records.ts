/**
 * What this household knows and its relay does not: limits, prices, threads. A relay whose home was
 * lost, or put back from an old copy, is given them back by the person, in one step. Nothing goes
 * there without that, but the newest version of what is due there: else it would run as it was, or
 * at two relays.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Room } from '../../shared/protocol/http.ts';
import { runAgain } from '../../shared/domain/platform/single-flight.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { kindOf } from '../../shared/protocol/documents/kinds.ts';
import type { WithinPage } from '../../shared/protocol/worker.ts';
import type { OfferedRecord, RecordAnswer } from '../../shared/protocol/records.ts';
import { createQuery } from './query.ts';
import { onePerPage } from './per-page.ts';
import { errorText, problemText } from './ports.ts';
import type { RoostState } from './index.ts';

// How much room the relay's home takes, for whoever shows it.

/** One for each page. Asked for whenever somebody looks. */
export const relayRoom = onePerPage(({ reach, changes, device }) =>
  createQuery<Room>({ ask: () => reach((client) => client.room()), changes, device, what: [] }),
);

const GIVING = {
  /** Versions that are compared in one call. */
  compared: 1_000,
  /**
   * Records, and characters of their values, that go in one call. A record that is larger goes
   * alone.
   */
  records: 100,
  chars: 1_000_000,
  /** ms after the connection to the relay is there, or a record has come, until this is asked. */
  after: 400,
} as const;

/** Something that the relay lacks. */
export interface Missing {
  readonly doc: Doc;
  /** `older`: it has an older version, or less of it. */
  readonly standing: 'unknown' | 'older';
  /** Of a thread: its messages that this household has. */
  readonly messages: number;
}

export interface Given {
  /** How many, by type. */
  readonly taken: ReadonlyMap<string, number>;
  /** The relay had them, or newer ones. */
  readonly kept: number;
  /** Something of them waits for the person's yes. */
  readonly asked: number;
  /** Why some were not taken, each reason once. */
  readonly refused: readonly string[];
}

interface GiveBackState {
  readonly missing: readonly Missing[];
  /** null: nothing is being given back. */
  readonly giving: { readonly done: number; readonly of: number } | null;
  /** What became of the last time; null: not yet, or it was put away. */
  readonly given: Given | null;
  /** Why it stopped, with what to do. */
  readonly error: string | null;
}

interface GiveBack {
  readonly store: StoreApi<GiveBackState>;
  /** Listens, and looks whether something is missing. Returns the way to stop. */
  watch(): () => void;
  give(): Promise<void>;
  /** The last outcome was read. */
  putAway(): void;
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

function createGiveBack({ owner, reach, household, live, device }: RoostState): GiveBack {
  const store = createStore<GiveBackState>()(() => ({ missing: [], giving: null, given: null, error: null }));

  /** The thing that messages of a thread are about. */
  const within = (id: string) => `thread-message ${id}`;

  async function versions(): Promise<readonly Version[]> {
    const found: Version[] = [];
    for (const doc of household.store.getState().records.values()) {
      const id = recordIdOf(doc);
      if (kindOf(doc.type)?.isRecord !== true || id === null) continue;
      const { type, at } = doc;
      const messages =
        type === 'thread' ? (await owner.call('within', { about: within(id), after: null, limit: 0 })).of : 0;
      found.push({ doc, asked: { type, id, at, ...(type === 'thread' ? { messages } : {}) }, messages });
    }
    return found;
  }

  async function look(): Promise<void> {
    if (live.store.getState().link.kind !== 'live' || household.store.getState().status !== 'ready') return;
    const known = await versions();
    const missing: Missing[] = [];
    for (let from = 0; from < known.length; from += GIVING.compared) {
      const part = known.slice(from, from + GIVING.compared);
      const compared = await reach((client) =>
        client.compareRecords({ body: { records: part.map(({ asked }) => asked) } }),
      );
      // What cannot be asked now is asked when the line is there again.
      if (!compared.ok) return;
      part.forEach(({ doc, messages }, i) => {
        const standing = compared.value.standings[i];
        if (standing === 'unknown' || standing === 'older') missing.push({ doc, standing, messages });
      });
    }
    // What the relay has of these is of before, and might run at two relays, or though it was taken
    // away.
    const due = missing.filter(({ doc, standing }) => doc.type === 'schedule' && standing === 'older');
    await tell(due);
    const rest = missing.filter((each) => !due.includes(each));
    if (store.getState().missing.length > 0 || rest.length > 0) store.setState({ missing: rest });
  }

  /**
   * The newest of what is due, to a relay that has an older version of it: that is no secret to it,
   * and nobody is asked.
   */
  async function tell(due: readonly Missing[]): Promise<void> {
    for (let from = 0; from < due.length; from += GIVING.records) {
      const records = due.slice(from, from + GIVING.records).map(({ doc }) => offered(doc));
      // What is not taken now, as it runs just then, is told again with the next look.
      await reach((client) => client.offerRecords({ body: { records } }));
    }
  }

  const lookAgain = runAgain(() => look().catch((error: unknown) => store.setState({ error: errorText(error) })));
  const lookSoon = () => void lookAgain();

  /**
   * Everything to give, in the order in which the relay can take it: a thread before what was said
   * in it.
   */
  async function* offers(missing: readonly Missing[]): AsyncGenerator<readonly OfferedRecord[]> {
    let part: OfferedRecord[] = [];
    let chars = 0;
    const docs = async function* (): AsyncGenerator<Doc> {
      for (const { doc } of missing) {
        yield doc;
        if (doc.type !== 'thread') continue;
        for (let after: string | null = null; ;) {
          const page: WithinPage = await owner.call('within', {
            about: within(recordIdOf(doc) ?? ''),
            after,
            limit: GIVING.records,
          });
          yield* page.docs;
          after = page.after;
          if (after === null) break;
        }
      }
    };
    for await (const doc of docs()) {
      const length = JSON.stringify(doc).length;
      if (part.length > 0 && (part.length >= GIVING.records || chars + length > GIVING.chars)) {
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
    const taken = new Map<string, number>();
    store.setState({ giving: { done: 0, of }, error: null, given: null });
    try {
      for await (const part of offers(missing)) {
        const result = await reach((client) => client.offerRecords({ body: { records: [...part] } }));
        if (!result.ok) {
          store.setState({ giving: null, error: problemText(result.problem) });
          return;
        }
        answers.push(...result.value.answers);
        result.value.answers.forEach(({ answer }, i) => {
          const type = part[i]?.type;
          if (answer === 'taken' && type !== undefined) taken.set(type, (taken.get(type) ?? 0) + 1);
        });
        store.setState({ giving: { done: answers.length, of: Math.max(of, answers.length) } });
      }
      const refused = answers.flatMap((each) => (each.answer === 'refused' ? [each.why] : []));
      store.setState({
        missing: [],
        giving: null,
        given: {
          taken,
          kept: answers.filter(({ answer }) => answer === 'kept').length,
          asked: answers.filter(({ answer }) => answer === 'asked').length,
          refused: [...new Set(refused)],
        },
      });
      if (refused.length === 0) lookSoon();
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
        cancel = device.after(GIVING.after, lookSoon);
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
    putAway: () => store.setState({ given: null, error: null }),
  };
}

export const giveBackOf = onePerPage(createGiveBack);
