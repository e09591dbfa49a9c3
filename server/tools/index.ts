/** A tool of the team, and its callers. */
import type { Picture } from '../../src/shared/domain/attachment.ts';
import type { AgentId, RunId, SessionId } from '../../src/shared/domain/ids.ts';
import type { z } from 'zod';

/** The content that the person's yes covers: what lay at the paths that the call is about. */
export interface Agreed {
  /**
   * The mark that the content at this path must still have. The path is named as in the call.
   * Undefined: the call is not about it.
   */
  markOf(path: string): string | undefined;
  /** Locks the content until the returned function is called. Null: the content has changed. */
  hold(): Promise<(() => void) | null>;
  /**
   * Hosts on the relay's own machine and networks that the person added with their yes. Left out:
   * none.
   */
  readonly ownHosts?: readonly string[];
}

/** Makes every call of a tool ask the person, whatever is granted. */
export interface Asking {
  /** Calls of one agent with the same key are one question. A newer call replaces a waiting one. */
  keyOf(input: unknown): string;
  /**
   * Why this yes cannot be accepted, as a sentence for the person. Null: it can. Left out: a yes
   * with added hosts is never accepted.
   */
  refuseYes?(ownHosts: readonly string[]): string | null;
}

/** A call that the person has answered. */
export interface AnsweredCall {
  readonly agentId: AgentId;
  readonly tool: string;
  readonly input: unknown;
  readonly markOf: Agreed['markOf'];
}

/**
 * The caller of a tool: an agent in an answer of its own, or a client that joined with the agent's
 * credential.
 */
export interface Caller {
  readonly agentId: AgentId;
  readonly sessionId: SessionId | null;
  /** The calling run. Left out: a client calls. */
  readonly runId?: RunId;
  /**
   * The part of its agent's folder that the caller sees, such as the checkout of an executor. Left
   * out: all of it.
   */
  readonly folder?: string;
  /** The id of the answer or the call. Messages that are read now are marked with it. */
  readonly run: string;
  readonly kind: 'session' | 'run' | 'client';
  /**
   * The credential of a joined client, or of an ACP agent. `readsSoul`: the person lets it read its
   * agent's soul and last conversation.
   */
  readonly credential?: { readonly credentialId: string; readonly readsSoul: boolean };
  readonly signal: AbortSignal;
  /**
   * The person has allowed this very call, or always allows this very command. Left out: the tool's
   * setting allows it.
   */
  readonly agreed?: Agreed;
  /**
   * Aborts when a message of the person waits for the caller. A tool that only waits then ends at
   * once.
   */
  readonly heard?: AbortSignal;
}

export interface ToolOutcome {
  /** The result as text. It also describes a picture, for models without vision. */
  readonly text: string;
  readonly isError: boolean;
  /** Shown beside the text, to models with vision. */
  readonly picture?: Picture;
  /** Nothing was done: the content differs from what was `agreed` to. */
  readonly changed?: true;
  /** Nothing was done: the person is asked first, and the text says so. */
  readonly asks?: true;
  /** The turn ends here: what the person has written comes next. */
  readonly endsTurn?: true;
  /** The text has words of others, though the tool does not always show such. */
  readonly isOfOthers?: true;
}

/**
 * A tool that every agent has, whether it runs in a session of the relay or as a client that
 * joined.
 */
export interface TeamTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** The input's JSON Schema as models receive it. Left out: derived from `input`. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The tool changes nothing. */
  readonly readOnly: boolean;
  /** The tool may do nothing but wait. A message of the person to the caller ends it. */
  readonly waits?: true;
  /** Limits the tool to callers for which this resolves to true. Left out: all callers. */
  readonly allowed?: (caller: Caller) => Promise<boolean>;
  /**
   * Called before the person is asked, so that nobody is asked about an impossible call. Resolves
   * with the input that the person sees, which means the same whenever they answer. Resolves with
   * the outcome where there is nothing to ask.
   */
  readonly prepare?: (input: unknown, caller: Caller) => Promise<{ readonly input: unknown } | ToolOutcome>;
  /** Every call waits for the person, whatever is granted. Left out: the grant decides. */
  readonly asking?: Asking;
  /**
   * A model's provider runs this tool in the middle of an answer. Nobody can be asked first, so it
   * is offered only where it is allowed. Clients do not see it.
   */
  readonly provider?: 'web_search' | 'web_fetch';
  /** The provider starts to run it. Returns a function that reports its end. */
  begun?(input: unknown, caller: Caller): (outcome: ToolOutcome) => void;
  /**
   * `input` has passed the schema. A caller's mistake is an outcome with `isError`. Rejects only
   * for faults of the relay.
   */
  run(input: unknown, caller: Caller): Promise<ToolOutcome>;
}
