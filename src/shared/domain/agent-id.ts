/**
 * What can be the id of an agent. Ids come from files, other devices and other programs, and stand
 * beside names that mean somebody else: the person, the relay. Wherever an id enters, this is
 * asked; the schemas of src/shared/protocol all ask it.
 */
import { LEAD_ID } from './seat.ts';

declare const brand: unique symbol;
/** A text that was found to be an agent’s id; the lead’s is one. */
export type AgentId = string & { readonly [brand]: 'agent-id' };

/** Longest id, in characters. */
export const AGENT_ID_MAX = 128;

/** Who speaks without being an agent. */
const SPEAKERS = ['human', 'relay'] as const;
export type Speaker = (typeof SPEAKERS)[number];

/**
 * What every object has under its name: as a key of a plain object such an id would be somebody
 * from the start.
 */
const INHERITED = [...Object.getOwnPropertyNames(Object.prototype), 'prototype'];
const RESERVED: ReadonlySet<string> = new Set([...SPEAKERS, LEAD_ID, ...INHERITED].map((name) => name.toLowerCase()));
/** Nothing that cannot be seen, no line breaks, and no space at either end. */
const FORM = /^(?! )(?:[^\p{C}\p{Z}]| )+(?<! )$/u;

/** Ids of applications begin so (applications.ts). */
const APPLICATIONS = 'app:';
/** Compared as they look: `HUMAN` and `ｈｕｍａｎ` are no ids of agents either. */
function isReserved(id: string): boolean {
  const folded = id.normalize('NFKC').toLowerCase();
  return RESERVED.has(folded) || folded.startsWith(APPLICATIONS);
}

/** Is this the lead's id, or one that an agent can have? */
export function isAgentId(id: string): id is AgentId {
  return id === LEAD_ID || (id.length <= AGENT_ID_MAX && FORM.test(id) && !isReserved(id));
}

const isApplication = (id: string) =>
  id.startsWith(APPLICATIONS) && id.length > APPLICATIONS.length && id.length <= AGENT_ID_MAX && FORM.test(id);

/**
 * Can this stand as the author of a message: an agent, the person, the relay, or an application?
 */
export const isAuthor = (id: string): boolean =>
  SPEAKERS.some((speaker) => speaker === id) || isAgentId(id) || isApplication(id);
