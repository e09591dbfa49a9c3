/**
 * Compaction: keeps a conversation within its model's window. The older part becomes a summary that
 * the agent writes itself. Every mind, session and run uses it, whether the window fills or the
 * model refuses a request as too long.
 *
 * - One request to the model is made, and the next answer waits for no other.
 * - A failed summary changes nothing. The oldest turns are dropped instead, and the person is told.
 * - The messages stay in the ledger. Only what the model is sent becomes shorter.
 */
import type { MessageId } from '../../../src/shared/domain/ids.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import {
  type CompactionLimits,
  HEAD_SAID_BY,
  HEAD_SAID_TO,
  summaryRequest,
  summaryText,
} from '../../../src/shared/domain/compaction.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { Cost } from '../../../src/shared/domain/prices.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { RequestSize } from '../../../src/shared/domain/request-cost.ts';
import type { Compaction, Usage } from '../../../src/shared/protocol/documents.ts';
import {
  type AgentMind,
  type Mind,
  type MindAnswer,
  type MindBlock,
  type MindError,
  type MindMessage,
  type MindRequest,
  type RequestState,
  sizeOfRequest,
} from '../minds/index.ts';
import type { Conversation, OlderPart, Window } from './conversation.ts';
import { answerBy, type Permit } from './permits.ts';

/** One request of the answer that waits. */
export interface CompactionCall extends Pick<MindRequest, 'priority' | 'model' | 'system'> {
  readonly mind: Pick<Mind, 'answer' | 'searches'> & Partial<Pick<AgentMind, 'counts'>>;
  readonly signal: AbortSignal;
  readonly onState: (state: RequestState) => void;
}

export interface Compactor {
  /** Called before each request. Resolves when the conversation fits, as far as known. */
  fit(call: CompactionCall): Promise<void>;
  /** The model has answered. The next compaction may ask for a summary again. */
  answered(): void;
  /**
   * The model refused the last request as too long. True: the conversation is shorter, so the
   * request can be repeated.
   */
  refused(error: MindError, call: CompactionCall): Promise<boolean>;
  /** The person has corrected this summary. It does nothing if the conversation has it no more. */
  correct(messageId: MessageId, text: string): void;
}

interface CompactorDeps {
  readonly conversation: Pick<Conversation, 'older' | 'shorten' | 'size' | 'rewrite'>;
  readonly window: Pick<Window, 'due' | 'room' | 'sending' | 'refused' | 'tokens'>;
  readonly limits: CompactionLimits;
  /** Most tokens of an answer. */
  readonly maxTokens: number;
  readonly newId: () => MessageId;
  readonly permit: (size: RequestSize, messageId: MessageId, signal: AbortSignal) => Promise<Permit>;
  readonly onSpent: (usage: Usage | null, cost: Cost) => void;
  /** What the agent has under way: questions to the person, executors. */
  readonly underWay: () => Promise<readonly string[]>;
  /** A summary took the place of the older part. Resolves when that is on disk. */
  readonly onSummary: (
    messageId: MessageId,
    text: string,
    compaction: Compaction,
    usage: Usage | null,
  ) => Promise<unknown>;
  /** The oldest turns were dropped. `why`: why there is no summary. Null: none was due. */
  readonly onCut: (why: string | null) => void;
}

/** Approximate. */
const CHARACTERS_PER_TOKEN = 4;
/** Part of the room that quoted text may fill. Its marks of each line take the rest. */
const QUOTED_SHARE = 0.9;

function lineOf(block: MindBlock, role: MindMessage['role'], limits: CompactionLimits): string[] {
  switch (block.kind) {
    case 'text':
      return [writeSaid({ head: role === 'user' ? HEAD_SAID_TO : HEAD_SAID_BY, text: block.text })];
    case 'tool-use':
      return [
        writeSaid({
          head: `[You called ${block.name}]`,
          text: cutMiddle(JSON.stringify(block.input ?? null), limits.inputCharacters),
        }),
      ];
    case 'tool-result':
      return [
        writeSaid({
          head: block.isError ? '[The call failed]' : '[The call returned]',
          text: cutMiddle(block.text, limits.resultCharacters),
        }),
      ];
    case 'picture':
    case 'document':
      return [`[${block.name} was shown to you]`];
    case 'web':
      return [`[You used the web: ${block.block.type}]`];
    case 'thinking':
    case 'redacted-thinking':
    case 'tool-search':
      return [];
    default:
      return block satisfies never;
  }
}

/**
 * The conversation as one text. Calls, results, pictures and thoughts are words in it, so every
 * server accepts it, and no model takes it for a conversation to go on with.
 */
const quotedConversation = (messages: readonly MindMessage[], limits: CompactionLimits): string =>
  messages.flatMap(({ role, blocks }) => blocks.flatMap((block) => lineOf(block, role, limits))).join('\n\n');

const userMessage = (texts: readonly string[]): MindMessage => ({
  role: 'user',
  blocks: texts.map((text) => ({ kind: 'text', text })),
});

/** Null: there is no room for enough of the conversation. */
function quotedRequest(
  { messages, prompts }: OlderPart,
  words: number,
  room: number,
  limits: CompactionLimits,
): readonly MindMessage[] | null {
  const left = prompts.reduce((sum, { length }) => sum - length, room - summaryRequest('', words).length);
  if (left < limits.least) return null;
  const most = Math.floor(left * QUOTED_SHARE);
  return [userMessage([...prompts, summaryRequest(cutMiddle(quotedConversation(messages, limits), most), words)])];
}

const wordsIn = (blocks: readonly MindBlock[]) =>
  blocks
    .flatMap((block) => (block.kind === 'text' ? [block.text] : []))
    .join('\n')
    .trim();

type Written =
  | { readonly ok: true; readonly text: string; readonly usage: Usage | null }
  /** `why`: as a sentence for people. Null: the answer was interrupted, or no summary was due. */
  | { readonly ok: false; readonly why: string | null };

function writtenBy(answer: MindAnswer, most: number): Written {
  if (!answer.ok) {
    const { kind, message } = answer.error;
    return { ok: false, why: kind === 'aborted' ? null : message };
  }
  if (answer.stop === 'refusal') return { ok: false, why: sentence`The model declined to answer this.` };
  const text = wordsIn(answer.blocks);
  if (answer.stop === 'length' || text === '' || text.length > most)
    return { ok: false, why: sentence`The summary was empty, cut off or too long.` };
  return { ok: true, text, usage: answer.usage };
}

export function createCompactor(deps: CompactorDeps): Compactor {
  const { conversation, window, limits } = deps;
  /** The model has answered since the last request for a summary. */
  let mayAsk = true;
  /** What the newest summary names as under way. An older one is a part of it. */
  let underWay: readonly string[] = [];

  async function summaryOf(older: OlderPart, messageId: MessageId, call: CompactionCall): Promise<Written> {
    const { mind, model, system, priority, signal } = call;
    const room = window.room();
    const most = Math.floor(Math.min(limits.mostCharacters, room * limits.share));
    const words = Math.floor(most / limits.wordCharacters);
    const messages =
      // An ACP agent remembers the conversation itself, and is asked within it.
      mind.counts === undefined
        ? quotedRequest(older, words, room - system.length, limits)
        : [
            ...older.prompts.map((text) => userMessage([text])),
            ...older.messages,
            userMessage([summaryRequest(null, words)]),
          ];
    if (messages === null) return { ok: false, why: null };
    const answerTokens = Math.floor((room * limits.share) / CHARACTERS_PER_TOKEN);
    const request: MindRequest = {
      ...{ priority, model, system, messages, tools: [] },
      maxTokens: Math.max(1, Math.min(deps.maxTokens, limits.answerTokens, answerTokens)),
    };
    const permit = await deps.permit(sizeOfRequest(request, mind.searches?.(model) ?? false), messageId, signal);
    if (!permit.ok) return { ok: false, why: permit.reason };
    mayAsk = false;
    const answer = await answerBy(permit, mind, request, {
      onText: () => undefined,
      onState: call.onState,
      signal,
    });
    deps.onSpent(answer.usage, permit.spent());
    return writtenBy(answer, most);
  }

  /** False: nothing could be left out. */
  async function compact(most: number, call: CompactionCall): Promise<boolean> {
    const { signal } = call;
    const least = Math.max(limits.least, window.room() * limits.leastShare);
    const older = mayAsk ? conversation.older({ keep: limits.keep, least }) : null;
    const messageId = deps.newId();
    const before = window.tokens();
    const written: Written = older ? await summaryOf(older, messageId, call) : { ok: false, why: null };
    // The answer is over. Its conversation stays as it is.
    if (signal.aborted) return false;
    if (older && written.ok) {
      underWay = await deps.underWay();
      older.replace({ messageId, text: summaryText(written.text, underWay) });
      const { count, from } = older;
      const compaction = { messages: count, from, tokensBefore: before, tokensAfter: window.tokens() };
      await deps.onSummary(messageId, written.text, compaction, written.usage);
      // One giant message may still be there.
      if (conversation.size() > most && conversation.shorten(most)) deps.onCut(null);
      return true;
    }
    const isShorter = conversation.shorten(most);
    if (isShorter) deps.onCut(written.ok ? null : written.why);
    return isShorter;
  }

  return {
    async fit(call) {
      const most = window.due();
      if (most !== null) await compact(most, call);
      window.sending();
    },
    answered() {
      mayAsk = true;
    },
    async refused(error, call) {
      const most = window.refused(error);
      return most !== null && (await compact(most, call));
    },
    correct: (messageId, text) => conversation.rewrite(messageId, summaryText(text, underWay)),
  };
}
