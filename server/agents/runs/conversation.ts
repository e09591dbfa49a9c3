/**
 * One conversation in the form that a mind receives. It is valid for the Messages API at all times:
 * roles alternate, no text is empty, every tool call has a result. When it outgrows its model, its
 * older part is replaced by a summary, or dropped. It is never cut between a call and its result,
 * and the newest words always stay.
 */
import { type CompactionPiece, planCompaction } from '../../../src/shared/domain/compaction.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { Picture, SentAttachment } from '../../../src/shared/domain/attachment.ts';
import type { MessageId } from '../../../src/shared/domain/ids.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { Usage } from '../../../src/shared/protocol/documents.ts';
import { mapStrings } from '../../platform/json-bounds.ts';
import { type MindBlock, type MindError, type MindMessage, withWholeWeb } from '../minds/index.ts';

/*
 * Pictures and PDFs in a request, from tools and from the person. They are expensive, and a request
 * has room for few.
 */

/**
 * The newest pictures and PDFs that are sent: their number, and their characters of base64. A
 * request to the Messages API has room for 32 MB and 100 pictures. The attachments of one message
 * from the person fit.
 */
const SHOWN_PICTURES = { most: 20, characters: 27_000_000 } as const;
/** Context of one picture, in characters. */
const PICTURE_CHARACTERS = 6_400;
/**
 * One character of context stands for this many characters of base64 of a PDF. Its number of pages
 * is unknown before it is read.
 */
const PDF_SHARE = 10;

type ResultBlock = Extract<MindBlock, { kind: 'tool-result' }>;
type SentBlock = Extract<MindBlock, { kind: 'picture' | 'document' }>;

const NOT_SHOWN_NOW = '[The picture is no longer included. Open it again if you need it.]';
const withoutPicture = ({ kind, toolUseId, text, isError }: ResultBlock): ResultBlock => ({
  kind,
  toolUseId,
  text: `${text}\n${NOT_SHOWN_NOW}`,
  isError,
});
/** Replaces an attachment that no longer fits. */
const omitted = ({ name }: SentBlock): MindBlock => ({
  kind: 'text',
  text: `[${name} is no longer included. Ask for it again if you need it.]`,
});

const dataOf = (block: SentBlock) => (block.kind === 'picture' ? block.picture.data : block.data);
/** Approximate size in characters of text. */
const charactersOf = (block: SentBlock): number =>
  block.kind === 'picture' ? PICTURE_CHARACTERS : PICTURE_CHARACTERS + Math.ceil(block.data.length / PDF_SHARE);

/**
 * The person's attachments as blocks. They follow the words that name them. Text files are quoted
 * as somebody's words.
 */
function attachmentBlocks({ name, mediaType, data }: SentAttachment): MindBlock[] {
  if (mediaType === 'application/pdf') return [{ kind: 'document', name, data }];
  if (mediaType !== 'text/plain') return [{ kind: 'picture', name, picture: { type: mediaType, data } }];
  const text = Buffer.from(data, 'base64').toString('utf8');
  return [{ kind: 'text', text: writeSaid({ head: `[Text of ${name}]`, text }) }];
}

/** Keeps only the newest pictures and PDFs. */
function withNewestPictures(messages: readonly MindMessage[]): MindMessage[] {
  let count = 0;
  let characters = 0;
  const fits = (data: string) => {
    count += 1;
    characters += data.length;
    return count <= SHOWN_PICTURES.most && characters <= SHOWN_PICTURES.characters;
  };
  const seen = (block: MindBlock): MindBlock => {
    if (block.kind === 'picture' || block.kind === 'document') return fits(dataOf(block)) ? block : omitted(block);
    return block.kind === 'tool-result' && block.picture && !fits(block.picture.data) ? withoutPicture(block) : block;
  };
  return messages
    .toReversed()
    .map((message) => ({ ...message, blocks: message.blocks.toReversed().map(seen).toReversed() }))
    .toReversed();
}

export interface UserText {
  /** The message of the ledger for this text; null for prompts. */
  readonly messageId: MessageId | null;
  readonly text: string;
  /** Attachments of the text. They follow it. */
  readonly attachments?: readonly SentAttachment[];
  /**
   * Present on texts that stay when older ones are dropped. Returns the same prompt in about `most`
   * characters, if possible.
   */
  readonly shortened?: (most: number) => string;
}

export interface ToolResult {
  readonly toolUseId: string;
  readonly text: string;
  readonly isError: boolean;
  readonly picture?: Picture;
}

export interface Conversation {
  addUser(texts: readonly UserText[]): void;
  /** Adds the mind's answer, even if it was cut. Blocks that must not be sent back are dropped. */
  addAnswer(blocks: readonly MindBlock[]): void;
  addResults(results: readonly ToolResult[]): void;
  /**
   * Replaces the results of the newest calls by a line, because the model's server refuses them.
   * False: the newest turn has none, or they are replaced already.
   */
  leaveOutResults(): boolean;
  /** Changes the text of every answer. Texts that become blank are dropped. */
  changeAnswers(change: (text: string) => string): void;
  /**
   * Gives every open tool call the result `reason`. Unfinished calls of the provider are dropped.
   */
  closeCalls(reason: string): void;
  /**
   * Whether the conversation contains this message. Messages that were shortened away do not count.
   */
  has(messageId: MessageId): boolean;
  /** Returns a function that restores the current state. */
  mark(): () => void;
  /** Cuts back to before this message. False: it is not in the conversation. */
  cutBefore(messageId: MessageId): boolean;
  /** Changes the text of a summary that it contains. */
  rewrite(messageId: MessageId, text: string): void;
  /** Characters of the whole conversation. */
  size(): number;
  /**
   * The older part, which a summary may replace. Null: `least` characters or fewer would be
   * summarised.
   */
  older(limits: { readonly keep: number; readonly least: number }): OlderPart | null;
  /**
   * Shortens the conversation to about `most` characters: drops the oldest turns and cuts the
   * middle out of long texts. False: there was nothing to drop.
   */
  shorten(most: number): boolean;
  messages(): MindMessage[];
}

/** The part of a conversation that a summary may replace. */
export interface OlderPart {
  readonly messages: readonly MindMessage[];
  /** The prompts, which stay. */
  readonly prompts: readonly string[];
  /** Messages in it, as people count them. */
  readonly count: number;
  /** The first message that stays whole. Null: none has an id. */
  readonly from: MessageId | null;
  /** Puts this text in its place. */
  replace(summary: { readonly messageId: MessageId; readonly text: string }): void;
}

interface Part {
  readonly messageId: MessageId | null;
  readonly block: MindBlock;
  readonly shortened?: UserText['shortened'];
}

interface Entry {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Part[];
}

/** Replaces a blank message, which the Messages API refuses. */
const BLANK = '(an empty message)';
/** Characters of a text that always stay when its middle is cut. */
const LEAST = 200;

const isSaid = ({ kind }: MindBlock) => kind === 'text' || kind === 'tool-use' || kind === 'web';
const isBlank = (text: string) => text.trim() === '';
/** A thought without a signature is sent back only if it contains data sealed by its provider. */
function worthKeeping(block: MindBlock): boolean {
  if (block.kind === 'thinking') return block.signature !== '' || block.sealed !== undefined;
  return block.kind !== 'text' || !isBlank(block.text);
}
const part = (block: MindBlock, messageId: MessageId | null = null): Part => ({ messageId, block });
const summaryPart = (messageId: MessageId, text: string): Part => ({
  ...part({ kind: 'text', text }, messageId),
  shortened: (most) => cutMiddle(text, Math.max(LEAST, most)),
});
const isResult = ({ block }: Part) => block.kind === 'tool-result';
const RESULT_LEFT_OUT = '[The result of this call was left out: the server of your model refuses to read it.]';
const withoutContent = ({ kind, toolUseId, isError }: ResultBlock): ResultBlock => ({
  kind,
  toolUseId,
  text: RESULT_LEFT_OUT,
  isError,
});
const isLeftOut = ({ block }: Part) => block.kind === 'tool-result' && block.text === RESULT_LEFT_OUT;
const stays = ({ shortened }: Part) => shortened !== undefined;
/** A summary stays too when the oldest turns are dropped, and the next summary takes its place. */
const isPromptPart = (each: Part) => stays(each) && each.messageId === null;

/**
 * Puts results before texts in a user turn. The Messages API wants them directly after the calls.
 */
const resultsFirst = (blocks: readonly MindBlock[]) => [
  ...blocks.filter((block) => block.kind === 'tool-result'),
  ...blocks.filter((block) => block.kind !== 'tool-result'),
];

const leftOutLine = (count: number): string =>
  `[${count} earlier ${count === 1 ? 'message was' : 'messages were'} left out here: the conversation is longer than you can read at once. The human still has all of it.]`;

function sizeOf(block: MindBlock): number {
  switch (block.kind) {
    case 'text':
      return block.text.length;
    case 'picture':
    case 'document':
      return charactersOf(block);
    case 'tool-result':
      return block.text.length + (block.picture ? PICTURE_CHARACTERS : 0);
    case 'thinking':
      return block.thinking.length + block.signature.length;
    case 'redacted-thinking':
      return block.data.length;
    case 'tool-search':
    case 'web':
      return JSON.stringify(block.block).length;
    case 'tool-use':
      return block.name.length + JSON.stringify(block.input ?? null).length;
    default:
      return block satisfies never;
  }
}
const idsIn = (parts: readonly Part[], kind: 'tool-use' | 'tool-result') =>
  parts.flatMap(({ block }) => (block.kind === kind && 'toolUseId' in block ? [block.toolUseId] : []));
/** An earlier summary counts as nothing, so that it is not summarised again for its own sake. */
const pieceOf = ({ role, parts }: Entry): CompactionPiece => ({
  size: parts.every(stays) ? 0 : sizeOfAll([{ role, parts }]),
  opens: idsIn(parts, 'tool-use'),
  closes: idsIn(parts, 'tool-result'),
  isSaid: role === 'user' && parts.some((each) => each.messageId !== null && !stays(each)),
});
/** Merges entries of one role that follow each other. */
function merge(entries: readonly Entry[]): MindMessage[] {
  const merged: { role: Entry['role']; blocks: MindBlock[] }[] = [];
  for (const entry of entries) {
    const blocks = entry.parts.map(({ block }) => block);
    const last = merged.at(-1);
    if (last?.role === entry.role) last.blocks.push(...blocks);
    else merged.push({ role: entry.role, blocks });
  }
  return merged.map(({ role, blocks }) => ({ role, blocks: role === 'user' ? resultsFirst(blocks) : blocks }));
}
const sizeOfAll = (entries: readonly Entry[]) =>
  entries.reduce((sum, { parts }) => sum + parts.reduce((inner, { block }) => inner + sizeOf(block), 0), 0);

/** Cuts texts longer than `most`. Thoughts are signed and stay unchanged. */
function cutBlock(block: MindBlock, most: number): MindBlock {
  if (block.kind === 'text') return { ...block, text: cutMiddle(block.text, most) };
  if (block.kind === 'picture' || block.kind === 'document') return most < charactersOf(block) ? omitted(block) : block;
  if (block.kind === 'tool-result') {
    const cut = { ...block, text: cutMiddle(block.text, most) };
    return block.picture && most < PICTURE_CHARACTERS ? withoutPicture(cut) : cut;
  }
  return block.kind === 'tool-use'
    ? { ...block, input: mapStrings(block.input, (text) => cutMiddle(text, most)) }
    : block;
}
const cutParts = (entries: readonly Entry[], most: number): Entry[] =>
  entries.map(({ role, parts }) => ({
    role,
    parts: parts.map((each) => (stays(each) ? each : { ...each, block: cutBlock(each.block, most) })),
  }));

/** Messages as people count them. All texts of one answer are one message. */
const countMessages = (entries: readonly Entry[]) =>
  entries.reduce((sum, { role, parts }) => {
    const texts = parts.filter((each) => each.block.kind === 'text' && !stays(each));
    return sum + (role === 'user' ? texts.length : Math.min(texts.length, 1));
  }, 0);

export function createConversation(): Conversation {
  let entries: Entry[] = [];
  /** Number of dropped messages. They stood after the prompts that stay. */
  let leftOut = 0;

  function openCalls(): string[] {
    const index = entries.findLastIndex((entry) => entry.role === 'assistant');
    const calls = (entries[index]?.parts ?? []).flatMap(({ block }) =>
      block.kind === 'tool-use' ? [block.toolUseId] : [],
    );
    const answered = new Set(
      entries
        .slice(index + 1)
        .flatMap((entry) =>
          entry.parts.flatMap(({ block }) => (block.kind === 'tool-result' ? [block.toolUseId] : [])),
        ),
    );
    return calls.filter((call) => !answered.has(call));
  }

  /** An unfinished search of the provider cannot be given a result. */
  function withoutOpenSearches(): void {
    const whole = new Set(withWholeWeb(entries.flatMap(({ parts }) => parts.map(({ block }) => block))));
    entries = entries.flatMap(({ role, parts }) => {
      const kept = parts.filter(({ block }) => whole.has(block));
      return kept.length === parts.length || kept.some(({ block }) => isSaid(block)) ? [{ role, parts: kept }] : [];
    });
  }

  function addResults(results: readonly ToolResult[]): void {
    if (results.length > 0)
      entries.push({ role: 'user', parts: results.map((result) => part({ kind: 'tool-result', ...result })) });
  }

  /** The prompts that stay, shortened as far as possible. */
  function promptsWithin(most: number): Entry[] {
    const parts = entries.flatMap((entry) => entry.parts.filter(stays));
    return parts.length === 0
      ? []
      : [
          {
            role: 'user',
            parts: parts.map((each) => ({
              ...each,
              block: { kind: 'text', text: each.shortened?.(Math.floor(most / parts.length)) ?? '' },
            })),
          },
        ];
  }

  function older(limits: Parameters<Conversation['older']>[0]): OlderPart | null {
    const prompts = entries.flatMap(({ parts }) => parts.filter(isPromptPart));
    const rest = entries.flatMap(({ role, parts }) => {
      const others = parts.filter((each) => !isPromptPart(each));
      return others.length > 0 ? [{ role, parts: others }] : [];
    });
    const plan = planCompaction(rest.map(pieceOf), limits);
    if (!plan) return null;
    const { from, lastSaid } = plan;
    const replaced = rest.slice(0, from).filter((_entry, index) => index !== lastSaid);
    const keptEntries = rest.filter((_entry, index) => index === lastSaid || index >= from);
    return {
      messages: merge(replaced),
      prompts: prompts.flatMap(({ block }) => (block.kind === 'text' ? [block.text] : [])),
      count: countMessages(replaced),
      from: keptEntries.flatMap(({ parts }) => parts.flatMap(({ messageId }) => messageId ?? []))[0] ?? null,
      replace({ messageId, text }) {
        entries = [
          ...(prompts.length > 0 ? [{ role: 'user' as const, parts: prompts }] : []),
          { role: 'user', parts: [summaryPart(messageId, text)] },
          ...keptEntries,
        ];
      },
    };
  }

  function shorten(most: number): boolean {
    const before = sizeOfAll(entries);
    const isPrompt = (entry: Entry) => entry.parts.every(stays);
    // Half of the room goes to the prompts, and half of the rest to one text.
    const whole = promptsWithin(Infinity);
    const prompts = sizeOfAll(whole) <= most / 2 ? whole : promptsWithin(most / 2);
    const room = Math.max(0, most - sizeOfAll(prompts));
    const rest = cutParts(
      entries.flatMap((entry) =>
        isPrompt(entry) ? [] : [{ role: entry.role, parts: entry.parts.filter((each) => !stays(each)) }],
      ),
      Math.max(LEAST, room / 2),
    );
    // The rest starts at a user message without results, so that no call is separated from its
    // result.
    const starts = rest.flatMap(({ role, parts }, i) => (role === 'user' && !parts.some(isResult) ? [i] : []));
    const from = starts.find((i) => sizeOfAll(rest.slice(i)) <= room) ?? starts.at(-1) ?? 0;
    let kept = rest.slice(from);
    for (let each = room / 2; sizeOfAll(kept) > room && each > LEAST; each /= 2)
      kept = cutParts(kept, Math.max(LEAST, each));
    const shorter = [...prompts, ...kept];
    if (sizeOfAll(shorter) >= before) return false;
    leftOut += countMessages(rest.slice(0, from));
    entries = shorter;
    return true;
  }

  return {
    addUser(texts) {
      entries.push({
        role: 'user',
        parts: texts.flatMap(({ messageId, text, attachments = [], shortened }) => [
          {
            ...part({ kind: 'text', text: isBlank(text) ? BLANK : text }, messageId),
            ...(shortened ? { shortened } : {}),
          },
          ...attachments.flatMap(attachmentBlocks).map((block) => part(block, messageId)),
        ]),
      });
    },
    addAnswer(blocks) {
      const kept = blocks.filter(worthKeeping);
      // Thoughts alone are not a valid answer.
      if (kept.some(isSaid)) entries.push({ role: 'assistant', parts: kept.map((block) => part(block)) });
    },
    addResults,
    changeAnswers(change) {
      entries = entries.flatMap((entry) => {
        if (entry.role === 'user') return [entry];
        const parts = entry.parts
          .map((each) =>
            each.block.kind === 'text' ? { ...each, block: { ...each.block, text: change(each.block.text) } } : each,
          )
          .filter(({ block }) => worthKeeping(block));
        return parts.some(({ block }) => isSaid(block)) ? [{ ...entry, parts }] : [];
      });
    },
    leaveOutResults() {
      const last = entries.at(-1);
      const results = (last?.parts ?? []).filter(isResult);
      if (!last || results.length === 0 || results.every(isLeftOut)) return false;
      const parts = last.parts.map((each) =>
        each.block.kind === 'tool-result' ? part(withoutContent(each.block), each.messageId) : each,
      );
      entries = [...entries.slice(0, -1), { ...last, parts }];
      return true;
    },
    closeCalls(reason) {
      withoutOpenSearches();
      addResults(openCalls().map((toolUseId) => ({ toolUseId, text: reason, isError: true })));
    },
    mark() {
      const [before, leftOutBefore] = [entries, leftOut];
      entries = [...entries];
      return () => {
        entries = before;
        leftOut = leftOutBefore;
      };
    },
    has: (messageId) => entries.some((entry) => entry.parts.some((item) => item.messageId === messageId)),
    cutBefore(messageId) {
      const index = entries.findIndex((entry) => entry.parts.some((item) => item.messageId === messageId));
      const entry = entries[index];
      if (!entry) return false;
      const before = entry.parts.slice(
        0,
        entry.parts.findIndex((item) => item.messageId === messageId),
      );
      entries = entries.slice(0, index);
      if (before.length > 0) entries.push({ role: 'user', parts: before });
      return true;
    },
    rewrite(messageId, text) {
      entries = entries.map(({ role, parts }) => ({
        role,
        parts: parts.map((each) =>
          each.messageId === messageId && each.block.kind === 'text' ? summaryPart(messageId, text) : each,
        ),
      }));
    },
    size: () => sizeOfAll(entries),
    older,
    shorten,
    messages() {
      const note: Entry[] =
        leftOut > 0 ? [{ role: 'user', parts: [part({ kind: 'text', text: leftOutLine(leftOut) })] }] : [];
      const first = entries.findIndex((entry) => !entry.parts.every(stays));
      const shown = first < 0 ? [...entries, ...note] : [...entries.slice(0, first), ...note, ...entries.slice(first)];
      return withNewestPictures(merge(shown));
    },
  };
}

// How much of a conversation its model can read. The model's token counts are known only from its
// answers. A conversation that is too long loses much at once, so that its cached prefix stays
// valid for many turns.

export interface WindowLimits {
  /** Part of the window that may fill before the conversation is compacted. */
  readonly fullAt: number;
  /** Part of the window from which the agent is told that its conversation will be compacted. */
  readonly nearAt: number;
  /** Part of the room that stays filled when the oldest turns are dropped. */
  readonly keep: number;
  /** Least part of the window for the conversation. */
  readonly least: number;
  /** Most refusals as too long before the answer fails. */
  readonly tries: number;
  /** Tokens of a window that is not known. */
  readonly unknown: number;
}

export interface Window {
  /**
   * Another model reads the conversation from now on. Counts and refusals of the previous model are
   * discarded. Null: its window is not known.
   */
  readsNow(windowTokens: number | null): void;
  /** Characters of a whole request that fits, as far as known. */
  room(): number;
  /** Tokens of the next request, as far as known. */
  tokens(): number;
  /** The next request comes near to the model's window. */
  isNear(): boolean;
  /** Characters that the conversation should have in the next request. Null: it fits as it is. */
  due(): number | null;
  /** The next request is sent with the conversation as it is. */
  sending(): void;
  /** The model's count for the last request. */
  counted(usage: Usage): void;
  /** The server read this many tokens of the last request and silently dropped the rest. */
  readsOnly(tokens: number): void;
  /**
   * The model refused the last request as too long. Returns the characters that the conversation
   * should have when the request is repeated. Null: it was refused too often.
   */
  refused(error: MindError): number | null;
}

interface WindowDeps {
  readonly conversation: Pick<Conversation, 'size'>;
  /** Characters before the conversation in the next request. */
  readonly fixed: number;
  /** Most tokens of the answer. They share the window. */
  readonly maxTokens: number;
  /** The model's context in tokens; null: unknown. */
  readonly windowTokens: number | null;
  readonly limits: WindowLimits;
}

/** Approximate, for English prose. Other scripts and tool calls have fewer. */
const CHARACTERS_PER_TOKEN = 4;
/** Characters per token that are plausible. Some servers count only new tokens. */
const BELIEVED = { least: 0.3, most: 8 } as const;

export function createWindow(deps: WindowDeps): Window {
  const { conversation, windowTokens, limits } = deps;
  let perToken = CHARACTERS_PER_TOKEN;
  let tokens = windowTokens ?? limits.unknown;
  /** Characters of the shortest request that the model refused. */
  let tooLong = Infinity;
  let tries = 0;
  let sent = 0;

  const room = () =>
    Math.min(
      Math.min(tokens * limits.fullAt, tokens - Math.min(deps.maxTokens, tokens / 4)) * perToken,
      tooLong * limits.fullAt,
    );
  const size = () => deps.fixed + conversation.size();
  const ofConversation = (most: number) => Math.max(0, Math.floor(most - deps.fixed));

  return {
    readsNow(next) {
      tokens = next ?? limits.unknown;
      perToken = CHARACTERS_PER_TOKEN;
      tooLong = Infinity;
      tries = 0;
    },
    room,
    tokens: () => Math.ceil(size() / perToken),
    isNear: () => size() > (room() / limits.fullAt) * limits.nearAt,
    // If the fixed part alone is estimated to fill the window, the newest words are sent anyway.
    due: () =>
      size() > room() ? ofConversation(Math.max(room() * limits.keep, deps.fixed + room() * limits.least)) : null,
    sending() {
      sent = size();
    },
    counted({ inputTokens, cacheReadTokens, cacheWriteTokens }) {
      tries = 0;
      const count = inputTokens + cacheReadTokens + cacheWriteTokens;
      const ratio = sent / count;
      if (ratio < BELIEVED.least || ratio > BELIEVED.most) return;
      perToken = ratio;
      // A model that has read so much has a larger window than was known.
      tokens = Math.max(tokens, count);
    },
    readsOnly(most) {
      tokens = Math.min(tokens, most);
    },
    refused({ tokens: told }) {
      tries += 1;
      if (tries > limits.tries) return null;
      tooLong = Math.min(tooLong, sent);
      if (told) {
        tokens = told.most;
        const ratio = sent / told.asked;
        if (ratio >= BELIEVED.least && ratio <= BELIEVED.most) perToken = ratio;
      }
      // If the model did not say how much it reads, each refusal halves the size.
      return ofConversation(Math.min(room() * limits.keep, told ? Infinity : sent / 2, sent * limits.fullAt));
    },
  };
}
