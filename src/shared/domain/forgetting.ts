/**
 * What is to be forgotten, and from when for good. Asking is a record, taking it back is another
 * one, and time decides the rest, so that every device that hears of both comes to the same result.
 */
import type { AgentId } from './ids.ts';
import { parseStamp, type Stamp } from './stamp.ts';

/** ms from asking to the moment from which nothing brings it back: 30 days. */
export const FORGET_AFTER = 30 * 24 * 60 * 60 * 1000;

type ForgetTarget =
  /** Everything about an agent, whenever it was written. */
  | { readonly kind: 'agent'; readonly agentId: AgentId }
  /** What was said with an agent before the asking. */
  | { readonly kind: 'conversation'; readonly agentId: AgentId };

export interface Forget {
  readonly _id: string;
  readonly at: Stamp;
  readonly target: ForgetTarget;
  /** ms since the epoch */
  readonly finalAt: number;
}

export interface ForgetUndo {
  readonly at: Stamp;
  readonly forgetId: string;
  /**
   * ms since the epoch, by the clock on the wall: the stamp may lie ahead of it, after something
   * that was dated ahead.
   */
  readonly time?: number | undefined;
}

/**
 * What becomes of a document when its agent, or what was said with it, is forgotten; `never`: it
 * outlives what it speaks of.
 */
export type Forgotten = 'with-agent' | 'with-conversation' | 'never';

/** Is a document of this agent among what the person asked to forget? */
export function isAmong(
  doc: { readonly agentId: unknown; readonly at: Stamp; readonly forgotten: Forgotten },
  { target, at }: Pick<Forget, 'target' | 'at'>,
): boolean {
  if (doc.forgotten === 'never' || doc.agentId !== target.agentId) return false;
  return target.kind === 'agent' || (doc.forgotten === 'with-conversation' && doc.at < at);
}

function notUndone<F extends Forget>(forgets: readonly F[], undos: readonly ForgetUndo[]): F[] {
  // An undo that was written too late finds nothing to bring back: on other devices it is gone.
  return forgets.filter(
    ({ _id, finalAt }) =>
      !undos.some((undo) => undo.forgetId === _id && (undo.time ?? parseStamp(undo.at)?.time ?? finalAt) < finalAt),
  );
}

/** Asked for, not taken back, and not final: hidden, and still there. */
export function pendingForgets<F extends Forget>(
  forgets: readonly F[],
  undos: readonly ForgetUndo[],
  now: number,
): F[] {
  return notUndone(forgets, undos).filter(({ finalAt }) => now < finalAt);
}

/** Not taken back in time: what they cover must be nowhere. */
export function finalForgets<F extends Forget>(forgets: readonly F[], undos: readonly ForgetUndo[], now: number): F[] {
  return notUndone(forgets, undos).filter(({ finalAt }) => now >= finalAt);
}

/** The agents of which nothing is left but the id, in the order in which they were asked for. */
export const forgottenAgents = (final: readonly Pick<Forget, 'target' | 'at'>[]): readonly AgentId[] => [
  ...new Set(
    [...final]
      .sort((a, b) => (a.at < b.at ? -1 : 1))
      .flatMap(({ target }) => (target.kind === 'agent' ? [target.agentId] : [])),
  ),
];
