/**
 * Agents: identities, and the changes recorded for them.
 *
 * Records are append-only. An identity is written once, at birth. A rename, a new seat, a
 * retirement or a later soul is a further record, and the newest by (stamp, id) wins. Every device
 * derives the same team from any union of two households' records.
 */
import { AGENT_COLORS, NO_CHOICE, type AgentChoice } from './choices.ts';
import type { AgentId, SessionId } from './ids.ts';
import { alikeOf, shownName } from './names.ts';
import { isSeatPosition, LEAD_ID, LEAD_POSITION, seatColor, SEAT_ORDER, type SeatPosition } from './seat.ts';
import type { Stamp } from './stamp.ts';

export interface Identity {
  readonly id: string;
  readonly agentId: AgentId;
  readonly name: string;
  readonly color: string;
  readonly colorName: string;
  readonly position: number;
  /**
   * The soul: the full text of the agent's first words. Empty for a lead that has not written one
   * yet.
   */
  readonly individuationArtifact: string;
  /** ms since the epoch */
  readonly bornAt: number;
  readonly bornSessionId: SessionId | null;
}

export type ChangeKind =
  | { readonly kind: 'rename'; readonly name: string }
  | { readonly kind: 'seat'; readonly position: number | null }
  | { readonly kind: 'retire' }
  | { readonly kind: 'return' }
  | { readonly kind: 'soul'; readonly individuationArtifact: string };

export interface AgentChange {
  readonly id: string;
  readonly agentId: AgentId;
  readonly at: Stamp;
  readonly change: ChangeKind;
}

/** An agent's current state: its identity with the newest change of each kind applied. */
export interface Agent {
  readonly agentId: AgentId;
  readonly name: string;
  readonly birthName: string;
  /**
   * What the face is drawn from: the name at birth, so that a rename keeps the face, or the face
   * that the person chose.
   */
  readonly face: string;
  /** The model that the person chose for this agent. Empty: the household's model. */
  readonly model: string;
  readonly color: string;
  readonly colorName: string;
  /** The seat the agent asks for. `Roster.seats` says whether the agent has it. */
  readonly position: number | null;
  readonly soul: string;
  readonly bornAt: number;
  /** The session in which the agent wrote its first words. Null: it was born outside a session. */
  readonly bornSessionId: SessionId | null;
  readonly retired: boolean;
}

export interface Roster {
  readonly lead: Agent | null;
  readonly seats: ReadonlyMap<SeatPosition, Agent>;
  /** Agents whose seat is taken. The agent born earlier has the seat. */
  readonly waiting: readonly Agent[];
  readonly retired: readonly Agent[];
  readonly byId: ReadonlyMap<string, Agent>;
  /**
   * Ids of agents whose name looks like another agent's or the person's. The page shows them with
   * their colour.
   */
  readonly alike: ReadonlySet<string>;
}

/** Both agents must have different ids. */
const byAge = (a: { bornAt: number; agentId: AgentId }, b: { bornAt: number; agentId: AgentId }) =>
  a.bornAt - b.bornAt || (a.agentId < b.agentId ? -1 : 1);

/**
 * The newest change of each kind, by (stamp, id). Retiring and returning count as one kind: the
 * later one wins.
 */
function newestChanges(changes: readonly AgentChange[]): Map<string, AgentChange> {
  const newest = new Map<string, AgentChange>();
  for (const change of changes) {
    const slot = change.change.kind === 'return' ? 'retire' : change.change.kind;
    const held = newest.get(slot);
    if (!held || change.at > held.at || (change.at === held.at && change.id > held.id)) newest.set(slot, change);
  }
  return newest;
}

/** Resolves one agent from its identity and all its changes, in any order. */
export function resolveAgent(
  identity: Identity,
  changes: readonly AgentChange[],
  choice: AgentChoice = NO_CHOICE,
): Agent {
  const newest = newestChanges(changes);
  const rename = newest.get('rename')?.change;
  const seat = newest.get('seat')?.change;
  const soul = newest.get('soul')?.change;
  const position = seat?.kind === 'seat' ? seat.position : identity.position;
  const given = AGENT_COLORS.find(({ color }) => color === choice.color);
  const colors = given ?? (isSeatPosition(position) ? seatColor(position) : identity);
  return {
    agentId: identity.agentId,
    name: shownName(
      rename?.kind === 'rename' ? rename.name : identity.name,
      identity.agentId === LEAD_ID ? 'lead' : 'agent',
    ),
    birthName: identity.name,
    face: choice.face === '' ? identity.name : choice.face,
    model: choice.model,
    color: colors.color,
    colorName: colors.colorName,
    position,
    soul: soul?.kind === 'soul' ? soul.individuationArtifact : identity.individuationArtifact,
    bornAt: identity.bornAt,
    bornSessionId: identity.bornSessionId,
    retired: newest.get('retire')?.change.kind === 'retire',
  };
}

/**
 * Derives the team from all identities and changes of a replica. Order and duplicates of the input
 * do not matter.
 *
 * `person` is the person's name. `choices` holds what the person chose for each agent.
 */
export function rosterOf(
  identities: readonly Identity[],
  changes: readonly AgentChange[],
  person: string | null = null,
  choices: ReadonlyMap<string, AgentChoice> = new Map(),
): Roster {
  const changesOf = new Map<string, AgentChange[]>();
  for (const change of changes) {
    const list = changesOf.get(change.agentId);
    if (list) list.push(change);
    else changesOf.set(change.agentId, [change]);
  }
  // Two devices may both have named the lead. It is one agent, and the earliest identity wins.
  const firstIdentity = new Map<string, Identity>();
  for (const identity of identities) {
    const held = firstIdentity.get(identity.agentId);
    if (!held || identity.bornAt < held.bornAt || (identity.bornAt === held.bornAt && identity.id < held.id))
      firstIdentity.set(identity.agentId, identity);
  }
  const agents = [...firstIdentity.values()]
    .map((identity) => resolveAgent(identity, changesOf.get(identity.agentId) ?? [], choices.get(identity.agentId)))
    .sort(byAge);

  const seats = new Map<SeatPosition, Agent>();
  const waiting: Agent[] = [];
  const retired: Agent[] = [];
  let lead: Agent | null = null;
  for (const agent of agents) {
    if (agent.agentId === LEAD_ID) lead = { ...agent, position: LEAD_POSITION };
    else if (agent.retired) retired.push(agent);
    else if (isSeatPosition(agent.position) && !seats.has(agent.position)) seats.set(agent.position, agent);
    else waiting.push(agent);
  }
  const byId = new Map(agents.map((agent) => [agent.agentId, agent]));
  if (lead) byId.set(LEAD_ID, lead);
  return { lead, seats, waiting, retired, byId, alike: alikeOf([...byId.values()], person) };
}

export function emptySeats(roster: Roster): SeatPosition[] {
  return SEAT_ORDER.filter((position) => !roster.seats.has(position));
}

/** The name as people read it. It includes the seat's colour where two names look alike. */
export function displayName(agent: Agent, roster: Roster): string {
  return roster.alike.has(agent.agentId) ? `${agent.name} (${agent.colorName})` : agent.name;
}
