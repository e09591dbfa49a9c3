/**
 * What a message is to the one in whose conversation it stands: was something said to it, did it do
 * something, or was it only a greeting? A session in which nobody said anything to it, and it did
 * nothing, is told in a line when it wakes, and never takes the place of one that was a
 * conversation.
 */
import { type Attachment, attachmentLine } from './attachment.ts';
import type { AgentId } from './ids.ts';
import { onOneLine, quote } from './quoting.ts';

// What a person is told of while they look elsewhere, and what page and service worker have in
// common for it.

/**
 * approval: an agent asks for a yes; failure: a run that nobody watched failed; mention: an agent
 * left a message for the person, or named them in a thread; answer: one that took long is whole;
 * night: what agents did by themselves.
 */
export const NOTIFICATION_KINDS = ['approval', 'failure', 'mention', 'answer', 'night'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

export const TOLD = {
  /**
   * Where the page leaves for the service worker what it needs to renew a subscription by itself.
   */
  cache: 'roost-told',
  kept: '/told',
  /** Where it leaves how much waits, for the icon while it is closed. */
  waits: '/waits',
} as const;

/** How much waited when a page was open last. `at`: ms since the epoch. */
export interface KeptWaits {
  readonly count: number;
  readonly at: number;
}

/**
 * Of each kind what it is called, with `{name}` for whoever it is about; of one that is over, and
 * of one that cannot be read.
 */
export type ToldTexts = Readonly<Record<NotificationKind | 'over' | 'unread', string>>;

/** What is kept for renewing: the call by which the device says what it is told. */
export interface KeptForRenewal {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its `subscription` is the one that is over. */
  readonly choice: object;
  /** In the language of the page. */
  readonly texts: ToldTexts;
}

type TalkBlock =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly input: unknown;
      readonly result: string | null;
      readonly isError: boolean;
    }
  | {
      readonly kind: 'call';
      readonly call: 'wake' | 'summon';
      readonly seats: readonly { readonly position: number; readonly name: string | null }[];
    };

interface TalkMessage {
  /** Whose conversation it stands in. */
  readonly agentId: AgentId;
  readonly author: string;
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly TalkBlock[];
  readonly attachments?: readonly Attachment[] | undefined;
}

/**
 * What a mind does for itself and for the team's waking: by these a session is no more than a
 * greeting.
 */
const HOUSEKEEPING: ReadonlySet<string> = new Set([
  'spawn_team',
  'choose_name',
  'write_soul',
  'read_soul',
  'read_last_conversation',
  'read_inbox',
  'list_team',
  'wake_limits',
  'go_to_sleep',
  'put_to_sleep',
  'list_threads',
  'read_thread',
  'wait_for_message',
  'wait_for_mention',
  'wait_for_agent',
  'search_conversations',
  'find_tool',
]);
/** These hand over what others said, and each thing once. */
const HEARING: ReadonlySet<string> = new Set(['read_inbox', 'wait_for_message', 'wait_for_mention', 'wait_for_agent']);
/** These say something to others, and what was said stands in their input. */
const WRITING: ReadonlySet<string> = new Set(['message_agent', 'wake_agent', 'send_message_to_thread']);
/** What the person says in a thread is told by the relay. */
const PERSON_MENTIONS = 'The human mentions you';

const isSaying = (text: string) => text.trim() !== '';
/** Where nothing was to be heard, they say so in a sentence that begins like this. */
const NOTHING_CAME = /^Nothing /;
const isHearing = (block: TalkBlock): block is Extract<TalkBlock, { kind: 'tool' }> =>
  block.kind === 'tool' &&
  HEARING.has(block.name) &&
  !block.isError &&
  block.result !== null &&
  !NOTHING_CAME.test(block.result);

/** Did somebody, the person or another agent, say something to the agent in this message? */
export function isAddressed({ agentId, author, role, blocks, attachments = [] }: TalkMessage): boolean {
  if (author === agentId) return blocks.some(isHearing);
  if (role !== 'user') return false;
  if (attachments.length > 0) return true;
  return blocks.some(
    (block) =>
      block.kind === 'text' && isSaying(block.text) && (author !== 'relay' || block.text.startsWith(PERSON_MENTIONS)),
  );
}

/** Did the agent do something in it that others could notice? */
export function isDeed({ agentId, author, blocks }: TalkMessage): boolean {
  return author === agentId && blocks.some((block) => block.kind === 'tool' && !HOUSEKEEPING.has(block.name));
}

/** Longest line of a tool call, in characters. */
export const TOOL_LINE_MAX = 160;

/** The first `most` characters of a text in one line; a pair of surrogates is never torn. */
export function inOneLine(text: string, most: number): string {
  // Only as much is looked at as could be needed: a text may have a million characters.
  const line = onOneLine(text.slice(0, most * 4));
  return line.length <= most && text.length <= most * 4 ? line : `${keepPairs(line.slice(0, Math.max(0, most - 1)))}…`;
}

/** Without half a pair of surrogates at its end that has lost its other half to a cut. */
export const keepPairs = (cut: string): string => (/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut);

const field = (input: unknown, name: string): string | null => {
  if (typeof input !== 'object' || input === null || !(name in input)) return null;
  const value: unknown = Reflect.get(input, name);
  return typeof value === 'string' ? value : null;
};

function outcome({ result, isError }: Extract<TalkBlock, { kind: 'tool' }>): string {
  if (result === null) return 'cut off';
  return isError ? `failed: ${result}` : result;
}

/**
 * What an agent wrote to another by this tool call; null: nothing. What is written to a thread
 * stands there by itself.
 */
export const wrote = ({ name, input }: Pick<Extract<TalkBlock, { kind: 'tool' }>, 'name' | 'input'>): string | null =>
  WRITING.has(name) && name !== 'send_message_to_thread' ? field(input, 'message') : null;

/**
 * A tool call as its agent reads it back: a short line; what it wrote to others, and what it heard
 * from them, in full.
 */
function toolText(block: Extract<TalkBlock, { kind: 'tool' }>): string {
  const { name, input, isError, result } = block;
  const message = field(input, 'message');
  if (WRITING.has(name) && message !== null) {
    const where =
      name === 'send_message_to_thread'
        ? `in thread ${field(input, 'threadId') ?? ''}`
        : `to ${field(input, 'to') ?? ''}`;
    const came = isError || result === null ? `, ${outcome(block)}` : '';
    return `[${name}, ${inOneLine(`${where}${came}`, TOOL_LINE_MAX)}]\n${quote(message)}`;
  }
  if (isHearing(block)) return `[${name}]\n${result ?? ''}`;
  // A soul is given by itself.
  if (name === 'write_soul' && !isError) return '[write_soul: wrote its soul anew]';
  const given = input === null || input === undefined ? '' : ` ${inOneLine(JSON.stringify(input), TOOL_LINE_MAX / 2)}`;
  return `[${inOneLine(`${name}${given === ' {}' ? '' : given}: ${outcome(block)}`, TOOL_LINE_MAX)}]`;
}

function callText({ call, seats }: Extract<TalkBlock, { kind: 'call' }>): string {
  const who = seats.map(({ name, position }) => name ?? `seat ${position + 1}`).join(', ');
  // Whether they came is not known when they are called.
  return `[${inOneLine(`called ${who}, ${call === 'wake' ? 'to wake' : 'to be born'}`, TOOL_LINE_MAX)}]`;
}

/**
 * A message as its agent reads it back; '' where it holds nothing to read. `soul`: words that are
 * given elsewhere, and are left out here, with the calls by which they were kept.
 */
export function talkText(
  { author, agentId, blocks, attachments = [] }: TalkMessage,
  soul: string | null = null,
): string {
  const isBirth = soul !== null && author === agentId;
  const parts = blocks.flatMap((block) => {
    switch (block.kind) {
      case 'text':
        return !isSaying(block.text) || (isBirth && soul.includes(block.text)) ? [] : [block.text];
      case 'tool':
        return isBirth && (block.name === 'choose_name' || block.name === 'write_soul') ? [] : [toolText(block)];
      case 'call':
        return [callText(block)];
      default:
        return block satisfies never;
    }
  });
  // By name: what was in them is not told again.
  return [...parts, ...attachments.map(attachmentLine)].join('\n\n');
}

/** What was said in a message, and nothing of what was done: a greeting is quoted by its words. */
export const spokenText = ({ blocks }: TalkMessage): string =>
  blocks.flatMap((block) => (block.kind === 'text' && isSaying(block.text) ? [block.text] : [])).join('\n\n');
