/**
 * What of a file would change what is here: a name, a soul, a setting, a routine, a forgetting,
 * words in the person's name. A file may be more than it says, so nothing of this comes with the
 * rest: each change waits for a tick of its own. Where nobody lives yet there is nothing to change,
 * and a copy comes back whole.
 */
import { finalForgets, pendingForgets } from '../../../shared/domain/forgetting.ts';
import { lookOf } from '../../../shared/domain/choices.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isSettingValue, type SettingKey } from '../../../shared/domain/settings.ts';
import { MAX_AHEAD_MS, MOST_AHEAD_MS, parseStamp } from '../../../shared/domain/stamp.ts';
import type {
  AgentIdentityDoc,
  Doc,
  ForgetDoc,
  ForgetUndoDoc,
  MessageDoc,
  SettingDoc,
} from '../../../shared/protocol/documents.ts';
import { isKnown, slotOf } from '../../../shared/protocol/documents/kinds.ts';
import { ArchiveError, DAMAGED } from '../problem.ts';
import type { ArchiveChange } from '../types.ts';
import { changeOf, offerAgents, seatsTaken, shownAmong, type Changed, type Offer } from './consent-agents.ts';
import { createRecordConsent } from './consent-records.ts';
import { createNewest, rosterFrom, settingsFrom, union, type Deciding } from './newest.ts';

export interface Consents {
  readonly changes: readonly ArchiveChange[];
  /** By document: the ticks without which it is not taken. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** By agent: the tick without which nothing of it is taken. */
  readonly agents: ReadonlyMap<string, string>;
  /** Documents that are never taken: they are dated further ahead than any clock goes wrong. */
  readonly never: ReadonlySet<string>;
  /** Nor are these: this Roost cannot read what they say, or it does not fit together. */
  readonly unfit: ReadonlySet<string>;
}

export interface Consent {
  /** Documents of the file that are not here yet. */
  take(fresh: readonly Doc[]): void;
  result(): Consents;
}

/**
 * Of what nobody can say what it would change here, and of how far was read elsewhere: it is not
 * offered.
 */
const NEVER = 'never';

/** May a document come, with these ticks? */
export const isConsented = (needs: Consents['needs'], ticks: ReadonlySet<string>, id: string): boolean =>
  needs.get(id)?.every((tick) => tick !== NEVER && ticks.has(tick)) ?? true;

/** The things, as `slotOf` names them, of which a version may act outside of the household. */
const MAY_ACT = /^(?:attached-server|schedule|limits|prices) /;

/** What is decided together: of these documents all come, or none. null: it decides nothing. */
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
   * Where one of them is dated ahead, those that are not would otherwise come without it, and hold.
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
          // A household writes a document once. Of two under one id, what is shown might be one,
          // and what comes the other.
          if (deciding.has(doc._id)) throw new ArchiveError('damaged', DAMAGED);
          deciding.add(doc._id);
          together.set(decided, [...(together.get(decided) ?? []), doc._id]);
        }
        records.take(doc);
        if (!isEmpty) takeKnown(doc);
      }
    },
    result() {
      const changes: ArchiveChange[] = [];
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
          // Who is new comes as they look; the look of who lives here is chosen here.
          const of = lookOf({ key, value });
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
                name: nameOf(target.agentId),
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
      // Where nobody lives, this holds for what may act alone.
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
