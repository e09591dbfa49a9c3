/**
 * What the person asked to forget, and from when it is final.
 *
 * A request is a record, and withdrawing it is another one. Time decides the rest. Every device
 * that has both records comes to the same result.
 */
import type { AgentId } from './ids.ts';
import { parseStamp, type Stamp } from './stamp.ts';

/** ms from the request to forget an agent until it is final: 30 days. Nothing restores it after. */
export const FORGET_AFTER = 30 * 24 * 60 * 60 * 1000;
/** The same for everything else: the request can be undone, and is carried out after that. */
export const FORGET_SOON = 10_000;

export type ForgetTarget =
  /** Everything about an agent, whenever it was written. */
  | { readonly kind: 'agent'; readonly agentId: AgentId }
  /** The agent's conversation before the request. */
  | { readonly kind: 'conversation'; readonly agentId: AgentId }
  /** What was said from `from` until before `to`, in ms since the epoch. Null: to anybody. */
  | { readonly kind: 'span'; readonly agentId: AgentId | null; readonly from: number; readonly to: number }
  /**
   * What mentions a person or a page, or what a tool answered. `sources`: hashes of the ids of
   * documents, of lines of memories, and of rows at the relay. No text of it remains.
   */
  | {
      readonly kind: 'items';
      readonly what: 'words' | 'tool';
      readonly agentId: null;
      readonly sources: readonly string[];
    };

export interface Forget {
  readonly _id: string;
  readonly at: Stamp;
  readonly target: ForgetTarget;
  /** ms since the epoch */
  readonly finalAt: number;
}

/** ms from the request until it is final. */
export const forgetWait = ({ kind }: ForgetTarget): number => (kind === 'agent' ? FORGET_AFTER : FORGET_SOON);

export interface ForgetUndo {
  readonly at: Stamp;
  readonly forgetId: string;
  /**
   * Wall clock time, in ms since the epoch. The stamp may be ahead of it if the device has seen a
   * stamp from the future.
   */
  readonly time?: number | undefined;
}

/**
 * When a document is deleted: with its agent, or with its agent's conversation. `never`: the
 * document stays. `with-before`: it quotes what was said before it, so it is also deleted
 * with a time span that began before it.
 */
export type Forgotten = 'with-agent' | 'with-conversation' | 'with-before' | 'never';

/** Whether a document of this agent is covered by a request to forget. */
export function isAmong(
  doc: { readonly agentId: unknown; readonly at: Stamp; readonly forgotten: Forgotten },
  { target, at }: Pick<Forget, 'target' | 'at'>,
): boolean {
  if (doc.forgotten === 'never' || (target.agentId !== null && doc.agentId !== target.agentId)) return false;
  if (target.kind === 'agent') return true;
  if (target.kind === 'items' || doc.forgotten === 'with-agent' || doc.at >= at) return false;
  if (target.kind === 'conversation') return true;
  const { from, to } = target;
  return isWithin(parseStamp(doc.at)?.time, { from, to: doc.forgotten === 'with-before' ? Infinity : to });
}

const isWithin = (time: number | undefined, { from, to }: { readonly from: number; readonly to: number }) =>
  time !== undefined && time >= from && time < to;

/** Where something that an agent keeps came from. */
export interface Origin {
  /** Whose memory it is in. Null: the team's. */
  readonly agentId: AgentId | null;
  readonly by: 'human' | 'agent' | 'dream';
  /** When it was written, in ms since the epoch. */
  readonly time: number;
  /** The line's id. Left out: this is the origin of a line that it replaced. */
  readonly id?: string;
}

/**
 * A hash of an id, 64 bits in hex. It tells ids apart, and no more: ids have no words. Two
 * multiplicative hashes of 32 bits, as FNV-1a is.
 */
export function sourceHash(id: string): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < id.length; i += 1) {
    const code = id.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
    b ^= b >>> 13;
  }
  return [a, b].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
}

/** A request names many ids, and is asked about many documents. */
const hashSets = new WeakMap<readonly string[], ReadonlySet<string>>();
/** Whether a request names this id. */
export function namesSource({ target }: Pick<Forget, 'target'>, id: string): boolean {
  if (target.kind !== 'items') return false;
  const hashes = hashSets.get(target.sources) ?? new Set(target.sources);
  hashSets.set(target.sources, hashes);
  return hashes.has(sourceHash(id));
}

/** Most hashes in one request. A document must fit into an entry. */
export const MOST_SOURCES = 4_000;

/** Whether something that an agent keeps came from what is covered by a request to forget. */
export function cameFrom({ agentId, by, time, id }: Origin, { target, at }: Pick<Forget, 'target' | 'at'>): boolean {
  if (target.kind === 'items') return id !== undefined && namesSource({ target }, id);
  if (target.agentId !== null && agentId !== target.agentId) return false;
  if (target.kind === 'agent') return true;
  if (target.kind === 'span') return isWithin(time, target);
  // An agent notes what it learns in its conversation, awake or in a dream.
  return by !== 'human' && time < (parseStamp(at)?.time ?? 0);
}

function notUndone<F extends Forget>(forgets: readonly F[], undos: readonly ForgetUndo[]): F[] {
  // An undo after `finalAt` has no effect: other devices have already deleted the data.
  return forgets.filter(
    ({ _id, finalAt }) =>
      !undos.some((undo) => undo.forgetId === _id && (undo.time ?? parseStamp(undo.at)?.time ?? finalAt) < finalAt),
  );
}

/** Requests that are neither withdrawn nor final. Their data is hidden, but still stored. */
export function pendingForgets<F extends Forget>(
  forgets: readonly F[],
  undos: readonly ForgetUndo[],
  now: number,
): F[] {
  return notUndone(forgets, undos).filter(({ finalAt }) => now < finalAt);
}

/** Requests that were not withdrawn in time. Their data must not exist anywhere. */
export function finalForgets<F extends Forget>(forgets: readonly F[], undos: readonly ForgetUndo[], now: number): F[] {
  return notUndone(forgets, undos).filter(({ finalAt }) => now >= finalAt);
}

/** Agents of which only the id is left, in the order of the requests. */
export const forgottenAgents = (final: readonly Pick<Forget, 'target' | 'at'>[]): readonly AgentId[] => [
  ...new Set(
    [...final]
      .sort((a, b) => (a.at < b.at ? -1 : 1))
      .flatMap(({ target }) => (target.kind === 'agent' ? [target.agentId] : [])),
  ),
];
