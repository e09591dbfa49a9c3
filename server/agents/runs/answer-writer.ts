/**
 * Writes one answer into the log: `answer-started`, then `text` and `tool` as they come, then the
 * whole `message`. The log gathers words that come close upon others.
 */
import type { AgentId, MessageId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import {
  blockSchema,
  usageSchema,
  type Block,
  type MessageStatus,
  type Usage,
} from '../../../src/shared/protocol/documents.ts';
import { eventSchema, type EventOf, type RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { ToolOutcome } from '../../contracts/index.ts';
import { RUN_BROKEN } from './outcome.ts';
import type { WriteEvents } from './record.ts';

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

export interface AnswerWriterDeps {
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
