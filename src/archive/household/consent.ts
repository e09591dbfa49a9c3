/**
 * What of a file would change what is here: a name, a soul, a setting, a forgetting, words in the person's name. A file may be more
 * than it says, so nothing of this comes with the rest: each change waits for a tick of its own. Where nobody lives yet there is
 * nothing to change, and a copy comes back whole.
 */
import { finalForgets, pendingForgets } from '../../domain/forgetting.ts';
import type { Agent } from '../../domain/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { isSameName } from '../../domain/names.ts';
import { LEAD_ID, seatNumber } from '../../domain/seat.ts';
import { isSettingValue, type SettingKey } from '../../domain/settings.ts';
import { MAX_AHEAD_MS, MOST_AHEAD_MS, parseStamp } from '../../domain/stamp.ts';
import type {
  AgentChangeDoc,
  AgentIdentityDoc,
  Doc,
  ForgetDoc,
  ForgetUndoDoc,
  MessageDoc,
  SettingDoc,
} from '../../protocol/documents.ts';
import { isKnown, kindOf } from '../../protocol/known.ts';
import type { ArchiveChange, ShownAgent } from '../types.ts';
import { createNewest, rosterFrom, settingsFrom, union, type Deciding } from './newest.ts';

export interface Consents {
  readonly changes: readonly ArchiveChange[];
  /** By document: the ticks without which it is not taken. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** By agent: the tick without which nothing of it is taken. */
  readonly agents: ReadonlyMap<string, string>;
  /** Documents that are never taken: they are dated further ahead than any clock goes wrong. */
  readonly never: ReadonlySet<string>;
}

export interface Consent {
  /** Documents of the file that are not here yet. */
  take(fresh: readonly Doc[]): void;
  result(): Consents;
}

/** Of settings that this Roost does not know, and of how far was read elsewhere: nobody can say what they would change here, so they are not offered. */
const NEVER = 'never';

/** May a document come, with these ticks? */
export const isConsented = (needs: Consents['needs'], ticks: ReadonlySet<string>, id: string): boolean =>
  needs.get(id)?.every((tick) => tick !== NEVER && ticks.has(tick)) ?? true;
/** As it decides: retiring and returning are one. */
const ASPECTS = { rename: 'name', seat: 'seat', retire: 'retired', return: 'retired', soul: 'soul' } as const;
const valueOf = {
  name: ({ name }: Agent) => name,
  soul: ({ soul }: Agent) => soul,
  seat: ({ position }: Agent) => position,
  retired: ({ retired }: Agent) => retired,
};
type Aspect = keyof typeof valueOf;

const aspectTick = (aspect: Aspect, agentId: AgentId) => `${aspect}:${agentId}`;

/** `now`: ms since the epoch. */
// In one piece: every document is held against the same choices.
export function createConsent(here: Deciding, now: number): Consent {
  const newest = createNewest();
  const births: AgentIdentityDoc[] = [];
  const changed: { readonly _id: string; readonly agentId: AgentId; readonly aspect: Aspect }[] = [];
  const settings: Pick<SettingDoc, '_id' | 'key' | 'value'>[] = [];
  const forgets: ForgetDoc[] = [];
  const undos: ForgetUndoDoc[] = [];
  const queued: string[] = [];
  const edits = new Map<string, string[]>();
  /** Of kinds that come in only where the person agrees, by what they are to people. */
  const records = new Map<string, string[]>();
  const ahead: string[] = [];
  const never = new Set<string>();
  let latest = 0;
  const isEmpty = here.identities.length === 0 && here.settings.length === 0;
  const residents = rosterFrom(here);

  function takeKnown(doc: Extract<Doc, { _id: string }>) {
    if (!isKnown(doc)) return;
    const what = kindOf(doc.type)?.consent;
    if (what !== undefined) records.set(what, [...(records.get(what) ?? []), doc._id]);
    if (doc.type === 'agent-identity') births.push(doc);
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
        if (!isEmpty) takeKnown(doc);
      }
    },
    result() {
      const changes: ArchiveChange[] = [];
      const needs = new Map<string, readonly string[]>();
      const agents = new Map<string, string>();
      for (const id of never) needs.set(id, [NEVER]);
      const offer = (change: ArchiveChange, ids: Iterable<string>) => {
        changes.push(change);
        for (const id of ids) needs.set(id, [...(needs.get(id) ?? []), change.tick]);
      };
      if (!isEmpty) {
        const file = newest.now();
        const shown = shownAmong(here, file);
        const nameOf = (agentId: AgentId) => {
          const agent = residents.byId.get(agentId);
          return agent ? shown(agent).name : null;
        };
        offerAgents(here, file, births, changed, shown, offer);
        for (const { agentId, name, position, here: sits } of seatsTaken(here, file, shown)) {
          const tick = `takes-seat:${agentId}`;
          changes.push({ kind: 'takes-seat', tick, agentId, name, position, here: sits });
          agents.set(agentId, tick);
        }
        offerSettings(here, file, settings, offer);
        for (const { _id, key, value } of settings) if (!isSettingValue(key, value)) needs.set(_id, [NEVER]);
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
        for (const [what, ids] of records)
          offer({ kind: 'records', tick: `records:${what}`, what, documents: ids.length }, ids);
        if (queued.length > 0) offer({ kind: 'queued', tick: 'queued', messages: queued.length }, queued);
      }
      if (ahead.length > 0) offer({ kind: 'ahead', tick: 'ahead', documents: ahead.length, latest }, ahead);
      return { changes, needs, agents, never };
    },
  };
}

const changeOf = ({ _id, agentId, change }: AgentChangeDoc) => ({ _id, agentId, aspect: ASPECTS[change.kind] });

type Offer = (change: ArchiveChange, ids: Iterable<string>) => void;

function offerAgents(
  here: Deciding,
  file: Deciding,
  births: readonly AgentIdentityDoc[],
  changed: readonly { readonly _id: string; readonly agentId: AgentId; readonly aspect: Aspect }[],
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

type Shown = (agent: Agent) => ShownAgent;

/** Where another is called so too, here or in the file, to the eye, or the person is, with the seat. */
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
      soulChars: soul.length,
      retired,
    };
  };
}

/** Who comes new and was born before somebody who sits, in the same seat. */
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
