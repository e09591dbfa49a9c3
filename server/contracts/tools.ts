/** Tools, and who calls them. */
import type { z } from 'zod';
import type { Picture } from '../../src/shared/domain/attachment.ts';
import type { AgentId, RunId, SessionId } from '../../src/shared/domain/ids.ts';
import type { FormValue } from '../../src/shared/domain/question-form.ts';
import type { ServerQuestion } from '../../src/shared/protocol/questions.ts';

/**
 * What the person's yes to a call is to, besides its words: what lay at the paths that it is about.
 */
export interface Agreed {
  /**
   * The mark of what must still lie at this path, named as in the call; undefined: the call is not
   * about it.
   */
  markOf(path: string): string | undefined;
  /**
   * Keeps all of it as it is until the returned function is called. Null: something else lies there
   * by now.
   */
  hold(): Promise<(() => void) | null>;
  /**
   * Hosts of the relay's own machine and networks that the person added with their yes; left out:
   * none.
   */
  readonly ownHosts?: readonly string[];
}

/** How the person is asked about each call of a tool, whatever is granted. */
export interface Asking {
  /**
   * Calls of one agent with the same key are one question: a newer one takes the place of one that
   * waits.
   */
  keyOf(input: unknown): string;
  /**
   * Why this yes cannot be taken, as a sentence for the person; null: it can. Left out: none adds
   * hosts.
   */
  refuseYes?(ownHosts: readonly string[]): string | null;
}

/** A call that the person answers. */
export interface AnsweredCall {
  readonly agentId: AgentId;
  readonly tool: string;
  readonly input: unknown;
  readonly markOf: Agreed['markOf'];
}

/**
 * Who calls a tool: an agent in an answer of its own, or a client that joined with its credential.
 */
export interface Caller {
  readonly agentId: AgentId;
  readonly sessionId: SessionId | null;
  /** The run that calls; left out: a client does. */
  readonly runId?: RunId;
  /** The answer's id, or the call's: what messages that are read now are marked with. */
  readonly run: string;
  readonly kind: 'session' | 'run' | 'client';
  /**
   * With what a client joined, or a program that is its mind was started, and whether the person
   * lets it read its agent's soul and last conversation.
   */
  readonly credential?: { readonly credentialId: string; readonly readsSoul: boolean };
  readonly signal: AbortSignal;
  /**
   * The person has let this very call, or this very command for always. Left out: what is set for
   * the tool lets it.
   */
  readonly agreed?: Agreed;
  /**
   * Aborts when the person has written something that waits for the caller: a tool that only waits
   * ends at once.
   */
  readonly heard?: AbortSignal;
}

export interface ToolOutcome {
  /** Says what a picture is, for those who see none. */
  readonly text: string;
  readonly isError: boolean;
  /** Seen beside the text, by models that see. */
  readonly picture?: Picture;
  /** Nothing was done: something else lies there than what was `agreed` to. */
  readonly changed?: true;
  /** Nothing was done: the person is asked first, and the text says so. */
  readonly asks?: true;
  /** The turn ends here: what the person has written comes next. */
  readonly endsTurn?: true;
}

/** Something that a mind does by itself. */
export interface Deed {
  readonly tool: string;
  readonly input: unknown;
  readonly caller: Caller;
}
/**
 * How that ended; `stopped`: its mind was, before it told. `input`: all that is known of it by
 * then; left out: as it was asked for.
 */
export interface DeedEnd extends Pick<ToolOutcome, 'text' | 'isError'> {
  readonly stopped: boolean;
  readonly input?: unknown;
}

/**
 * What the person, or what they have set, says to a question of a mind that acts by itself;
 * `words`: what its agent is told.
 */
export type Verdict =
  | { readonly let: true; readonly over: (end: DeedEnd) => void }
  | { readonly let: false; readonly words: string };

/**
 * Asks whether something may be done that its mind does by itself. Resolves when that is known; at
 * once where nobody is there to ask.
 */
export type AskLeave = (asked: Deed) => Promise<Verdict>;

/** A mind does something, and has asked nobody. */
export type NoteDeed = (deed: Deed) => {
  over(end: DeedEnd): void;
  /** It does ask: what stands of it is the question. */
  asks(): void;
};

/**
 * What the person says to a question of an MCP server. `cancel`: nobody answered, or the question
 * was withdrawn.
 */
export type PersonAnswer =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, FormValue>> }
  | { readonly action: 'decline' | 'cancel' };

/**
 * Asks the person for an MCP server, by a card. Resolves when they have answered, or when `signal`
 * aborts: its reason says why, as a sentence. Rejects where it cannot be asked.
 */
export type AskPerson = (asked: {
  readonly tool: string;
  readonly question: ServerQuestion;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}) => Promise<PersonAnswer>;

/**
 * A tool that every agent has, wherever it runs: in a session of the relay, or as a client that
 * joined.
 */
export interface TeamTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** JSON Schema of the input as minds are told it; left out: that of `input`. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** It changes nothing. */
  readonly readOnly: boolean;
  /** It may do nothing but wait: the person's words to the caller end it. */
  readonly waits?: true;
  /** Only for callers of whom this holds; left out: for all. */
  readonly allowed?: (caller: Caller) => Promise<boolean>;
  /**
   * Called before the person is asked about a call, so that nobody is asked about what cannot be.
   * Resolves with the input that they see, which says the same whenever they answer; or with the
   * outcome, where there is nothing to ask.
   */
  readonly prepare?: (input: unknown, caller: Caller) => Promise<{ readonly input: unknown } | ToolOutcome>;
  /** Each call waits for the person, whatever is granted; left out: what is granted decides. */
  readonly asking?: Asking;
  /**
   * The provider of a model carries it out in the middle of an answer: nobody can be asked before
   * it, and it is offered only where it is allowed. No client is told of it.
   */
  readonly provider?: 'web_search' | 'web_fetch';
  /** It does so now. Returns the way to tell its end. */
  begun?(input: unknown, caller: Caller): (outcome: ToolOutcome) => void;
  /**
   * `input` has passed the schema. What the caller did wrong is an outcome with `isError`; it
   * rejects for our own faults only.
   */
  run(input: unknown, caller: Caller): Promise<ToolOutcome>;
}
