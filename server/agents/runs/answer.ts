/**
 * One answer of an agent. It asks the mind, runs the tools that the mind calls, and asks again with
 * their results until the mind is done. Every word goes to the event log through the writer, and
 * into the conversation.
 */
import type { AgentId, MessageId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import {
  type Block,
  blockSchema,
  type MessageStatus,
  type Usage,
  usageSchema,
} from '../../../src/shared/protocol/documents.ts';
import { type EventOf, eventSchema, type RoostEvent } from '../../../src/shared/protocol/events.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { THOUGHT } from '../../../src/shared/domain/talk.ts';
import type { Cost } from '../../../src/shared/domain/prices.ts';
import type { RequestSize } from '../../../src/shared/domain/request-cost.ts';
import type { ToolOutcome } from '../../tools/index.ts';
import { toolError } from '../../tools/define-tool.ts';
import {
  type AgentMind,
  type Mind,
  type MindAnswer,
  type MindBlock,
  type MindError,
  type MindListener,
  type MindTool,
  type Priority,
  type RequestState,
  sizeOfRequest,
  type StopReason,
} from '../minds/index.ts';
import { RUN_BROKEN } from './outcome.ts';
import { answerBy, type Permit } from './permits.ts';
import type { WriteEvents } from './recover.ts';
import type { Compactor } from './compaction.ts';
import type { Conversation, ToolResult, Window } from './conversation.ts';
import { addUsage } from './life.ts';
import type { WatchReading } from './read-less.ts';

// Writes one answer into the log: `answer-started`, then `text` and `tool` events as they arrive,
// then the whole `message`. The log batches words that arrive close together.

/** What the log records of a finished call. */
type CallOutcome = Pick<ToolOutcome, 'text' | 'isError' | 'asks'>;

export interface AnswerWriter {
  /**
   * Writes `answer-started` now. Otherwise it is written with the first words. Resolves when it is
   * on disk.
   */
  begin(with_: readonly RoostEvent[]): Promise<unknown>;
  text(words: string): void;
  /** Records a tool call. Returns a function that records its result. */
  tool(call: { toolUseId: string; name: string; input: unknown }): (outcome: CallOutcome) => void;
  /** Whether the log has anything of this answer. */
  begun(): boolean;
  /** Whether the answer has any words that are not blank. */
  hasWords(): boolean;
  /** The blocks so far, in order. */
  blocks(): readonly Block[];
  /**
   * Resolves when the message and `with_` are on disk. An answer that is empty and was not begun
   * leaves no message.
   */
  finish(
    end: { status: MessageStatus; error: string | null; usage: Usage | null; unasked?: boolean },
    with_: readonly RoostEvent[],
  ): Promise<void>;
}

interface AnswerWriterDeps {
  readonly messageId: MessageId;
  readonly agentId: AgentId;
  readonly author: string;
  readonly sessionId: SessionId | null;
  readonly runId: RunId;
  /** Resolves with whether all of them are on disk. Never rejects. */
  readonly record: WriteEvents;
  /** Part of the answer could not be written. The caller must stop the answer. */
  readonly onWriteFailed: () => void;
  readonly now: () => number;
  /**
   * Called once, at the first word that is not blank. The events that it returns are written before
   * that word.
   */
  readonly onFirstWords: () => readonly RoostEvent[];
}

/** A surrogate pair must not be split over two events. */
const endsInHalf = (text: string) => /[\ud800-\udbff]$/.test(text);

function addWords(blocks: Block[], words: string): void {
  const last = blocks.at(-1);
  if (last?.kind === 'text') blocks[blocks.length - 1] = { kind: 'text', text: last.text + words };
  else blocks.push({ kind: 'text', text: words });
}

/**
 * Adds an id to `others` and returns the id under which it was added. It changes duplicates,
 * because some servers restart the numbers of their calls with every turn.
 */
function addUnlike(given: string, others: Set<string>): string {
  let id = given;
  for (let n = 2; others.has(id); n++) id = `${given}.${n}`;
  others.add(id);
  return id;
}

/**
 * Returns a message that the log accepts. If the log would refuse it, the parts that do not fit are
 * dropped, and the message is marked as failed. The words stay.
 */
function keepable(message: EventOf<'message'>): EventOf<'message'> {
  if (eventSchema.safeParse(message).success) return message;
  const { blocks, usage } = message;
  return {
    ...message,
    blocks: blocks.filter((block) => blockSchema.safeParse(block).success),
    usage: usageSchema.safeParse(usage).success ? usage : null,
    status: 'failed',
    error: RUN_BROKEN,
  };
}

export function createAnswerWriter(deps: AnswerWriterDeps): AnswerWriter {
  const { messageId, agentId, author, sessionId, runId, record, now } = deps;
  const blocks: Block[] = [];
  const toolUseIds = new Set<string>();
  /** The first half of a surrogate pair, until the second half arrives. */
  let halfCharacter = '';
  /** Start of the answer, ms since the epoch. */
  let startedAt = now();
  let begun = false;
  let hasWords = false;
  let finished = false;

  const startEvents = (): RoostEvent[] => {
    if (begun) return [];
    begun = true;
    startedAt = now();
    return [{ kind: 'answer-started', time: startedAt, messageId, agentId, sessionId, runId }];
  };

  /** All of the text, except half a surrogate pair if more text may follow. */
  function takeText(words: string, last: boolean): RoostEvent[] {
    const text = halfCharacter + words;
    halfCharacter = !last && endsInHalf(text) ? text.slice(-1) : '';
    const whole = text.slice(0, text.length - halfCharacter.length);
    return whole === '' ? [] : [...startEvents(), { kind: 'text', messageId, text: whole }];
  }

  function write(events: readonly RoostEvent[]): void {
    if (events.length > 0) void record(events).then((kept) => (kept ? undefined : deps.onWriteFailed()));
  }

  return {
    begin: (with_) => record([...with_, ...startEvents()]),
    text(words) {
      if (finished || words === '') return;
      addWords(blocks, words);
      const isFirst = !hasWords && words.trim() !== '';
      hasWords ||= isFirst;
      // The page shows an agent as awake from its first words on.
      const before = isFirst ? [...startEvents(), ...deps.onFirstWords()] : [];
      write([...before, ...takeText(words, false)]);
    },
    tool({ toolUseId: given, name, input }) {
      const toolUseId = addUnlike(given, toolUseIds);
      const open: Block = {
        kind: 'tool',
        toolUseId,
        name,
        input: input ?? null,
        result: null,
        isError: false,
        startedAt: now(),
      };
      const index = blocks.push(open) - 1;
      write([...takeText('', true), ...startEvents(), { kind: 'tool', messageId, block: open }]);
      return ({ text, isError, asks }) => {
        if (finished) return;
        const done: Block = { ...open, result: text, isError, ...(asks ? { asks } : {}), endedAt: now() };
        blocks[index] = done;
        write([{ kind: 'tool', messageId, block: done }]);
      };
    },
    begun: () => begun,
    hasWords: () => hasWords,
    blocks: () => blocks,
    async finish({ status, error, usage, unasked = false }, with_) {
      if (finished) return;
      const rest = takeText('', true);
      finished = true;
      const message: EventOf<'message'> = {
        kind: 'message',
        // The message carries the time at which it began, as in the log's stamp. Messages written
        // in the meantime were not part of its context.
        time: startedAt,
        messageId,
        sessionId,
        runId,
        agentId,
        author,
        role: 'assistant',
        blocks: [...blocks],
        status,
        error,
        usage,
        clientId: null,
        replaces: null,
        waiting: false,
        ...(unasked ? { unasked: true } : {}),
      };
      const events = [...rest, ...(begun ? [keepable(message)] : []), ...with_];
      if (events.length > 0) await record(events);
    },
  };
}

// Decides whether an answer that the model ended has a result. Silence and tool calls written as
// text are not one. Pure.

/*
 * Recognises a tool call that a model wrote as text. Its server did not parse it, because the
 * server supports no tools, or not this model's notation. The call is only reported and never run.
 * Pure.
 *
 * Models are trained on marks of their own: Hermes and Qwen `<tool_call>{…}`, Llama `<function=…>`
 * and `<|python_tag|>`, Mistral `[TOOL_CALLS]`, DeepSeek `<｜tool▁calls▁begin｜>`, Kimi
 * `<|tool_calls_section_begin|>`, Phi and Granite `<|tool_call|>`, gpt-oss `to=functions.…`, LFM
 * `<|tool_call_start|>`, Command `<|START_ACTION|>`, older Claude `<function_calls>`. Others write
 * JSON, alone or in a fence.
 */

/** A marker of a tool call, and the beginning of the call behind it. */
const MARKED = new RegExp(
  [
    String.raw`<(?:\w+:)?(?:tool|function)_?calls?>\s*[[{<\w]`,
    String.raw`<\|(?:tool|function)_?calls?\|>\s*[[{\w]`,
    String.raw`<function=[\w.-]+>`,
    String.raw`<invoke name=`,
    String.raw`\[TOOL_CALLS\]\s*[[{\w]`,
    String.raw`<\|python_tag\|>\s*[[{\w]`,
    String.raw`<[｜|]tool[▁_]calls?[▁_](?:section[▁_])?(?:begin|start)[｜|]>`,
    String.raw`<\|(?:START_ACTION|action_start)\|>`,
    String.raw`<\|channel\|>\w*\s*to=`,
    String.raw`\bto=functions\.\w`,
  ].join('|'),
);
/** The last character of a call at the end of a text. */
const ENDS = /[\]})>`"']$/;
const FENCED = /```[ \t]*([\w-]*)[ \t]*\r?\n?([\s\S]*?)(?:```|$)/g;
const INLINE = /`[^`\n]+`/g;
/** The name in a JSON tool call, at any depth. */
const JSON_NAME = /"(?:name|function|tool|tool_name)"\s*:\s*"([^"\n]+)"/;
const JSON_INPUT = /"(?:arguments|parameters|input|args|tool_input)"\s*:\s*["{]/;
/** If a text is a call, its name is within this many characters. */
const HEAD = 400;

/**
 * With `isAll`, the text is nothing but JSON. Then it is a call whatever name it has. Otherwise the
 * name must be that of an offered tool.
 */
function isJsonCall(text: string, tools: ReadonlySet<string>, isAll: boolean): boolean {
  if (!/^[[{]/.test(text) || !/[\]}]$/.test(text)) return false;
  const name = JSON_NAME.exec(text.slice(0, HEAD))?.[1];
  return name !== undefined && JSON_INPUT.test(text) && (isAll || tools.has(name));
}

const callsOne = (code: string, tools: ReadonlySet<string>) => {
  const name = /^(?:print\()?\s*(?:\w+\.)?(\w+)\(/.exec(code)?.[1];
  return name !== undefined && tools.has(name);
};

/** Whether the words end in a tool call. `tools`: names of the tools that the model was offered. */
export function isLeakedCall(words: string, tools: ReadonlySet<string>): boolean {
  const text = words.trim();
  if (tools.size === 0 || !ENDS.test(text)) return false;
  const last = [...text.matchAll(FENCED)].at(-1);
  if (last && last.index + last[0].length === text.length) {
    const [whole, language = '', body = ''] = last;
    const code = body.trim();
    const isAll = whole.length === text.length;
    return (
      isJsonCall(code, tools, isAll) ||
      (language === 'tool_code' && callsOne(code, tools)) ||
      (MARKED.test(code) && [...tools].some((name) => code.includes(name)))
    );
  }
  if (isJsonCall(text, tools, true)) return true;
  // A separate paragraph after the words.
  const paragraph = text.slice(text.search(/(?:^|\n)[ \t]*[[{][^\n]*(?:\n(?!\s*\n)[^\n]*)*$/)).trim();
  if (isJsonCall(paragraph, tools, false)) return true;
  // Text inside code marks mentions a call and does not make one.
  return MARKED.test(text.replaceAll(FENCED, '').replaceAll(INLINE, ''));
}

/**
 * - `silent`: the model said nothing and called nothing.
 * - `after-failure`: it said nothing after a tool failed.
 * - `leaked`: it wrote a tool call as text.
 */
type Unfinished = 'silent' | 'after-failure' | 'leaked';

interface EndedAnswer {
  /** Blocks of the model's last turn. */
  readonly blocks: readonly MindBlock[];
  /** The same answer has words or calls from earlier turns. */
  readonly didBefore: boolean;
  /** The tool that failed in the turn before; null: none failed. */
  readonly failedTool: string | null;
  /** Names of the tools that the model was offered. */
  readonly tools: ReadonlySet<string>;
}

/** Null: the answer is complete. `error`: a sentence for people. */
function unfinished({
  blocks,
  didBefore,
  failedTool,
  tools,
}: EndedAnswer): { readonly why: Unfinished; readonly error: string } | null {
  const words = blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
  if (isLeakedCall(words, tools))
    return {
      why: 'leaked',
      error: sentence`This model wrote a tool call as text: its server does not support tools for it. What it wanted was not done. Choose another model in the settings.`,
    };
  if (words.trim() !== '') return null;
  if (failedTool !== null)
    return { why: 'after-failure', error: sentence`It said nothing after ${failedTool} had failed.` };
  if (didBefore || blocks.some(({ kind }) => kind === 'web')) return null;
  return {
    why: 'silent',
    error: sentence`It answered, but said nothing.`,
  };
}

/** Whether the turn has thoughts. They are the cost of an answer without words. */
const isThinking = (blocks: readonly MindBlock[]): boolean =>
  blocks.some(({ kind }) => kind === 'thinking' || kind === 'redacted-thinking');

export interface AnswerDeps {
  readonly mind: Pick<Mind, 'answer' | 'web' | 'searches'> & Partial<Pick<AgentMind, 'counts'>>;
  readonly model: string;
  /** Model of the requests that follow tool results. */
  readonly laterModel: string;
  readonly cachesForAnHour: boolean;
  /** The present system prompt. A compaction may change it. */
  readonly system: () => string;
  readonly priority: Priority;
  readonly onState: (state: RequestState) => void;
  /** Called for pictures and PDFs that the model's server could not read. */
  readonly onLeftOut: NonNullable<MindListener['onLeftOut']>;
  /** The model answered only after the results of its newest calls were left out. */
  readonly onResultsLeftOut: () => void;
  /** Called after each answer to which tools were offered: whether the model got none of them. */
  readonly onToolless: (isToolless: boolean) => void;
  readonly watchReading: WatchReading;
  /** The server read less than it was sent. Both in tokens; `sent` is an estimate. */
  readonly onReadLess: (model: string, read: number, sent: number) => void;
  /** Tools of the next request. */
  readonly tools: () => Promise<readonly MindTool[]>;
  readonly maxTokens: number;
  /** Most requests to the mind. Requests without any outcome do not count. */
  readonly maxTurns: number;
  /** Characters of results in one turn after which no further call of that turn is run. */
  readonly resultCharacters: number;
  /** The answer fails after this many turns in a row without a readable call. */
  readonly unreadableTurns: number;
  /** The model stated that it reads at most so many tokens. */
  readonly onWindow: (model: string, tokens: number) => void;
  readonly conversation: Conversation;
  readonly window: Pick<Window, 'counted' | 'readsOnly'>;
  readonly compactor: Compactor;
  readonly writer: AnswerWriter;
  readonly signal: AbortSignal;
  /**
   * Called before each request. Resolves with whether it may be sent, after waiting as long as
   * necessary.
   */
  readonly permit: (size: RequestSize, signal: AbortSignal) => Promise<Permit>;
  /** A request is over: its usage and its cost. */
  readonly onSpent: (usage: Usage | null, cost: Cost) => void;
  readonly runTool: (name: string, input: unknown) => Promise<ToolOutcome>;
  /**
   * The mind has begun a tool that it runs itself. Returns a function that reports its end. It is
   * always called.
   */
  readonly onBegun: (name: string, input: unknown) => (outcome: ToolOutcome) => void;
}

export interface AnswerOutcome {
  readonly status: MessageStatus;
  /** A sentence for people; null: the answer ended normally. */
  readonly error: string | null;
  readonly usage: Usage | null;
  /** Why the mind ended its last turn; null: it was interrupted or failed. */
  readonly stop: StopReason | null;
  /** The mind's failure; null: none. */
  readonly failure: MindError | null;
  /** The budget allowed none of its requests. */
  readonly overBudget?: boolean;
  /** The mind ended the answer without a result. Left out: there is a result. */
  readonly unfinished?: Unfinished;
  /** The model was offered no tools. */
  readonly toolless?: boolean;
  /** The answer reached its limit of requests. */
  readonly outOfTurns?: true;
}

const CALL_CUT = 'This call was cut off before it answered.';
/**
 * The result of a call that is skipped. Skipping loses nothing, but cutting the result of a call
 * that takes messages out of an inbox would lose messages.
 */
const notRun = (characters: number) =>
  `Not run: the calls before this one have returned ${characters.toLocaleString('en')} characters, which is the most for one turn. Nothing was done or read. Make this call again in your next turn.`;

interface RanTools {
  readonly results: readonly ToolResult[];
  readonly endsTurn: boolean;
  /** The first tool that failed; null: none. */
  readonly failed: string | null;
  /** None of the calls could be read. */
  readonly unreadable: boolean;
}

async function runTools(
  blocks: readonly MindBlock[],
  { writer, runTool, resultCharacters, signal }: AnswerDeps,
): Promise<RanTools> {
  const calls = blocks.filter((block) => block.kind === 'tool-use');
  const results: ToolResult[] = [];
  let endsTurn = false;
  let failed: string | null = null;
  let characters = 0;
  for (const block of calls) {
    const done = writer.tool(block);
    const outcome: ToolOutcome = signal.aborted
      ? toolError(CALL_CUT)
      : block.unreadable !== undefined
        ? toolError(block.unreadable)
        : characters >= resultCharacters
          ? toolError(notRun(characters))
          : await runTool(block.name, block.input);
    const { text, isError, picture } = outcome;
    endsTurn ||= outcome.endsTurn === true;
    if (isError) failed ??= block.name;
    characters += text.length;
    done(outcome);
    results.push({ toolUseId: block.toolUseId, text, isError, ...(picture ? { picture } : {}) });
  }
  const unreadable = calls.length > 0 && calls.every((block) => block.unreadable !== undefined);
  return { results, endsTurn, failed, unreadable };
}

function endOf(answer: MindAnswer, maxTokens: number): Pick<AnswerOutcome, 'status' | 'error'> {
  if (!answer.ok) {
    const cut = answer.error.kind === 'stream-cut' || answer.error.kind === 'aborted';
    return { status: cut ? 'interrupted' : 'failed', error: answer.error.message };
  }
  switch (answer.stop) {
    case 'refusal':
      return { status: 'failed', error: sentence`The model declined to answer this.` };
    case 'length':
      return {
        status: 'interrupted',
        error:
          answer.maxTokens === undefined
            ? sentence`The answer reached the limit of ${maxTokens} tokens and was cut there. The settings can raise it.`
            : sentence`The answer reached ${answer.maxTokens} tokens, which is all that the model’s server had room for, and was cut there.`,
      };
    case 'end':
    case 'tools':
      return { status: 'complete', error: null };
    default:
      return answer.stop satisfies never;
  }
}

/**
 * Calls that a mind, or its provider, runs itself. Each begins once. The end of the answer ends any
 * that are still open.
 */
function createOwnCalls({ writer, onBegun }: Pick<AnswerDeps, 'writer' | 'onBegun'>) {
  const open = new Map<string, ReturnType<NonNullable<MindListener['onTool']>>>();
  return {
    begin(call: Parameters<NonNullable<MindListener['onTool']>>[0]) {
      const { toolUseId, name, input } = call;
      const before = open.get(toolUseId);
      if (before) return before;
      const done = writer.tool(call);
      // A thought changes nothing, so no record of calls has it.
      const ended = name === THOUGHT ? () => undefined : onBegun(name, input);
      const end = (text: string, isError: boolean) => {
        if (!open.delete(toolUseId)) return;
        done({ text, isError });
        ended({ text, isError });
      };
      open.set(toolUseId, end);
      return end;
    },
    cut: () => open.forEach((end) => end(CALL_CUT, true)),
  };
}

/**
 * Asks until the mind is done, fails, or `signal` aborts. The conversation stays valid in every
 * case.
 */
export async function runAnswer(deps: AnswerDeps): Promise<AnswerOutcome> {
  const own = createOwnCalls(deps);
  try {
    return await askedUntilDone(deps, own);
  } finally {
    own.cut();
  }
}

async function askedUntilDone(deps: AnswerDeps, own: ReturnType<typeof createOwnCalls>): Promise<AnswerOutcome> {
  const { mind, priority, maxTokens, conversation, window, compactor, writer, signal, cachesForAnHour } = deps;
  let usage: Usage | null = null;
  let failedTool: string | null = null;
  let unreadableTurns = 0;
  let isRepeated = false;
  /** Restores the results that were left out. Null: none were. */
  let restoreResults: (() => void) | null = null;
  // A turn that is repeated is one turn and two requests.
  let requests = 0;
  for (let turn = 1; ; turn++) {
    const model = turn === 1 ? deps.model : deps.laterModel;
    const call = { mind, model, system: deps.system(), priority, signal, onState: deps.onState };
    await compactor.fit(call);
    const system = deps.system();
    const tools = (await deps.tools()).filter(({ provider }) => !provider || mind.web?.(model));
    const searching = mind.searches?.(model) ?? false;
    const size = sizeOfRequest(
      { model, system, messages: conversation.messages(), tools, maxTokens, cachesForAnHour },
      searching,
    );
    const permit = await deps.permit(size, signal);
    if (!permit.ok)
      return {
        status: permit.reason === null ? 'interrupted' : 'failed',
        error: permit.reason,
        usage,
        stop: null,
        failure: null,
        overBudget: turn === 1 && permit.reason !== null,
      };
    const request = { priority, model, system, messages: conversation.messages(), tools, maxTokens, cachesForAnHour };
    const answer = await answerBy(permit, mind, request, {
      onText: (words) => writer.text(words),
      onTool: own.begin,
      onLeftOut: deps.onLeftOut,
      onState: deps.onState,
      signal,
    });
    deps.onSpent(answer.usage, permit.spent());
    usage = addUsage(usage, answer.usage);
    // With a provider's web search, the count includes search results that were not in our request.
    if (answer.usage && !answer.blocks.some(({ kind }) => kind === 'web')) window.counted(answer.usage);
    const isToolless = answer.ok && answer.toolless === true;
    // For an ACP agent, its card says whether it has Roost's tools.
    if (answer.ok && tools.length > 0 && mind.counts === undefined) deps.onToolless(isToolless);
    const less =
      answer.ok && answer.usage ? deps.watchReading(request, { toolless: isToolless, searching }, answer.usage) : null;
    if (less) {
      window.readsOnly(less.read);
      deps.onReadLess(model, less.read, less.sent);
    }
    // Repeats the turn with a shorter conversation.
    if (!answer.ok && answer.error.kind === 'too-large' && answer.blocks.length === 0) {
      if (answer.error.tokens) deps.onWindow(model, answer.error.tokens.most);
      if (await compactor.refused(answer.error, call)) {
        turn -= 1;
        continue;
      }
    }
    // Repeats the turn without what its tools returned.
    if (!answer.ok && answer.error.kind === 'refused-request' && answer.blocks.length === 0 && !restoreResults) {
      const restore = conversation.mark();
      if (conversation.leaveOutResults()) {
        restoreResults = restore;
        turn -= 1;
        continue;
      }
    }
    if (restoreResults && answer.ok) deps.onResultsLeftOut();
    else restoreResults?.();
    restoreResults = null;
    if (answer.ok) compactor.answered();
    requests += 1;
    // A refused answer must not be sent back to the model.
    if (!answer.ok || answer.stop !== 'refusal')
      conversation.addAnswer(answer.ok && answer.stop === 'tools' ? answer.blocks : withoutCalls(answer.blocks));
    if (!answer.ok || answer.stop !== 'tools') {
      const end = {
        ...endOf(answer, maxTokens),
        ...(isToolless ? { toolless: true } : {}),
        usage,
        stop: answer.ok ? answer.stop : null,
        failure: answer.ok ? null : answer.error,
      };
      if (!answer.ok || answer.stop !== 'end') return end;
      const nothing = unfinished({
        blocks: answer.blocks,
        didBefore: turn > 1 || writer.blocks().some((block) => block.kind === 'tool' && block.name !== THOUGHT),
        failedTool,
        tools: new Set(tools.map(({ name }) => name)),
      });
      if (!nothing) return end;
      // Repeats a silent turn where that is cheap. A model that was silent without a thought often
      // speaks the second time.
      const mayRepeat =
        nothing.why !== 'leaked' &&
        !isRepeated &&
        requests < deps.maxTurns &&
        !mind.counts &&
        !isThinking(answer.blocks);
      if (!mayRepeat || signal.aborted)
        return { ...end, status: 'failed', error: nothing.error, unfinished: nothing.why };
      isRepeated = true;
      turn -= 1;
      continue;
    }
    const { results, endsTurn, failed, unreadable } = await runTools(answer.blocks, deps);
    conversation.addResults(results);
    failedTool = failed;
    unreadableTurns = unreadable ? unreadableTurns + 1 : 0;
    if (signal.aborted) return { status: 'interrupted', error: null, usage, stop: null, failure: null };
    if (endsTurn) return { status: 'complete', error: null, usage, stop: 'end', failure: null };
    if (unreadableTurns >= deps.unreadableTurns)
      return {
        status: 'failed',
        error: sentence`The model “${model}” was stopped after ${unreadableTurns} tool calls in a row that cannot be read. Try again, or choose another model.`,
        usage,
        stop: null,
        failure: null,
      };
    if (requests >= deps.maxTurns)
      return {
        // Its calls and their results stay in the conversation. The next message continues from
        // there.
        status: 'interrupted',
        error: sentence`Stopped after ${turn} steps (limit).`,
        usage,
        stop: null,
        failure: null,
        outOfTurns: true,
      };
  }
}

/**
 * Drops calls that were never run, because a conversation needs a result for each call. A search
 * may have begun before: see `closeCalls`.
 */
const withoutCalls = (blocks: readonly MindBlock[]) => blocks.filter(({ kind }) => kind === 'text' || kind === 'web');
