/**
 * What a mind does by itself, such as an ACP agent with its own tools: the relay asks for it, or
 * records it.
 */
import type { Caller, ToolOutcome } from '../../tools/index.ts';

/** An action that a mind takes by itself. */
export interface MindAction {
  readonly tool: string;
  readonly input: unknown;
  readonly caller: Caller;
}

/**
 * How the action ended. `stopped`: the mind was stopped before it reported an end. `input`: the
 * final known input; left out: as requested.
 */
export interface ActionEnd extends Pick<ToolOutcome, 'text' | 'isError'> {
  readonly stopped: boolean;
  readonly input?: unknown;
}

/**
 * The answer of the person, or of their settings, to a mind that acts by itself. `words`: the text
 * for its agent.
 */
export type Permission =
  | { readonly allowed: true; readonly over: (end: ActionEnd) => void }
  | { readonly allowed: false; readonly words: string };

/**
 * Asks for permission for an action that a mind takes by itself. Resolves with the answer, or at
 * once where nobody is there to ask.
 */
export type AskPermission = (asked: MindAction) => Promise<Permission>;

/** Records an action that a mind takes without asking. */
export type RecordAction = (action: MindAction) => {
  over(end: ActionEnd): void;
  /** The mind does ask after all. The question replaces the record. */
  asks(): void;
};
