/** What is asked of calls of tools, by whoever offers tools and by the person's page. */
import type { AgentId, RunId } from '../../../src/shared/domain/ids.ts';
import type { Given } from '../../../src/shared/domain/question-form.ts';
import type { Answer, PinnedFile, ToolCall } from '../../../src/shared/protocol/calls.ts';
import type { AskLeave, AskPerson, NoteDeed, TeamTool } from '../../contracts/index.ts';

export type Answered =
  | { readonly ok: true; readonly call: ToolCall }
  | { readonly ok: false; readonly reason: 'unknown' | 'over' | 'misfit' | 'changed'; readonly detail: string };

export interface AnswerOptions {
  /** The pin of the content that the person was shown; left out: the caller does not say. */
  readonly seen?: string | undefined;
  /** With a yes: hosts of the relay's own machine and networks that the person adds. */
  readonly ownHosts?: readonly string[];
}
export interface Calls {
  /**
   * A tool of the relay's own, which no agent is offered: it runs only with the person's yes to
   * `askAlone`.
   */
  ofRelay(tool: TeamTool): void;
  /**
   * The relay asks about such a call by itself. One question waits for each key. `before`: what the
   * person knows of that file.
   */
  askAlone(agentId: AgentId, tool: string, input: unknown, before: PinnedFile | null): Promise<void>;
  /** What is asked with this tool under this key needs no answer any more. */
  withdrawAsked(tool: string, key: string): Promise<void>;
  /** The same tools, as far as the person lets them be used. */
  guard(tools: readonly TeamTool[]): readonly TeamTool[];
  /** The same of tools that come and go. */
  guardFrom(source: () => readonly TeamTool[]): () => readonly TeamTool[];
  /** Leave for what a program that is an agent's mind does by itself. */
  readonly leave: AskLeave;
  /** A question of an MCP server, while one of its tools is called. */
  readonly askPerson: AskPerson;
  /** What such a program does without asking. */
  readonly note: NoteDeed;
  /** That wait for the person, the oldest first. */
  waiting(): Promise<readonly ToolCall[]>;
  /** The same with what lies in the folder now, looked at for this: to be shown to the person. */
  toBeShown(): Promise<readonly ToolCall[]>;
  /** Answered or withdrawn lately, the newest first. */
  answered(): Promise<readonly ToolCall[]>;
  page(
    before: string | null,
    agentId: AgentId | null,
    limit: number,
  ): Promise<{ readonly calls: readonly ToolCall[]; readonly more: boolean }>;
  /** Of one run of this agent, the newest first. */
  ofRun(agentId: AgentId, runId: RunId, limit: number): Promise<readonly ToolCall[]>;
  answer(callId: string, answer: Answer, words: string, options?: AnswerOptions): Promise<Answered>;
  /** What the person has filled in, for the server that asks. */
  send(callId: string, content: Given): Promise<Answered>;
  /** What those ask who are not here any more waits no more. */
  keepOnly(agentIds: ReadonlySet<AgentId>): Promise<void>;
  /** What is asked for of tools whose names begin so waits no more. */
  withdrawToolsOf(prefix: string): Promise<void>;
  forgetCallsOf(agentId: AgentId): Promise<void>;
  /** After a start: says what was under way when the relay ended. */
  recover(): Promise<void>;
  /** Ends what runs; resolves when that is on disk. */
  close(): Promise<void>;
}
