/**
 * Finds what a file would change here: a name, a soul, a setting, a routine, a forget, messages in
 * the person's name. A file may contain more than it claims, so none of this is imported by
 * default: each change needs a tick of its own. Where no team lives yet there is nothing to change,
 * and a copy is restored whole.
 */
import { type Agent, type Roster, rosterOf } from '../../../shared/domain/agent.ts';
import { isSettingValue, type SettingKey, type Settings, settingsOf } from '../../../shared/domain/settings.ts';
import type {
  AgentChangeDoc,
  AgentIdentityDoc,
  Doc,
  ForgetDoc,
  ForgetUndoDoc,
  MessageDoc,
  SettingDoc,
} from '../../../shared/protocol/documents.ts';
import { isKnown, kindOf, slotOf, wins } from '../../../shared/protocol/documents/kinds.ts';
import type { HouseholdView } from '../../../shared/protocol/worker.ts';
import type { AgentId, ThreadId } from '../../../shared/domain/ids.ts';
import { isSameName } from '../../../shared/domain/names.ts';
import { LEAD_ID, seatNumber } from '../../../shared/domain/seat.ts';
import { type HeldBack, heldLimits, unsetLimits } from '../../../shared/protocol/effective.ts';
import {
  fieldsOf,
  pathOf,
  RECORD_TYPES,
  type RecordOf,
  recordSchema,
  type RelayRecord,
} from '../../../shared/protocol/records.ts';
import { finalForgets, pendingForgets } from '../../../shared/domain/forgetting.ts';
import { appearanceOf } from '../../../shared/domain/choices.ts';
import { MAX_AHEAD_MS, MOST_AHEAD_MS, parseStamp } from '../../../shared/domain/stamp.ts';
import type { ImportChange, ShownAgent } from '../types.ts';
import { ExportError, DAMAGED } from '../methods.ts';

// The documents that decide identities and settings. However many documents there are, these are
// bounded by the number of agents, threads and schedules.

export type Deciding = Pick<HouseholdView, 'identities' | 'changes' | 'settings' | 'records'>;

interface Newest {
  take(docs: readonly Doc[]): void;
  now(): Deciding;
}

/** Keeps identities, and of several documents about one subject the one that holds. */
export function createNewest(): Newest {
  const identities = new Map<string, AgentIdentityDoc>();
  const newestBySlot = new Map<string, Doc>();
  return {
    take(docs) {
      for (const doc of docs) {
        if (isKnown(doc) && doc.type === 'agent-identity') identities.set(doc._id, doc);
        const slot = slotOf(doc);
        const before = slot === null ? undefined : newestBySlot.get(slot);
        if (slot !== null && (!before || wins(doc, before))) newestBySlot.set(slot, doc);
      }
    },
    now() {
      const holding = [...newestBySlot.values()];
      return {
        identities: [...identities.values()],
        changes: holding.filter(isKnown).filter((doc) => doc.type === 'agent-change'),
        settings: holding.filter(isKnown).filter((doc) => doc.type === 'setting'),
        records: holding.filter(({ type }) => kindOf(type)?.isRecord === true),
      };
    },
  };
}

export const union = (a: Deciding, b: Deciding): Deciding => ({
  identities: [...a.identities, ...b.identities],
  changes: [...a.changes, ...b.changes],
  settings: [...a.settings, ...b.settings],
  records: [...a.records, ...b.records],
});

const withId = <T extends { readonly _id: string }>(doc: T) => ({ ...doc, id: doc._id });

export function rosterFrom({ identities, changes }: Pick<Deciding, 'identities' | 'changes'>): Roster {
  return rosterOf(identities.map(withId), changes.map(withId));
}

export function settingsFrom({ settings }: Pick<Deciding, 'settings'>): Settings {
  return settingsOf(settings.map(({ _id, key, value, at }) => ({ id: _id, key, value, at })));
}

// Finds what would change an agent who lives here: name, soul, seat, birth, retirement.

/** Shows a change, and holds the documents of these ids back until it is ticked. */
type Offer = (change: ImportChange, ids: Iterable<string>) => void;
type Shown = (agent: Agent) => ShownAgent;

/** The aspect that a change decides. Retiring and returning are one aspect. */
const ASPECTS = { rename: 'name', seat: 'seat', retire: 'retired', return: 'retired', soul: 'soul' } as const;
const valueOf = {
  name: ({ name }: Agent) => name,
  soul: ({ soul }: Agent) => soul,
  seat: ({ position }: Agent) => position,
  retired: ({ retired }: Agent) => retired,
};
type Aspect = keyof typeof valueOf;

const aspectTick = (aspect: Aspect, agentId: AgentId) => `${aspect}:${agentId}`;

interface Changed {
  readonly _id: string;
  readonly agentId: AgentId;
  readonly aspect: Aspect;
}
/** The part of a change that takes part in the decision. */
const changeOf = ({ _id, agentId, change }: AgentChangeDoc): Changed => ({
  _id,
  agentId,
  aspect: ASPECTS[change.kind],
});

function offerAgents(
  here: Deciding,
  file: Deciding,
  births: readonly AgentIdentityDoc[],
  changed: readonly Changed[],
  shown: Shown,
  offer: Offer,
) {
  const before = rosterFrom(here);
  const renamed = rosterFrom({ identities: here.identities, changes: union(here, file).changes });
  const reborn = rosterFrom({ identities: union(here, file).identities, changes: here.changes });
  const idsOf = (tick: string) =>
    changed.filter(({ agentId, aspect }) => aspectTick(aspect, agentId) === tick).map(({ _id }) => _id);
  for (const [agentId, agent] of before.byId) {
    const [later, other] = [renamed.byId.get(agentId), reborn.byId.get(agentId)];
    for (const aspect of ['name', 'soul', 'seat', 'retired'] as const) {
      const tick = aspectTick(aspect, agentId);
      if (!later || valueOf[aspect](agent) === valueOf[aspect](later)) continue;
      offer({ kind: 'agent', tick, what: aspect, agentId, here: shown(agent), after: shown(later) }, idsOf(tick));
    }
    const mine = births.filter((birth) => birth.agentId === agentId).map(({ _id }) => _id);
    if (
      mine.length > 0 &&
      other &&
      (other.birthName !== agent.birthName ||
        other.bornAt !== agent.bornAt ||
        other.soul !== agent.soul ||
        other.position !== agent.position)
    )
      offer({ kind: 'birth', tick: `birth:${agentId}`, agentId, here: shown(agent), after: shown(other) }, mine);
  }
}

/**
 * An agent as shown to the person. The seat is added if another agent here or in the file, or the
 * person, has a name that looks the same.
 */
function shownAmong(here: Deciding, file: Deciding): Shown {
  const both = union(here, file);
  const all = [here, file, both].flatMap((deciding) => [...rosterFrom(deciding).byId.values()]);
  const persons = [here, both].map((deciding) => settingsFrom(deciding).humanName);
  const isAlike = ({ agentId, name }: Agent) =>
    all.some((other) => other.agentId !== agentId && isSameName(other.name, name)) ||
    persons.some((person) => person !== null && isSameName(person, name));
  const seatOf = ({ agentId, position }: Agent) =>
    agentId === LEAD_ID ? 'the lead' : position === null ? 'without a seat' : `seat ${seatNumber(position)}`;
  return (agent) => {
    const { name, position, soul, retired } = agent;
    return {
      name: isAlike(agent) ? `${name} (${seatOf(agent)})` : name,
      position,
      soul,
      retired,
    };
  };
}

/** New agents that were born before the agent who has the same seat here. */
function seatsTaken(here: Deciding, file: Deciding, shown: Shown) {
  const before = rosterFrom(here);
  const isNew = ({ agentId }: { readonly agentId: AgentId }) => !before.byId.has(agentId);
  const after = rosterFrom({
    identities: [...here.identities, ...file.identities.filter(isNew)],
    changes: [...here.changes, ...file.changes.filter(isNew)],
  });
  return [...before.seats].flatMap(([position, sat]) => {
    const sits = after.seats.get(position);
    return !sits || sits.agentId === sat.agentId || !isNew(sits)
      ? []
      : [{ agentId: sits.agentId, name: shown(sits).name, position, here: shown(sat).name }];
  });
}

// Finds what would change the relay's behaviour: schedules, limits, prices, threads. A routine is a
// prompt and a script is code, so each has its tick; so has every limit and every price. Records
// older than those here change nothing. Where no team lives yet, only those records need a tick
// that act outside of the household, or allow agents to do so.

interface RecordConsent {
  /** Of documents that are not here yet, those that are records. */
  take(doc: Doc): void;
  /**
   * Documents that are never imported: the relay would refuse them, or their outer and inner agent
   * differ.
   */
  unfit(): readonly string[];
  offerAll(offer: Offer, nameOf: (agentId: AgentId) => string | null): void;
}

/** The agent that a record is about; null: the household, or none. */
function aboutWhom(record: RelayRecord): AgentId | null {
  switch (record.type) {
    case 'schedule':
      return record.value.schedule.agentId;
    case 'limits':
    case 'routine-mapping':
    case 'attempt':
    case 'memory':
    case 'exam':
      return record.value.agentId;
    case 'prices':
    case 'thread':
    case 'thread-message':
    case 'attached-server':
    case 'project':
    case 'task':
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
 * A record is left out, and forgotten, with the agent that its document names. A different agent
 * inside would escape both.
 */
const fits = (doc: Doc, record: RelayRecord | null): record is RelayRecord =>
  record !== null &&
  (record.type === 'thread-message' ||
    aboutWhom(record) === (doc['agentId'] ?? null) ||
    // Older versions of Roost stored attempts in this form.
    (record.type === 'attempt' && doc['agentId'] === undefined));

/** Whether a relay would take the record, and its outer and inner agent are one. */
export const isFitRecord = (doc: Doc): boolean => fits(doc, recordOf(doc));

const isRecordType = (type: string) => RECORD_TYPES.some((known) => known === type);
const THREADS = 'Threads';

/** Splits limits into those that allow agents more than the default, and the rest. */
const looser = (record: RecordOf<'limits'>): HeldBack => heldLimits(record, unsetLimits(record), { coordination: {} });

/** Whether it acts outside of the household, or allows agents to do so. */
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
    case 'task':
    case 'attempt':
    case 'memory':
    case 'exam':
    case 'routine-mapping':
      return false;
    // Somebody works on it, for money, its commands run, or its repository is fetched.
    case 'project': {
      const { removed, agents, reviewer, kind, setup, checks } = record.value;
      const acts = agents.length > 0 || reviewer !== null || kind === 'git' || setup !== '' || checks.length > 0;
      return !removed && acts;
    }
    default:
      return record satisfies never;
  }
}

const isOf = <Type extends RelayRecord['type']>(record: RelayRecord | null, type: Type): record is RecordOf<Type> =>
  record?.type === type;

/** `isEmpty`: no team lives here. Only what would replace something that is here needs consent. */
function createRecordConsent(here: Deciding, isEmpty: boolean): RecordConsent {
  const ownBySlot = new Map(here.records.map((doc) => [slotOf(doc), doc]));
  /** Records newer than here, by subject. */
  const coming = new Map<string, { readonly doc: Doc; readonly record: RelayRecord }[]>();
  const messagesByThread = new Map<ThreadId, { readonly ids: string[]; yours: number }>();
  /** Kinds that share one tick, by their name for people. */
  const others = new Map<string, string[]>();
  const unfit: string[] = [];
  const slotOfThread = (threadId: ThreadId) => `thread ${threadId}`;

  function takeMessage(doc: Doc, { value: { threadId, from } }: RecordOf<'thread-message'>) {
    if (isEmpty && !ownBySlot.has(slotOfThread(threadId))) return;
    const messages = messagesByThread.get(threadId) ?? { ids: [], yours: 0 };
    messages.ids.push(doc._id);
    if (from === 'human') messages.yours += 1;
    messagesByThread.set(threadId, messages);
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
      const before = ownBySlot.get(slot);
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
        const before = ownBySlot.get(slot);
        const was = before ? recordOf(before) : null;
        if (isEmpty && !before && !actsOutside(record)) continue;
        if (record.type === 'attached-server') {
          const old = isOf(was, 'attached-server') ? was.value : null;
          offer({ kind: 'mcp-server', tick: `mcp-server:${record.id}`, here: old, after: record.value }, ids);
        } else if (record.type === 'schedule') {
          const { value } = record;
          const old = isOf(was, 'schedule') ? was.value : null;
          const changesNothing = old ? isSame(old, value) || (old.removed && value.removed) : value.removed;
          const { agentId } = value.schedule;
          const change = { agentId, name: nameOf(agentId) ?? agentId, here: old, after: value };
          if (!changesNothing) offer({ kind: 'schedule', tick: `schedule:${record.id}`, ...change }, ids);
        } else if (record.type === 'project') {
          const { value } = record;
          const old = isOf(was, 'project') ? was.value : null;
          const workers = [old, value].flatMap((each) => (each ? [...each.agents, each.reviewer ?? []].flat() : []));
          const names = Object.fromEntries(workers.map((id) => [id, nameOf(id) ?? id]));
          const change = { here: old, after: value, tasks: [], names };
          const changesNothing = old ? isSame(old, value) : value.removed;
          if (!changesNothing) offer({ kind: 'project', tick: `project:${record.id}`, ...change }, ids);
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
      for (const [threadId, { ids, yours }] of messagesByThread) {
        const doc = ownBySlot.get(slotOfThread(threadId));
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

/** Every field that would change. */
function differing(was: RelayRecord | null, record: RecordOf<'limits'> | RecordOf<'prices'>): HeldBack['parts'] {
  const [old, now] = [fieldsOf(record.type, was), fieldsOf(record.type, record)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((part) => ({ part, here: old.get(part), after: now.get(part) }))
    .filter(({ here, after }) => !isSame(here, after));
}

/** By value. Both were parsed by one schema, so their fields are in the same order. */
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The current members of a thread. */
const present = (thread: RecordOf<'thread'>['value'] | null) =>
  (thread?.members ?? []).filter(({ removedAt }) => removedAt === null).map(({ agentId }) => agentId);

export interface Consents {
  readonly changes: readonly ImportChange[];
  /** The ticks that each document needs. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** The tick that all documents of an agent need. */
  readonly agents: ReadonlyMap<string, string>;
  /** Documents that are never imported: they are dated further ahead than any clock goes wrong. */
  readonly never: ReadonlySet<string>;
  /** Also never imported: this Roost cannot read them, or they are inconsistent. */
  readonly unfit: ReadonlySet<string>;
}

interface Consent {
  /** Documents of the file that are not here yet. */
  take(fresh: readonly Doc[]): void;
  result(): Consents;
}

/**
 * A tick that is never offered: for documents whose effect here is unknown, and for read marks from
 * elsewhere.
 */
const NEVER = 'never';

/** May a document be imported with these ticks? */
export const isConsented = (needs: Consents['needs'], ticks: ReadonlySet<string>, id: string): boolean =>
  needs.get(id)?.every((tick) => tick !== NEVER && ticks.has(tick)) ?? true;

/** Subjects, as named by `slotOf`, of which a version may act outside of the household. */
const MAY_ACT = /^(?:attached-server|schedule|limits|prices) /;

/**
 * Documents with the same key are decided together: all are imported, or none. null: the document
 * decides nothing.
 */
function decidedBy(doc: Doc): string | null {
  if (!isKnown(doc)) return null;
  if (doc.type === 'agent-identity') return `agent-identity ${doc.agentId}`;
  if (doc.type === 'forget') return `forget ${doc._id}`;
  if (doc.type === 'forget-undo') return `forget ${doc.forgetId}`;
  return slotOf(doc);
}

/** `now`: ms since the epoch. */
export function createConsent(here: Deciding, now: number): Consent {
  const newest = createNewest();
  const births: AgentIdentityDoc[] = [];
  const changed: Changed[] = [];
  const settings: Pick<SettingDoc, '_id' | 'key' | 'value'>[] = [];
  const forgets: ForgetDoc[] = [];
  const undos: ForgetUndoDoc[] = [];
  const queued: string[] = [];
  const edits = new Map<AgentId, string[]>();
  const newer: string[] = [];
  const ahead: string[] = [];
  /**
   * If one of them is dated ahead, the others would otherwise be imported without it, and take
   * effect.
   */
  const together = new Map<string, string[]>();
  const deciding = new Set<string>();
  const never = new Set<string>();
  let latest = 0;
  const isEmpty = here.identities.length === 0 && here.settings.length === 0;
  const residents = rosterFrom(here);
  const records = createRecordConsent(here, isEmpty);

  function takeKnown(doc: Doc) {
    if (!isKnown(doc)) newer.push(doc._id);
    else if (doc.type === 'agent-identity') births.push(doc);
    else if (doc.type === 'agent-change') changed.push(changeOf(doc));
    else if (doc.type === 'setting') settings.push({ _id: doc._id, key: doc.key, value: doc.value });
    else if (doc.type === 'forget') forgets.push(doc);
    else if (doc.type === 'forget-undo') undos.push(doc);
    else if (doc.type === 'queued-message') queued.push(doc._id);
    else if (doc.type === 'message') takeMessage(doc);
  }
  function takeMessage({ _id, agentId, replaces }: MessageDoc) {
    if (replaces !== null && residents.byId.has(agentId)) edits.set(agentId, [...(edits.get(agentId) ?? []), _id]);
  }

  return {
    take(fresh) {
      const isNever = ({ at }: Doc) => (parseStamp(at)?.time ?? 0) > now + MOST_AHEAD_MS;
      for (const { _id } of fresh.filter(isNever)) never.add(_id);
      const possible = fresh.filter((doc) => !isNever(doc));
      newest.take(possible);
      for (const doc of possible) {
        const time = parseStamp(doc.at)?.time ?? 0;
        if (time > now + MAX_AHEAD_MS) {
          ahead.push(doc._id);
          latest = Math.max(latest, time);
        }
        const decided = decidedBy(doc);
        if (decided !== null) {
          // A household writes a document once. With two under one id, the preview might show one
          // and the import take the other.
          if (deciding.has(doc._id)) throw new ExportError('damaged', DAMAGED);
          deciding.add(doc._id);
          together.set(decided, [...(together.get(decided) ?? []), doc._id]);
        }
        records.take(doc);
        if (!isEmpty) takeKnown(doc);
      }
    },
    result() {
      const changes: ImportChange[] = [];
      const needs = new Map<string, readonly string[]>();
      const agents = new Map<string, string>();
      for (const id of never) needs.set(id, [NEVER]);
      const offer: Offer = (change, ids) => {
        changes.push(change);
        for (const id of ids) needs.set(id, [...(needs.get(id) ?? []), change.tick]);
      };
      const file = newest.now();
      const shown = shownAmong(here, file);
      const nameOf = (agentId: AgentId) => {
        const agent = residents.byId.get(agentId);
        return agent ? shown(agent).name : null;
      };
      const unfit = new Set(records.unfit());
      if (!isEmpty) {
        offerAgents(here, file, births, changed, shown, offer);
        for (const { agentId, name, position, here: sits } of seatsTaken(here, file, shown)) {
          const tick = `takes-seat:${agentId}`;
          changes.push({ kind: 'takes-seat', tick, agentId, name, position, here: sits });
          agents.set(agentId, tick);
        }
        offerSettings(here, file, settings, offer);
        for (const { _id, key, value } of settings) {
          // A new agent brings its look along. The look of an agent who lives here is chosen here.
          const of = appearanceOf({ key, value });
          if (!isSettingValue(key, value) && (of === null || residents.byId.has(of))) needs.set(_id, [NEVER]);
        }
        const effective = new Set(
          [...pendingForgets(forgets, undos, now), ...finalForgets(forgets, undos, now)].map(({ _id }) => _id),
        );
        for (const { _id, target, finalAt } of forgets) {
          const ids = [_id, ...undos.filter(({ forgetId }) => forgetId === _id).map((undo) => undo._id)];
          if (effective.has(_id))
            offer(
              {
                kind: 'forget',
                tick: `forget:${_id}`,
                agentId: target.agentId,
                name: target.agentId === null ? null : nameOf(target.agentId),
                what: target.kind,
                finalAt,
              },
              ids,
            );
        }
        for (const { _id, forgetId } of undos)
          if (!forgets.some((forget) => forget._id === forgetId))
            offer({ kind: 'keep', tick: `keep:${forgetId}` }, [_id]);
        for (const [agentId, ids] of edits)
          offer(
            {
              kind: 'edits',
              tick: `edits:${agentId}`,
              agentId,
              name: nameOf(agentId) ?? agentId,
              messages: ids.length,
            },
            ids,
          );
        if (queued.length > 0) offer({ kind: 'queued', tick: 'queued', messages: queued.length }, queued);
        if (newer.length > 0) offer({ kind: 'newer', tick: 'newer', documents: newer.length }, newer);
      }
      const inFile = rosterFrom(file);
      records.offerAll(offer, (agentId) => {
        const agent = inFile.byId.get(agentId);
        return nameOf(agentId) ?? (agent ? shown(agent).name : null);
      });
      for (const id of unfit) needs.set(id, [NEVER]);
      const isAhead = new Set(ahead);
      // Where no team lives, this applies to documents that may act by themselves.
      const held = [...together]
        .filter(([decided, ids]) => (!isEmpty || MAY_ACT.test(decided)) && ids.some((id) => isAhead.has(id)))
        .flatMap(([, ids]) => ids);
      if (ahead.length > 0)
        offer({ kind: 'ahead', tick: 'ahead', documents: ahead.length, latest }, new Set([...ahead, ...held]));
      return { changes, needs, agents, never, unfit };
    },
  };
}

function offerSettings(
  here: Deciding,
  file: Deciding,
  fresh: readonly Pick<SettingDoc, '_id' | 'key' | 'value'>[],
  offer: Offer,
) {
  const [now, after] = [settingsFrom(here), settingsFrom(union(here, file))];
  const set = new Set(here.settings.map(({ key }) => key));
  const altered = (Object.keys(now) as SettingKey[]).filter((key) => !Object.is(now[key], after[key]));
  for (const key of altered)
    offer(
      { kind: 'setting', tick: `setting:${key}`, key, here: now[key], file: after[key], isDefaultHere: !set.has(key) },
      fresh.filter((doc) => doc.key === key).map(({ _id }) => _id),
    );
}
