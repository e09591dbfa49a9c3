/**
 * Which texts can be an agent's id.
 *
 * Ids come from files, other devices and API clients, next to reserved names such as the person's
 * and the relay's. Every entry point checks ids with this module; all schemas in
 * src/shared/protocol use it.
 */
import { LEAD_ID } from './seat.ts';

declare const brand: unique symbol;
/** A text that passed `isAgentId`. The lead's id is one too. */
export type AgentId = string & { readonly [brand]: 'agent-id' };

/** Maximum length of an id, in characters. */
export const AGENT_ID_MAX = 128;

/** Speakers that are not agents. */
const SPEAKERS = ['human', 'relay'] as const;
export type Speaker = (typeof SPEAKERS)[number];

/**
 * Names that every object inherits. As a key of a plain object, such an id would already have a
 * value.
 */
const INHERITED = [...Object.getOwnPropertyNames(Object.prototype), 'prototype'];
const RESERVED: ReadonlySet<string> = new Set([...SPEAKERS, LEAD_ID, ...INHERITED].map((name) => name.toLowerCase()));
/** No invisible characters, no line breaks, and no space at either end. */
const FORM = /^(?! )(?:[^\p{C}\p{Z}]| )+(?<! )$/u;

/** Prefixes of the ids of applications and webhooks (applications.ts). */
const OUTSIDERS = ['app:', 'hook:'];
/** Compares ids by how they look: `HUMAN` and `ｈｕｍａｎ` are reserved as well. */
function isReserved(id: string): boolean {
  const folded = id.normalize('NFKC').toLowerCase();
  return RESERVED.has(folded) || OUTSIDERS.some((prefix) => folded.startsWith(prefix));
}

/** Whether this is the lead's id, or an id that an agent may have. */
export function isAgentId(id: string): id is AgentId {
  return id === LEAD_ID || (id.length <= AGENT_ID_MAX && FORM.test(id) && !isReserved(id));
}

const isOutsider = (id: string) =>
  OUTSIDERS.some((prefix) => id.startsWith(prefix) && id.length > prefix.length) &&
  id.length <= AGENT_ID_MAX &&
  FORM.test(id);

/**
 * Whether this id can be the author of something: an agent, the person, the relay, an application
 * or a webhook.
 */
export const isAuthor = (id: string): boolean =>
  SPEAKERS.some((speaker) => speaker === id) || isAgentId(id) || isOutsider(id);
