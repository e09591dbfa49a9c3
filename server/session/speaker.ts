/**
 * Somebody who answers in this session: the lead, or one agent. It has one conversation and answers one
 * thing at a time. What arrives meanwhile waits in order and is put before it together, except a call to
 * the team, which is put alone.
 */
import type { Block, MessageStatus } from '../../src/protocol/documents.ts';
import type { RoostEvent } from '../../src/protocol/events.ts';
import type { MindTool } from '../minds/index.ts';
import { runAnswer, type AnswerOutcome } from './answer.ts';
import { createAnswerWriter, type AnswerWriter } from './answer-writer.ts';
import type { SessionContext } from './context.ts';
import { createConversation } from './conversation.ts';
import { readToolCall, toolError, type ToolCall, type ToolOutcome } from './tools.ts';

/** Something to be put before a speaker. */
export interface Item {
  /** Null for prompts. */
  readonly messageId: string | null;
  readonly text: string;
  /** Put with nothing else. */
  readonly alone?: boolean;
  /** It waited in the inbox; reading it is an event. */
  readonly fromInbox?: boolean;
  /** Cut the conversation back to before this message first. */
  readonly replaces?: string;
}

/** Who ended an answer before it ended itself. */
export type Interruption =
  | { readonly by: 'person' }
  | { readonly by: 'closing'; readonly status: MessageStatus }
  /** It took too long, or is no longer wanted. */
  | { readonly by: 'relay'; readonly error: string };

export interface AnswerEnd extends AnswerOutcome {
  readonly items: readonly Item[];
  readonly blocks: readonly Block[];
  readonly hasWords: boolean;
  readonly interruption: Interruption | null;
}

export interface SpeakerHooks {
  onStart?(items: readonly Item[]): void;
  /** Before the first word of each answer; the events stand before that word. */
  onFirstWords?(): readonly RoostEvent[];
  /** When an answer is over; the events stand right after its `message`. */
  onEnd?(end: AnswerEnd): readonly RoostEvent[];
  /** Something waits while an answer is being given. */
  onWaiting?(): void;
  runTool(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome> | ToolOutcome;
}

export interface Speaker {
  /** Puts these before the speaker: at once where it is quiet, in the same tick. */
  put(items: readonly Item[]): void;
  /** Whether this message still waits or was put, and nothing of the person's came after it. */
  isLast(messageId: string): boolean;
  /** Takes back a message: it does not wait any more, and what is being said after it is stopped, on disk. */
  withdraw(messageId: string): Promise<void>;
  /** Says that this is the person's newest message here. */
  setLast(messageId: string | null): void;
  /** An answer is under way, whether or not it has said anything. */
  busy(): boolean;
  /** It is saying something that the log knows of. */
  speaking(): boolean;
  /** Ends the current answer; resolves when that is on disk. What waits is put next. */
  interrupt(why: Interruption): Promise<void>;
  /** As `interrupt`, and nothing more is put or said. */
  close(why: Interruption): Promise<void>;
}

export interface SpeakerDeps {
  readonly context: SessionContext;
  readonly agentId: string;
  readonly author: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly MindTool[];
  /** Whether an answer shows before its first word. False while it is not known whether there will be one. */
  readonly announces: () => boolean;
  readonly hooks: SpeakerHooks;
}

interface Current {
  readonly abort: AbortController;
  readonly writer: AnswerWriter;
  interruption: Interruption | null;
  /** Resolves when the answer is over and on disk. */
  readonly over: Promise<void>;
}

const TOOLS_CUT = 'The answer was cut off before this call was made.';

function statusOf(outcome: AnswerOutcome, interruption: Interruption | null): { status: MessageStatus; error: string | null } {
  switch (interruption?.by) {
    case undefined:
      return { status: outcome.status, error: outcome.error };
    case 'person':
      return { status: 'stopped', error: null };
    case 'closing':
      return { status: interruption.status, error: null };
    case 'relay':
      return { status: 'interrupted', error: interruption.error };
    default:
      return interruption satisfies never;
  }
}

export function createSpeaker(deps: SpeakerDeps): Speaker {
  const { context, agentId, author, model, system, tools, announces, hooks } = deps;
  const { sessionId, now, newId, timers, limits, record, mind, inbox, logger } = context;
  const conversation = createConversation();
  let queue: Item[] = [];
  let current: Current | null = null;
  let running: Promise<void> | null = null;
  let closed = false;
  let lastOfPerson: string | null = null;

  function takeItems(): Item[] {
    const until = queue[0]?.alone ? 1 : queue.findIndex((item, i) => i > 0 && (item.alone || item.replaces !== undefined));
    return queue.splice(0, until === -1 ? queue.length : until);
  }

  function readEvents(items: readonly Item[]): RoostEvent[] {
    return items.flatMap(({ fromInbox, messageId }) => (fromInbox && messageId !== null ? [{ kind: 'message-read' as const, time: now(), messageId, agentId, sessionId }] : []));
  }

  async function runTool(name: string, input: unknown, signal: AbortSignal): Promise<ToolOutcome> {
    const read = readToolCall(tools, name, input);
    return read.ok ? await hooks.runTool(read.call, signal) : toolError(read.reason);
  }

  async function answer(items: readonly Item[]): Promise<void> {
    for (const { replaces } of items) if (replaces !== undefined) conversation.cutBefore(replaces);
    conversation.addUser(items);
    const writer = createAnswerWriter({
      messageId: newId(),
      agentId,
      author,
      sessionId,
      record,
      now,
      timers,
      textBatchMs: limits.textBatchMs,
      onFirstWords: () => hooks.onFirstWords?.() ?? [],
    });
    let resolveOver: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (resolveOver = resolve));
    const mine: Current = { abort: new AbortController(), writer, interruption: null, over };
    current = mine;
    hooks.onStart?.(items);
    const read = readEvents(items);
    if (announces()) writer.begin(read);
    else if (read.length > 0) void record(read);
    if (read.length > 0)
      inbox.markRead(read.flatMap((event) => (event.kind === 'message-read' ? [event.messageId] : [])), sessionId, now()).catch((error: unknown) => {
        logger.error('a message could not be marked as read; it will be read again at the next wake', { agentId, error: String(error) });
      });
    const outcome = await runAnswer({
      mind,
      model,
      system,
      tools,
      maxTokens: context.settings.maxAnswerTokens,
      maxTurns: limits.maxTurns,
      conversation,
      writer,
      signal: mine.abort.signal,
      runTool,
    });
    conversation.closeCalls(TOOLS_CUT);
    // A call that was not answered at all is over; the next one must not be read together with it.
    for (const { alone, messageId } of items) if (alone && messageId !== null && writer.blocks().length === 0) conversation.cutBefore(messageId);
    const end = { ...outcome, ...statusOf(outcome, mine.interruption) };
    const with_ = hooks.onEnd?.({ ...end, items, blocks: writer.blocks(), hasWords: writer.hasWords(), interruption: mine.interruption }) ?? [];
    await writer.finish(end, with_);
    current = null;
    resolveOver();
  }

  async function run(): Promise<void> {
    while (queue.length > 0 && !closed) await answer(takeItems());
    running = null;
  }

  async function interrupt(why: Interruption): Promise<void> {
    if (!current) return;
    current.interruption ??= why;
    current.abort.abort();
    await current.over;
  }

  return {
    put(items) {
      if (closed || items.length === 0) return;
      for (const { messageId, fromInbox } of items) if (fromInbox) lastOfPerson = messageId;
      queue.push(...items);
      if (running) hooks.onWaiting?.();
      else running = run().catch(context.fail);
    },
    isLast: (messageId) => lastOfPerson === messageId,
    async withdraw(messageId) {
      const waiting = queue.filter((item) => item.messageId !== messageId);
      const waited = waiting.length < queue.length;
      queue = waiting;
      if (!waited) await interrupt({ by: 'person' });
    },
    setLast(messageId) {
      lastOfPerson = messageId;
    },
    busy: () => running !== null,
    speaking: () => current !== null && current.writer.begun(),
    interrupt,
    async close(why) {
      closed = true;
      queue = [];
      await interrupt(why);
    },
  };
}
