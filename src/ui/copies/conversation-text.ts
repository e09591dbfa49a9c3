/** One conversation as a text for people: who said what, and when. Pure. */
import type { Attachment } from '../../domain/attachment.ts';
import { t } from '../../language/t.ts';
import type { MessageDoc } from '../../protocol/documents.ts';
import { deedsOf } from '../chat/deeds.ts';
import { partsOf, type Part } from '../chat/parts.ts';
import { plural } from '../text/sizes.ts';
import { clockTime, fullDay, fullTime } from '../text/time.ts';

export interface ConversationText {
  /** Of the agent whose conversation it is. */
  readonly name: string;
  /** Oldest first. */
  readonly messages: readonly MessageDoc[];
  /** What people read for whoever said something. */
  readonly nameOf: (author: string) => string;
  /** Where a file lies beside the text; null: it does not. */
  readonly pathOf: (file: Attachment) => string | null;
  /** ms since the epoch */
  readonly now: number;
}

const ENDS: Readonly<Partial<Record<MessageDoc['status'], string>>> = {
  stopped: t`stopped here`,
  interrupted: t`broke off here`,
  failed: t`failed`,
};

/** Nothing in a name is taken for Markdown. */
const plain = (name: string) => name.replace(/[\\`*_[\]<>#|!]/g, '\\$&').replace(/\s+/g, ' ');

const partText = (part: Part): string => (part.kind === 'text' ? part.text.trim() : `*${plain(deedsOf(part.tools))}*`);

function fileLine(file: Attachment, path: string | null): string {
  if (path === null) return t`Attached: ${plain(file.name)} (not on this device)`;
  return `${file.mediaType.startsWith('image/') ? '!' : ''}[${plain(file.name)}](<${path}>)`;
}

/** Markdown, a heading for each day in the reader's own zone. */
export function conversationText({ name, messages, nameOf, pathOf, now }: ConversationText): string {
  const lines = [
    `# Conversation with ${plain(name)}`,
    t`${plural(messages.length, 'message')}, written down by Roost on ${fullTime(now)}.`,
  ];
  let day = '';
  for (const { author, blocks, attachments = [], status, error, time } of messages) {
    const parts = partsOf(blocks).map(partText);
    const end = ENDS[status];
    if (parts.length === 0 && attachments.length === 0 && end === undefined) continue;
    const today = fullDay(time);
    if (today !== day) lines.push(`## ${today}`);
    day = today;
    lines.push(`**${plain(nameOf(author))}**, ${clockTime(time)}`, ...parts);
    for (const file of attachments) lines.push(fileLine(file, pathOf(file)));
    if (end !== undefined) lines.push(`*(${plain([end, error].filter(Boolean).join(': '))})*`);
  }
  return `${lines.join('\n\n')}\n`;
}
