/**
 * What of a file would change what the relay goes by: what is due without anybody there, limits and
 * prices, threads. A routine is a prompt and a script is code, so each has its tick; so has every
 * limit and every price. What is older than here changes nothing. Where nobody lives yet, that
 * alone is asked about which acts outside of the household, or lets agents do so.
 */
import type { AgentId, ThreadId } from '../../../shared/domain/ids.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { isKnown, kindOf, slotOf, wins } from '../../../shared/protocol/documents/kinds.ts';
import { type HeldBack, heldLimits, unsetLimits } from '../../../shared/protocol/effective.ts';
import {
  fieldsOf,
  pathOf,
  RECORD_TYPES,
  type RecordOf,
  recordSchema,
  type RelayRecord,
} from '../../../shared/protocol/records.ts';
import type { Offer } from './consent-agents.ts';
import type { Deciding } from './newest.ts';

export interface RecordConsent {
  /** Of documents that are not here yet, those that are records. */
  take(doc: Doc): void;
  /**
   * Those that are never taken: the relay would refuse them, or they name one agent outside and
   * another inside.
   */
  unfit(): readonly string[];
  offerAll(offer: Offer, nameOf: (agentId: AgentId) => string | null): void;
}

/** The agent that a record is about; null: the household, or nobody. */
function aboutWhom(record: RelayRecord): AgentId | null {
  switch (record.type) {
    case 'schedule':
      return record.value.schedule.agentId;
    case 'limits':
      return record.value.agentId;
    case 'prices':
    case 'thread':
    case 'thread-message':
    case 'attached-server':
      return null;
    default:
      return record satisfies never;
  }
}

function recordOf(doc: Doc): RelayRecord | null {
  const read = recordSchema.safeParse({ type: doc.type, id: doc['recordId'], value: doc['value'] });
  return read.success ? read.data : null;
}

/**
 * It is left out, and forgotten, with the agent that its document names: another one inside would
 * escape both.
 */
const fits = (doc: Doc, record: RelayRecord | null): record is RelayRecord =>
  record !== null && (record.type === 'thread-message' || aboutWhom(record) === (doc['agentId'] ?? null));

const isRecordType = (type: string) => RECORD_TYPES.some((known) => known === type);
const THREADS = 'Threads';

/** Of limits, what lets agents do more than where nothing is set; and the rest. */
const looser = (record: RecordOf<'limits'>): HeldBack => heldLimits(record, unsetLimits(record), { coordination: {} });

/** Whether it acts outside of the household, or lets agents do so. */
function actsOutside(record: RelayRecord): boolean {
  switch (record.type) {
    case 'attached-server':
      return !record.value.removed;
    case 'schedule':
      return !record.value.removed && record.value.schedule.kind === 'script';
    case 'limits':
      return looser(record).parts.length > 0;
    case 'prices':
    case 'thread':
    case 'thread-message':
      return false;
    default:
      return record satisfies never;
  }
}

const isOf = <Type extends RelayRecord['type']>(record: RelayRecord | null, type: Type): record is RecordOf<Type> =>
  record?.type === type;

/**
 * `isEmpty`: nobody lives here, and only what would take the place of something that is here is
 * asked about.
 */
export function createRecordConsent(here: Deciding, isEmpty: boolean): RecordConsent {
  const held = new Map(here.records.map((doc) => [slotOf(doc), doc]));
  /** What is newer than here, by the thing it is about. */
  const coming = new Map<string, { readonly doc: Doc; readonly record: RelayRecord }[]>();
  const said = new Map<ThreadId, { readonly ids: string[]; yours: number }>();
  /** Of kinds that are asked about as one, by what they are to people. */
  const others = new Map<string, string[]>();
  const unfit: string[] = [];
  const slotOfThread = (threadId: ThreadId) => `thread ${threadId}`;

  function takeMessage(doc: Doc, { value: { threadId, from } }: RecordOf<'thread-message'>) {
    if (isEmpty && !held.has(slotOfThread(threadId))) return;
    const messages = said.get(threadId) ?? { ids: [], yours: 0 };
    messages.ids.push(doc._id);
    if (from === 'human') messages.yours += 1;
    said.set(threadId, messages);
  }

  return {
    take(doc) {
      if (!isKnown(doc)) return;
      if (!isRecordType(doc.type)) {
        const what = kindOf(doc.type)?.consent;
        if (what !== undefined && !isEmpty) others.set(what, [...(others.get(what) ?? []), doc._id]);
        return;
      }
      const slot = slotOf(doc);
      const before = held.get(slot);
      if (slot !== null && before && !wins(doc, before)) return;
      const record = recordOf(doc);
      if (slot !== null && !before && isEmpty && (record === null || isOf(record, 'thread'))) return;
      if (!fits(doc, record)) {
        if (!isEmpty || before || (record && actsOutside(record))) unfit.push(doc._id);
      } else if (isOf(record, 'thread-message')) takeMessage(doc, record);
      else if (slot !== null) coming.set(slot, [...(coming.get(slot) ?? []), { doc, record }]);
    },
    unfit: () => unfit,
    offerAll(offer, nameOf) {
      const threads = [...(others.get(THREADS) ?? [])];
      for (const [slot, versions] of coming) {
        const ids = versions.map(({ doc }) => doc._id);
        const { record } = versions.reduce((newest, each) => (wins(each.doc, newest.doc) ? each : newest));
        const before = held.get(slot);
        const was = before ? recordOf(before) : null;
        if (isEmpty && !before && !actsOutside(record)) continue;
        if (record.type === 'attached-server') {
          const old = isOf(was, 'attached-server') ? was.value : null;
          offer({ kind: 'attached', tick: `attached:${record.id}`, here: old, after: record.value }, ids);
        } else if (record.type === 'schedule') {
          const { value } = record;
          const old = isOf(was, 'schedule') ? was.value : null;
          const changesNothing = old ? isSame(old, value) || (old.removed && value.removed) : value.removed;
          const { agentId } = value.schedule;
          const change = { agentId, name: nameOf(agentId) ?? agentId, here: old, after: value };
          if (!changesNothing) offer({ kind: 'schedule', tick: `schedule:${record.id}`, ...change }, ids);
        } else if (record.type === 'limits' || record.type === 'prices') {
          const agentId = aboutWhom(record);
          const name = agentId === null ? null : (nameOf(agentId) ?? agentId);
          const comes = isEmpty && !before && record.type === 'limits' ? looser(record) : null;
          const rest = comes ? { rest: comes.record.value } : {};
          for (const { part: field, here: value, after } of comes?.parts ?? differing(was, record)) {
            const tick = `${record.type}:${record.id}:${field}`;
            const path = record.type === 'limits' ? pathOf(field) : [];
            const about = { record: record.type, recordId: record.id, agentId, name, field, path };
            offer({ kind: 'limit', tick, ...about, here: value, after, ...rest }, ids);
          }
        } else if (record.type === 'thread') {
          const old = isOf(was, 'thread') ? was.value : null;
          const { value } = record;
          if (!before) threads.push(...ids);
          else if (!old || !isSame(old, value))
            offer(
              {
                kind: 'thread',
                tick: `thread:${record.id}`,
                here: old?.title ?? null,
                after: value.title,
                closed: value.closed === null ? null : value.closed.summary,
                wasClosed: old !== null && old.closed !== null,
                members: present(value).map((id) => nameOf(id) ?? id),
                membersHere: present(old).map((id) => nameOf(id) ?? id),
              },
              ids,
            );
        }
      }
      for (const [threadId, { ids, yours }] of said) {
        const doc = held.get(slotOfThread(threadId));
        const thread = doc ? recordOf(doc) : null;
        if (isOf(thread, 'thread'))
          offer(
            {
              kind: 'thread-messages',
              tick: `thread-messages:${threadId}`,
              title: thread.value.title,
              messages: ids.length,
              yours,
            },
            ids,
          );
        else threads.push(...ids);
      }
      if (threads.length > 0) others.set(THREADS, threads);
      for (const [what, ids] of others)
        offer({ kind: 'records', tick: `records:${what}`, what, documents: ids.length }, ids);
    },
  };
}

/** Every field that would be another. */
function differing(was: RelayRecord | null, record: RecordOf<'limits'> | RecordOf<'prices'>): HeldBack['parts'] {
  const [old, now] = [fieldsOf(record.type, was), fieldsOf(record.type, record)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((part) => ({ part, here: old.get(part), after: now.get(part) }))
    .filter(({ here, after }) => !isSame(here, after));
}

/** By value: both were parsed by one schema, so that their fields stand in one order. */
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Who is in a thread now. */
const present = (thread: RecordOf<'thread'>['value'] | null) =>
  (thread?.members ?? []).filter(({ removedAt }) => removedAt === null).map(({ agentId }) => agentId);
