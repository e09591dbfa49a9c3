/**
 * Who the agents are: identities and the changes written after them.
 *
 * Nothing is overwritten. An identity is written once, at birth; a rename, a new seat, retiring or
 * a later soul are further records, and the newest by (stamp, id) is what shows. Any union of two
 * households' records gives every device the same team.
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

/** An agent as it stands now: its identity with the newest of each kind of change on top. */
export interface Agent {
  readonly agentId: AgentId;
  readonly name: string;
  readonly birthName: string;
  /**
   * What the face is drawn from: the name it chose at birth, so that a rename keeps the face, or
   * what the person chose.
   */
  readonly face: string;
  /** The model that the person chose for it; empty: the household's. */
  readonly model: string;
  readonly color: string;
  readonly colorName: string;
  /** The seat it asks for; `Roster.seats` says whether it has it. */
  readonly position: number | null;
  readonly soul: string;
  readonly bornAt: number;
  /** The session in which it wrote its first words; null: born outside of one. */
  readonly bornSessionId: SessionId | null;
  readonly retired: boolean;
}

export interface Roster {
  readonly lead: Agent | null;
  readonly seats: ReadonlyMap<SeatPosition, Agent>;
  /** Agents that want a seat somebody else has: the earlier born sits. */
  readonly waiting: readonly Agent[];
  readonly retired: readonly Agent[];
  readonly byId: ReadonlyMap<string, Agent>;
  /**
   * Ids of those who share their name, to the eye, with somebody else, or have the person's: they
   * are shown with their colour.
   */
  readonly alike: ReadonlySet<string>;
}

/** Only for agents of different ids. */
const byAge = (a: { bornAt: number; agentId: AgentId }, b: { bornAt: number; agentId: AgentId }) =>
  a.bornAt - b.bornAt || (a.agentId < b.agentId ? -1 : 1);

/**
 * The newest of each kind, by (stamp, id). Retiring and returning are one kind: the later one
 * holds.
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

/** One agent from its identity and all changes written about it, in any order. */
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
 * The team from every identity and change a replica holds. Order and repetition of the input do not
 * matter. `person`: what the person is called; `choices`: what they chose for each agent.
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
  // The lead may have been named on two devices: one agent, the earliest identity holds.
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

/** What people read: the name, with the seat's colour where two share one, to the eye. */
export function displayName(agent: Agent, roster: Roster): string {
  return roster.alike.has(agent.agentId) ? `${agent.name} (${agent.colorName})` : agent.name;
}
