/**
 * One answer: the mind is asked, its tools are run, and it is asked again with their results, until
 * it is done. What is said goes into the log by the writer and into the conversation.
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
import { sentence } from '../../../src/shared/domain/sentence.ts';
import type { Cost } from '../../../src/shared/domain/prices.ts';
import type { RequestSize } from '../../../src/shared/domain/request-cost.ts';
import type { Took, ToolOutcome } from '../../contracts/index.ts';
import { toolError } from '../../contracts/define-tool.ts';
import {
  type AgentMind,
  type Mind,
  type MindAnswer,
  type MindBlock,
  type MindError,
  type MindListener,
  type MindMessage,
  type MindRequest,
  type MindTool,
  type Priority,
  type RequestState,
  sizeOfRequest,
  type StopReason,
  toldTools,
  tookOf,
} from '../minds/index.ts';
import { RUN_BROKEN } from './outcome.ts';
import type { WriteEvents } from './recover.ts';
import type { Conversation, ToolResult, Window } from './conversation.ts';
import { addUsage } from './life.ts';
import { READ_LESS } from './settings.ts';

// Writes one answer into the log: `answer-started`, then `text` and `tool` as they come, then the
// whole `message`. The log gathers words that come close upon others.

/** What is written of how a call ended. */
type CallOutcome = Pick<ToolOutcome, 'text' | 'isError' | 'asks'>;

export interface AnswerWriter {
  /**
   * Writes `answer-started` now; otherwise it comes with the first thing that is said. Resolves
   * when it is on disk.
   */
  begin(with_: readonly RoostEvent[]): Promise<unknown>;
  text(words: string): void;
  /** Returns the way to write the result. */
  tool(call: { toolUseId: string; name: string; input: unknown }): (outcome: CallOutcome) => void;
  /** Whether anything of this answer is in the log. */
  begun(): boolean;
  /** Whether it has said a word that is not blank. */
  hasWords(): boolean;
  /** What was said so far, in order. */
  blocks(): readonly Block[];
  /**
   * Resolves when the message and `with_` are on disk. An answer in which nothing was said and that
   * was not begun leaves no message.
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
  /** Something of the answer could not be written: it is not to go on. */
  readonly onUnkept: () => void;
  readonly now: () => number;
  /**
   * Called once, at the first word that is not blank; what it returns is written before that word.
   */
  readonly onFirstWords: () => readonly RoostEvent[];
}

/** A pair of surrogates stays in one event. */
const endsInHalf = (text: string) => /[\ud800-\udbff]$/.test(text);

function addWords(blocks: Block[], words: string): void {
  const last = blocks.at(-1);
  if (last?.kind === 'text') blocks[blocks.length - 1] = { kind: 'text', text: last.text + words };
  else blocks.push({ kind: 'text', text: words });
}

/**
 * Takes this id among the others, and gives what it is there: some servers number the calls of
 * every turn from the same start.
 */
function addUnlike(given: string, others: Set<string>): string {
  let id = given;
  for (let n = 2; others.has(id); n++) id = `${given}.${n}`;
  others.add(id);
  return id;
}

/**
 * A message that the log would not take loses what does not fit, and says so: its words are kept.
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
  /** Half of a letter, until the other comes. */
  let held = '';
  /** ms since the epoch: when it was written that it begins. */
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

  /** All of it, but for half of a letter where more may come. */
  function takeText(words: string, last: boolean): RoostEvent[] {
    const text = held + words;
    held = !last && endsInHalf(text) ? text.slice(-1) : '';
    const whole = text.slice(0, text.length - held.length);
    return whole === '' ? [] : [...startEvents(), { kind: 'text', messageId, text: whole }];
  }

  function write(events: readonly RoostEvent[]): void {
    if (events.length > 0) void record(events).then((kept) => (kept ? undefined : deps.onUnkept()));
  }

  return {
    begin: (with_) => record([...with_, ...startEvents()]),
    text(words) {
      if (finished || words === '') return;
      addWords(blocks, words);
      const isFirst = !hasWords && words.trim() !== '';
      hasWords ||= isFirst;
      // The first words open an eye on the page.
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
        // It stands where it began, as the log stamps it too: what was written meanwhile was not
        // heard in it.
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

// Whether an answer that a model has ended came to anything: silence and calls that nobody ran are
// no end. Pure.

/*
 * A tool call that a model wrote as text: its server did not recognise it as one, because it knows
 * no tools, or not this model's way to write them. It is recognised so that it can be said. It is
 * never run. Pure.
 *
 * Models are trained on marks of their own: Hermes and Qwen `<tool_call>{…}`, Llama `<function=…>`
 * and `<|python_tag|>`, Mistral `[TOOL_CALLS]`, DeepSeek `<｜tool▁calls▁begin｜>`, Kimi
 * `<|tool_calls_section_begin|>`, Phi and Granite `<|tool_call|>`, gpt-oss `to=functions.…`, LFM
 * `<|tool_call_start|>`, Command `<|START_ACTION|>`, older Claude `<function_calls>`. Others write
 * JSON, alone or in a fence.
 */

/** A mark, and the beginning of what is called behind it. */
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
/** How a call ends that is the end of a text. */
const ENDS = /[\]})>`"']$/;
const FENCED = /```[ \t]*([\w-]*)[ \t]*\r?\n?([\s\S]*?)(?:```|$)/g;
const INLINE = /`[^`\n]+`/g;
/** The name and the input of a call, as JSON has them, however it is nested. */
const JSON_NAME = /"(?:name|function|tool|tool_name)"\s*:\s*"([^"\n]+)"/;
const JSON_INPUT = /"(?:arguments|parameters|input|args|tool_input)"\s*:\s*["{]/;
/** Characters of a text in which the name of a call stands, where it is one. */
const HEAD = 400;

/**
 * `isAll`: the text is nothing else. Then it is a call whatever it calls; else it calls one of the
 * tools that there are.
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

/**
 * Whether these words end in a call of a tool. `tools`: names of those that the model was told of.
 */
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
  // A paragraph of its own behind the words.
  const paragraph = text.slice(text.search(/(?:^|\n)[ \t]*[[{][^\n]*(?:\n(?!\s*\n)[^\n]*)*$/)).trim();
  if (isJsonCall(paragraph, tools, false)) return true;
  // What stands in code is spoken of.
  return MARKED.test(text.replaceAll(FENCED, '').replaceAll(INLINE, ''));
}

/**
 * `silent`: it said nothing and did nothing. `after-failure`: it said nothing after a tool had
 * failed. `leaked`: it wrote a call of a tool as text.
 */
type Unfinished = 'silent' | 'after-failure' | 'leaked';

interface EndedAnswer {
  /** What the model's last turn brought. */
  readonly blocks: readonly MindBlock[];
  /** Something was said or done before that, in the same answer. */
  readonly didBefore: boolean;
  /** The tool of the turn before that failed; null: none did. */
  readonly failedTool: string | null;
  /** Names of the tools that the model was told of. */
  readonly tools: ReadonlySet<string>;
}

/** Null: it came to its end. `error`: a sentence for people. */
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
    error: isThinking(blocks) ? sentence`It thought, and said nothing.` : sentence`It answered, but said nothing.`,
  };
}

/** Thoughts are what an answer without words costs. */
const isThinking = (blocks: readonly MindBlock[]): boolean =>
  blocks.some(({ kind }) => kind === 'thinking' || kind === 'redacted-thinking');

/**
 * Of `settle`, for a request that was sent, and `release` the first call counts; `again` and
 * `spent` as `CostHold` has them. `reason`: a sentence for people, and the answer ends with it;
 * null: it was interrupted.
 */
export type Permit =
  | {
      readonly ok: true;
      again(): Promise<boolean>;
      settle(took: Took): Promise<void>;
      spent(): Cost;
      release(): void;
    }
  | { readonly ok: false; readonly reason: string | null };

export interface AnswerDeps {
  readonly mind: Pick<Mind, 'answer' | 'web' | 'searches'> & Partial<Pick<AgentMind, 'counts'>>;
  readonly model: string;
  /** Of the requests after tools were used. */
  readonly laterModel: string;
  readonly cachesForAnHour: boolean;
  readonly system: string;
  readonly priority: Priority;
  readonly onState: (state: RequestState) => void;
  /** Pictures and PDFs that the model's server could not read. */
  readonly onLeftOut: NonNullable<MindListener['onLeftOut']>;
  /** Whether the model was told of no tools, after each answer to which some were offered. */
  readonly onToolless: (isToolless: boolean) => void;
  /** The server read clearly less than it was sent; both in tokens, the second reckoned. */
  readonly onReadLess: (read: number, sent: number) => void;
  /** Of the next request. */
  readonly tools: () => Promise<readonly MindTool[]>;
  readonly maxTokens: number;
  /** Requests to the mind, those with no outcome at all left out. */
  readonly maxTurns: number;
  /** Characters of results after which no further call of the same turn is run. */
  readonly resultCharacters: number;
  /** Turns in a row in which no call could be read, after which the answer is given up. */
  readonly unreadableTurns: number;
  readonly conversation: Conversation;
  readonly window: Window;
  readonly writer: AnswerWriter;
  readonly signal: AbortSignal;
  /** Called before each request, for as long as it has to wait: whether it may be sent. */
  readonly permit: (size: RequestSize, signal: AbortSignal) => Promise<Permit>;
  /** A request is over: what it took, and what it cost. */
  readonly onSpent: (usage: Usage | null, cost: Cost) => void;
  readonly runTool: (name: string, input: unknown) => Promise<ToolOutcome>;
  /**
   * A tool that the mind runs by itself has begun. Returns the way to tell its end, which comes in
   * any case.
   */
  readonly onBegun: (name: string, input: unknown) => (outcome: ToolOutcome) => void;
}

export interface AnswerOutcome {
  readonly status: MessageStatus;
  /** A sentence for people, where it did not simply end. */
  readonly error: string | null;
  readonly usage: Usage | null;
  /** How the mind ended its last turn; null where it was cut or failed. */
  readonly stop: StopReason | null;
  /** What went wrong with the mind; null where nothing did. */
  readonly failure: MindError | null;
  /** A budget let nothing of it be asked. */
  readonly overBudget?: boolean;
  /** The mind ended it, and it came to nothing. Left out: it did not. */
  readonly unfinished?: Unfinished;
  /** Its model was told of no tools. */
  readonly toolless?: boolean;
  /** It made as many requests as it may. */
  readonly outOfTurns?: true;
}

const CALL_CUT = 'This call was cut off before it answered.';
/**
 * Nothing is lost by it: a result that was cut short would be, where it was taken out of an inbox.
 */
const notRun = (characters: number) =>
  `Not run: the calls before this one have answered with ${characters.toLocaleString('en')} characters, which is all that is put before you at once. It has done and read nothing; what it would have given is where it was. Call it again in your next turn.`;

interface RanTools {
  readonly results: readonly ToolResult[];
  readonly endsTurn: boolean;
  /** The first that failed; null: none did. */
  readonly failed: string | null;
  /** Not one of the calls could be read. */
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

/**
 * One that ended without a word of what it took was counted then; one that was left before its
 * first is counted here.
 */
async function settle(permit: Extract<Permit, { ok: true }>, model: string, answer: MindAnswer): Promise<void> {
  const took = tookOf(model, answer);
  if (took === 'nothing') permit.release();
  else await permit.settle(took);
}

/**
 * Whether the server read clearly less than it was sent: some leave out what is too long, without a
 * word. Null: it did not, or it cannot be known. Some servers count only what is new to them: a
 * count of that kind comes to no more than the newest message.
 */
function readLess(
  { system, messages, tools }: Pick<MindRequest, 'system' | 'messages' | 'tools'>,
  { toolless, searching }: { readonly toolless: boolean; readonly searching: boolean },
  { inputTokens, cacheReadTokens, cacheWriteTokens }: Usage,
): { readonly read: number; readonly sent: number } | null {
  const read = inputTokens + cacheReadTokens + cacheWriteTokens;
  const { charactersPerToken, mostCharactersPerToken, fromCharacters } = READ_LESS;
  const textOf = ({ blocks }: MindMessage) =>
    blocks.reduce((sum, block) => sum + ('text' in block ? block.text.length : 0), 0);
  const newest = messages.at(-1);
  const ofNewest = newest ? textOf(newest) : 0;
  const ofTools = toolless ? 0 : JSON.stringify(toldTools(tools, searching)).length;
  const all = system.length + ofTools + messages.reduce((sum, message) => sum + textOf(message), 0);
  if (read < READ_LESS.fromTokens || all < fromCharacters || all / read <= mostCharactersPerToken) return null;
  const isWhole = ofNewest / read > mostCharactersPerToken || read > ofNewest / charactersPerToken + READ_LESS.slack;
  return isWhole ? { read, sent: Math.round(all / charactersPerToken) } : null;
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
 * What a mind, or its provider, calls by itself: each is begun once, and ends with the answer where
 * nothing else has ended it.
 */
function createOwnCalls({ writer, onBegun }: Pick<AnswerDeps, 'writer' | 'onBegun'>) {
  const open = new Map<string, ReturnType<NonNullable<MindListener['onTool']>>>();
  return {
    begin(call: Parameters<NonNullable<MindListener['onTool']>>[0]) {
      const { toolUseId, name, input } = call;
      const before = open.get(toolUseId);
      if (before) return before;
      const done = writer.tool(call);
      const ended = onBegun(name, input);
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
 * Asks until the mind is done, fails, or `signal` aborts. The conversation is left valid in every
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
  const { mind, system, priority, maxTokens, conversation, window, writer, signal, cachesForAnHour } = deps;
  let usage: Usage | null = null;
  let failedTool: string | null = null;
  let unreadableTurns = 0;
  let isRepeated = false;
  // A turn that is asked once more is one turn, and two requests.
  let requests = 0;
  for (let turn = 1; ; turn++) {
    window.fit();
    const model = turn === 1 ? deps.model : deps.laterModel;
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
    window.fit();
    const request = { priority, model, system, messages: conversation.messages(), tools, maxTokens, cachesForAnHour };
    // What it asks is held and counted where it asks: held here too, it would wait for itself.
    if (mind.counts === 'itself') permit.release();
    const listener: MindListener = {
      onText: (words) => writer.text(words),
      onTool: own.begin,
      onLost: () => permit.again(),
      onLeftOut: deps.onLeftOut,
      onState: deps.onState,
      signal,
    };
    const answer = await mind.answer(request, listener).catch(async (error: unknown) => {
      // It may have been sent: what nobody tells is counted at the most.
      await permit.settle(null);
      throw error;
    });
    await settle(permit, model, answer);
    deps.onSpent(answer.usage, permit.spent());
    usage = addUsage(usage, answer.usage);
    // What its provider looked up meanwhile was counted too, and was not sent.
    if (answer.usage && !answer.blocks.some(({ kind }) => kind === 'web')) window.counted(answer.usage);
    const isToolless = answer.ok && answer.toolless === true;
    // Whether an ACP agent has Roost's tools stands on its card.
    if (answer.ok && tools.length > 0 && mind.counts === undefined) deps.onToolless(isToolless);
    const less =
      answer.ok && answer.usage ? readLess(request, { toolless: isToolless, searching }, answer.usage) : null;
    if (less) {
      window.readsOnly(less.read);
      deps.onReadLess(less.read, less.sent);
    }
    // The same turn once more, with less before it.
    if (!answer.ok && answer.error.kind === 'too-large' && answer.blocks.length === 0 && window.refused(answer.error)) {
      turn -= 1;
      continue;
    }
    requests += 1;
    // What a model declined to say must not be handed back to it.
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
        didBefore: turn > 1 || writer.blocks().some(({ kind }) => kind === 'tool'),
        failedTool,
        tools: new Set(tools.map(({ name }) => name)),
      });
      if (!nothing) return end;
      // Once more, where that costs little: a model that fell silent without a thought often speaks
      // the second time.
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
        error: sentence`The model “${model}” called tools ${unreadableTurns} times in a row in a way that cannot be read, and was stopped there. Try again, or choose another model.`,
        usage,
        stop: null,
        failure: null,
      };
    if (requests >= deps.maxTurns)
      return {
        // What it has done and read stands before it: it goes on with whatever is said next.
        status: 'interrupted',
        error: sentence`It used tools ${turn} times without coming to an end, and was stopped there. It goes on when you say so.`,
        usage,
        stop: null,
        failure: null,
        outOfTurns: true,
      };
  }
}

/**
 * A call that was never run has no result to stand with it. A search may have begun before: see
 * `closeCalls`.
 */
const withoutCalls = (blocks: readonly MindBlock[]) => blocks.filter(({ kind }) => kind === 'text' || kind === 'web');
