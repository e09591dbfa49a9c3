/**
 * What a message means to the agent in whose conversation it is: it was addressed, it acted, or it
 * only greeted.
 *
 * A session in which nobody addressed the agent and it did nothing is a single line of its
 * transcript. It never displaces a session that was a conversation.
 */
import { type Attachment, attachmentLine } from './attachment.ts';
import type { AgentId } from './ids.ts';
import { onOneLine, quote } from './quoting.ts';
import { MIND_PREFIX } from './toolsets.ts';

// Notifications for a person who is looking elsewhere, and what the page and the service worker
// share for them.

/**
 * - approval: an agent asks for permission.
 * - failure: an unattended run failed.
 * - mention: an agent left a message for the person, or named them in a thread.
 * - answer: a long answer is complete.
 * - night: what agents did by themselves.
 * - review: an agent's work on a task waits for the person's review.
 */
export const NOTIFICATION_KINDS = ['approval', 'failure', 'mention', 'answer', 'night', 'review'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** The kind by which a device chooses this one. Reviews come with the questions. */
export const chosenKind = (kind: NotificationKind): NotificationKind => (kind === 'review' ? 'approval' : kind);

export const NOTIFIED = {
  /** Cache in which the page stores what the service worker needs to renew a subscription. */
  cache: 'roost-told',
  kept: '/told',
  /**
   * Path under which the page stores the number of waiting items, for the icon while the page is
   * closed.
   */
  waits: '/waits',
} as const;

/** The number of waiting items when a page was last open. `at`: ms since the epoch. */
export interface StoredWaits {
  readonly count: number;
  readonly at: number;
}

/**
 * Title of each kind of notification, with `{name}` for its subject; also for one that is over, and
 * for one that cannot be read.
 */
export type NotificationTexts = Readonly<Record<NotificationKind | 'over' | 'unread', string>>;

/** The request by which the service worker renews the device's subscription. */
export interface StoredRenewal {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its `subscription` is the one that expired. */
  readonly choice: object;
  /** In the language of the page. */
  readonly texts: NotificationTexts;
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
  /** The agent in whose conversation the message is. */
  readonly agentId: AgentId;
  readonly author: string;
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly TalkBlock[];
  readonly attachments?: readonly Attachment[] | undefined;
}

/** The name under which a thought is shown as a tool call. Its text is the result. */
export const THOUGHT = `${MIND_PREFIX}think`;

/**
 * Tools that an agent uses for itself and for waking the team. A session with only these is no more
 * than a greeting.
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
  'memory',
  'remember',
  'recall',
  'find_tool',
  THOUGHT,
]);
/** Tools that return what others said. Each returns a message only once. */
const HEARING: ReadonlySet<string> = new Set(['read_inbox', 'wait_for_message', 'wait_for_mention', 'wait_for_agent']);
/** Tools that say something to others. The message is in their input. */
const WRITING: ReadonlySet<string> = new Set(['message_agent', 'wake_agent', 'send_message_to_thread']);
/** The relay announces the person's mentions in threads with these words. */
const PERSON_MENTIONS = 'The human mentions you';

const isSaying = (text: string) => text.trim() !== '';
/** Result of these tools if there was nothing to read. */
const NOTHING_CAME = /^Nothing /;
const isHearing = (block: TalkBlock): block is Extract<TalkBlock, { kind: 'tool' }> =>
  block.kind === 'tool' &&
  HEARING.has(block.name) &&
  !block.isError &&
  block.result !== null &&
  !NOTHING_CAME.test(block.result);

/** Whether the person or another agent said something to the agent in this message. */
export function isAddressed({ agentId, author, role, blocks, attachments = [] }: TalkMessage): boolean {
  if (author === agentId) return blocks.some(isHearing);
  if (role !== 'user') return false;
  if (attachments.length > 0) return true;
  return blocks.some(
    (block) =>
      block.kind === 'text' && isSaying(block.text) && (author !== 'relay' || block.text.startsWith(PERSON_MENTIONS)),
  );
}

/** Whether the agent did something in this message that others could notice. */
export function isActivity({ agentId, author, blocks }: TalkMessage): boolean {
  return author === agentId && blocks.some((block) => block.kind === 'tool' && !HOUSEKEEPING.has(block.name));
}

/** Maximum length of a tool call's line, in characters. */
export const TOOL_LINE_MAX = 160;

/** The first `most` characters of a text on one line. Surrogate pairs are not split. */
export function inOneLine(text: string, most: number): string {
  // Bounds the work, because a text may have a million characters.
  const line = onOneLine(text.slice(0, most * 4));
  return line.length <= most && text.length <= most * 4 ? line : `${keepPairs(line.slice(0, Math.max(0, most - 1)))}…`;
}

/** Removes half a surrogate pair at the end of a cut text. */
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
 * What an agent wrote to another with this tool call. Null: nothing. A message to a thread is not
 * included, because the thread has it.
 */
export const wrote = ({ name, input }: Pick<Extract<TalkBlock, { kind: 'tool' }>, 'name' | 'input'>): string | null =>
  WRITING.has(name) && name !== 'send_message_to_thread' ? field(input, 'message') : null;

/**
 * A tool call as its agent reads it back: a short line, with messages to and from others in full.
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
  // The soul is given separately.
  if (name === 'write_soul' && !isError) return '[write_soul: wrote its soul anew]';
  const given = input === null || input === undefined ? '' : ` ${inOneLine(JSON.stringify(input), TOOL_LINE_MAX / 2)}`;
  return `[${inOneLine(`${name}${given === ' {}' ? '' : given}: ${outcome(block)}`, TOOL_LINE_MAX)}]`;
}

function callText({ call, seats }: Extract<TalkBlock, { kind: 'call' }>): string {
  const who = seats.map(({ name, position }) => name ?? `seat ${position + 1}`).join(', ');
  // When they are called, it is not known whether they will come.
  return `[${inOneLine(`called ${who}, ${call === 'wake' ? 'to wake' : 'to be born'}`, TOOL_LINE_MAX)}]`;
}

/**
 * A message as its agent reads it back. '' if it has nothing to read. `soul`: text that is given
 * elsewhere and left out here, together with the calls that stored it.
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
        if (block.name === THOUGHT) return [];
        return isBirth && (block.name === 'choose_name' || block.name === 'write_soul') ? [] : [toolText(block)];
      case 'call':
        return [callText(block)];
      default:
        return block satisfies never;
    }
  });
  // Names attachments without repeating their content.
  return [...parts, ...attachments.map(attachmentLine)].join('\n\n');
}

/** The text of a message without tool calls: a greeting is quoted by its words. */
export const spokenText = ({ blocks }: TalkMessage): string =>
  blocks.flatMap((block) => (block.kind === 'text' && isSaying(block.text) ? [block.text] : [])).join('\n\n');
