/** Operations on tool calls, for the parts that offer tools and for the person's page. */
import type { AgentId, RunId } from '../../../src/shared/domain/ids.ts';
import type { Answer, PinnedFile, ToolCall } from '../../../src/shared/protocol/approvals.ts';
import type { Given } from '../../../src/shared/domain/question-form.ts';
import type { AskPermission, RecordAction } from '../../agents/minds/actions.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import type { StoredCall } from './rows.ts';
import type { FormValue } from '../../../src/shared/domain/question-form.ts';
import type { ServerQuestion } from '../../../src/shared/protocol/approvals.ts';

/**
 * The person's answer to an MCP server's question. `cancel`: nobody answered, or the question was
 * withdrawn.
 */
export type PersonAnswer =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, FormValue>> }
  | { readonly action: 'decline' | 'cancel' };

/**
 * Asks the person an MCP server's question on a card. Resolves when they have answered, or when
 * `signal` aborts; its reason is a sentence that says why. Rejects if the question cannot be
 * asked.
 */
export type AskPerson = (asked: {
  readonly tool: string;
  readonly question: ServerQuestion;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}) => Promise<PersonAnswer>;

export type Answered =
  | { readonly ok: true; readonly call: ToolCall }
  | { readonly ok: false; readonly reason: 'unknown' | 'over' | 'misfit' | 'changed'; readonly detail: string };

export interface AnswerOptions {
  /** The pin of the content that the person saw. Left out: the caller does not say. */
  readonly seen?: string | undefined;
  /** With a yes: hosts on the relay's own machine and networks that the person adds. */
  readonly ownHosts?: readonly string[];
}
export interface Approvals {
  /**
   * A tool of the relay itself. No agent is offered it. It runs only after the person's yes to
   * `askAlone` or `askFor`.
   */
  ofRelay(tool: TeamTool): void;
  /**
   * The relay itself asks about such a call. One question waits per key. `before`: what the person
   * knows of that file.
   */
  askAlone(agentId: AgentId, tool: string, input: unknown, before: PinnedFile | null): Promise<void>;
  /** Such a call waits for the person, whatever is granted. Resolves with what its agent reads. */
  askFor(tool: string, input: unknown, caller: Caller): Promise<ToolOutcome>;
  /** The question of this tool with this key needs no answer any more. */
  withdrawAsked(tool: string, key: string): Promise<void>;
  /** The same tools, limited to what the person allows. */
  guard(tools: readonly TeamTool[]): readonly TeamTool[];
  /** As `guard`, for tools that come and go. */
  guardFrom(source: () => readonly TeamTool[]): () => readonly TeamTool[];
  /** Permission for the actions of an ACP agent. */
  readonly askPermission: AskPermission;
  /** Asks a question of an MCP server during a call of one of its tools. */
  readonly askPerson: AskPerson;
  /** Records the actions that an ACP agent takes without asking. */
  readonly recordAction: RecordAction;
  /** Calls that wait for the person, oldest first. */
  open(): Promise<readonly StoredCall[]>;
  /** The same calls with the current folder content, to show to the person. */
  toBeShown(): Promise<readonly ToolCall[]>;
  /** Recently answered or withdrawn calls, newest first. */
  answered(): Promise<readonly ToolCall[]>;
  page(
    before: string | null,
    agentId: AgentId | null,
    limit: number,
  ): Promise<{ readonly calls: readonly ToolCall[]; readonly more: boolean }>;
  /** Calls of one run of this agent, newest first. */
  ofRun(agentId: AgentId, runId: RunId, limit: number): Promise<readonly ToolCall[]>;
  /**
   * Calls about which the person was asked, or which they answered, since then: of one run of this
   * agent. `runId` null: of its API clients. The newest, in order.
   */
  askedSince(agentId: AgentId, runId: RunId | null, since: number, limit: number): Promise<readonly ToolCall[]>;
  answer(callId: string, answer: Answer, words: string, options?: AnswerOptions): Promise<Answered>;
  /** The person's form input, for the server that asks. */
  send(callId: string, content: Given): Promise<Answered>;
  /** Withdraws the questions of all other agents. */
  keepOnly(agentIds: ReadonlySet<AgentId>): Promise<void>;
  /** Withdraws the questions of tools whose names start with this prefix. */
  withdrawToolsOf(prefix: string): Promise<void>;
  /** Called after a start: settles the calls that were running when the relay ended. */
  recover(): Promise<void>;
  /** Ends running calls. Resolves when that is on disk. */
  close(): Promise<void>;
}
