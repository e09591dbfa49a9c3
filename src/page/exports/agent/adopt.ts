/** Turns an agent that was read from a file into the documents with which it lives here. */
import type { Agent, ChangeKind } from '../../../shared/domain/agent.ts';
import { appearanceKey } from '../../../shared/domain/choices.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID, seatColor, type SeatPosition } from '../../../shared/domain/seat.ts';
import { MAX_AHEAD_MS, parseStamp, type Clock } from '../../../shared/domain/stamp.ts';
import {
  parseDocument,
  type AgentChangeDoc,
  type AgentIdentityDoc,
  type Doc,
} from '../../../shared/protocol/documents.ts';
import { isKnown, kindOf, SCHEMA_VERSION } from '../../../shared/protocol/documents/kinds.ts';
import { createNewest, rosterFrom } from '../household/consent.ts';
import type { ParsedAgent } from '../types.ts';

/**
 * Derives new ids for a copy's documents, so that the copy can live beside the original. The ids
 * are the same each time.
 */

/** Fields with the id of one of the agent's own documents or messages. */
const OWN_IDS = ['messageId', 'replaces', 'clientId'];

function createRekey(from: string, to: string): (doc: Doc) => Doc {
  // The ids of a copy of a copy are no longer than those of the first copy.
  const rekeyed = (id: string) => `${id.endsWith(`~${from}`) ? id.slice(0, -from.length - 1) : id}~${to}`;
  return (doc) => {
    if (isKnown(doc) && doc.type === 'setting')
      return parseDocument({ ...doc, _id: rekeyed(doc._id), key: appearanceKey(doc.key, to) });
    const copy: Record<string, unknown> = { ...doc, _id: rekeyed(doc._id), agentId: to };
    if (isKnown(doc) && doc.type === 'memory') {
      const recordId = rekeyed(doc.recordId);
      // The id that the relay's own record of this version has.
      Object.assign(copy, { _id: `memory:${recordId}:${doc.at}`, recordId, value: { ...doc.value, agentId: to } });
    }
    if (doc.type === 'agent-identity') copy['_id'] = `agent-identity:${to}`;
    if (copy['author'] === from) copy['author'] = to;
    for (const field of OWN_IDS) if (typeof copy[field] === 'string') copy[field] = rekeyed(copy[field]);
    return parseDocument(copy);
  };
}

export type Adoption =
  /**
   * The same agent under its own id. If it lives here already, only missing documents are added.
   * null keeps its name or seat. `parsed.agentId` must be neither null nor the lead's. An agent
   * that was forgotten here for good does not return this way (`OwnerCalls.compare` says so), but
   * as a copy.
   */
  | {
      readonly as: 'itself';
      readonly parsed: ParsedAgent;
      readonly name: string | null;
      readonly position: SeatPosition | null;
      /**
       * The household's clock. It follows the adopted documents, so that changes made now take
       * effect.
       */
      readonly clock: Clock;
      readonly newId: () => string;
    }
  /**
   * A new agent under the id `agentId`: either the first life of a handwritten soul, or a copy of
   * the agent in the folder with all its memories, beside the original. The same `agentId` yields
   * documents with the same ids.
   */
  | {
      readonly as: 'new';
      readonly parsed: ParsedAgent;
      readonly agentId: AgentId;
      readonly name: string;
      readonly position: SeatPosition;
      /**
       * ms since the epoch: when a handwritten soul begins to live. A copy keeps the birthday of
       * the original.
       */
      readonly now: number;
      readonly clock: Clock;
    };

/**
 * The documents to append, oldest first; changes made now come last. Throws where `as: 'itself'`
 * has no identity.
 */
export function adopt(adoption: Adoption): Doc[] {
  if (adoption.as === 'new') return asNew({ ...adoption, parsed: withoutAhead(adoption.parsed, adoption.now) });
  for (const doc of adoption.parsed.documents) adoption.clock.follow(doc.at);
  return asItself(adoption);
}

function asNew(adoption: Extract<Adoption, { as: 'new' }>): Doc[] {
  const { parsed, clock } = adoption;
  for (const doc of parsed.documents) clock.follow(doc.at);
  return parsed.agentId === null ? [firstLife(adoption)] : asCopy(adoption, parsed.agentId);
}

/**
 * A copy changes no agent who is here. But documents dated ahead would move this household's clock,
 * which nobody consented to.
 */
function withoutAhead(parsed: ParsedAgent, now: number): ParsedAgent {
  const documents = parsed.documents.filter(({ at }) => (parseStamp(at)?.time ?? 0) <= now + MAX_AHEAD_MS);
  return documents.some(({ type }) => type === 'agent-identity')
    ? { ...parsed, documents }
    : { ...parsed, agentId: null, documents: [] };
}

/** Number of documents that a copy of this agent lacks because they are dated ahead. */
export const aheadOf = (parsed: ParsedAgent, now: number): number =>
  parsed.documents.length - withoutAhead(parsed, now).documents.length;

/** The agent as its folder describes it. */
function agentIn(docs: readonly Doc[], agentId: AgentId | null): Agent {
  const newest = createNewest();
  newest.take(docs);
  const agent = agentId === null ? undefined : rosterFrom(newest.now()).byId.get(agentId);
  if (!agent) throw new TypeError('A soul that was never anybody cannot be adopted as itself.');
  return agent;
}

function changeDoc(_id: string, agentId: AgentId, clock: Clock, change: ChangeKind): AgentChangeDoc {
  return { _id, type: 'agent-change', schema: SCHEMA_VERSION, at: clock.next(), agentId, change: { ...change } };
}

function asItself({ parsed, name, position, clock, newId }: Extract<Adoption, { as: 'itself' }>): Doc[] {
  // There is one lead, and it is named here. Another household's lead is adopted as a new agent.
  if (parsed.agentId === LEAD_ID) throw new TypeError('A lead is not adopted as itself.');
  const agent = agentIn(parsed.documents, parsed.agentId);
  const changes: ChangeKind[] = [];
  if (parsed.soul !== agent.soul) changes.push({ kind: 'soul', individuationArtifact: parsed.soul });
  if (name !== null && name !== agent.name) changes.push({ kind: 'rename', name });
  if (position !== null && position !== agent.position) changes.push({ kind: 'seat', position });
  if (position !== null && agent.retired) changes.push({ kind: 'return' });
  return [
    ...parsed.documents,
    ...changes.map((change) => changeDoc(`agent-change:${newId()}`, agent.agentId, clock, change)),
  ];
}

function firstLife({
  parsed,
  agentId,
  name,
  position,
  now,
  clock,
}: Extract<Adoption, { as: 'new' }>): AgentIdentityDoc {
  return {
    _id: `agent-identity:${agentId}`,
    type: 'agent-identity',
    schema: SCHEMA_VERSION,
    at: clock.next(),
    agentId,
    name,
    ...seatColor(position),
    position,
    individuationArtifact: parsed.soul,
    bornAt: now,
    bornSessionId: null,
  };
}

function asCopy(
  { parsed, agentId, name, position, clock }: Extract<Adoption, { as: 'new' }>,
  originalId: string,
): Doc[] {
  const rekey = createRekey(originalId, agentId);
  const birth = birthOf(parsed.documents);
  const docs: Doc[] = [];
  for (const doc of parsed.documents) {
    // All agents that took part share the session.
    if (kindOf(doc.type)?.whose === 'everybody') docs.push(doc);
    // A queued message was meant for the original, and would be sent a second time.
    else if (doc.type !== 'queued-message' && !isAboutSeat(doc) && (doc.type !== 'agent-identity' || doc._id === birth))
      docs.push(seated(rekey(doc), position));
  }
  const agent = agentIn(docs, agentId);
  const changes: ChangeKind[] = [];
  if (parsed.soul !== agent.soul) changes.push({ kind: 'soul', individuationArtifact: parsed.soul });
  if (name !== agent.name) changes.push({ kind: 'rename', name });
  return [
    ...docs,
    ...changes.map((change) => changeDoc(`agent-change:${agentId}:${change.kind}`, agentId, clock, change)),
  ];
}

/** Whether and where the original sat does not apply to the copy. */
const isAboutSeat = (doc: Doc) =>
  isKnown(doc) && doc.type === 'agent-change' && ['seat', 'retire', 'return'].includes(doc.change.kind);

/** A lead may have been named on two devices. The first name holds. */
function birthOf(docs: readonly Doc[]): string | undefined {
  const births = docs.filter(isKnown).filter((doc) => doc.type === 'agent-identity');
  return births.sort((a, b) => a.bornAt - b.bornAt || (a._id < b._id ? -1 : 1))[0]?._id;
}

function seated(doc: Doc, position: SeatPosition): Doc {
  return doc.type === 'agent-identity' ? parseDocument({ ...doc, position, ...seatColor(position) }) : doc;
}
