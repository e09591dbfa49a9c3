/**
 * Exports one conversation as a readable file: Markdown, in a zip if it has attachments. Loaded on
 * demand, with its dependencies.
 */
import { base64 } from '@scure/base';
import type { Attachment } from '../../../shared/domain/attachment.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { MessageDoc } from '../../../shared/protocol/documents.ts';
import type { ConversationPage } from '../../../shared/protocol/worker.ts';
import { conversationFileName, safeFileName } from '../../state/exports.ts';
import { readAttachment } from '../../state/attachments.ts';
import type { RoostState } from '../../state/index.ts';
import { authorName } from '../../state/household.ts';
import { toolSummary } from '../chat/tool-calls.ts';
import { partsOf, type Part } from '../chat/parts.ts';
import { plural } from '../text/sizes.ts';
import { clockTime, fullDay, fullTime } from '../text/time.ts';
import { chooseSink } from './sink.ts';

/** Messages per request. */
const PAGE = 500;

/** All messages, oldest first. */
async function readAll({ dataWorker }: RoostState, agentId: AgentId, signal: AbortSignal): Promise<MessageDoc[]> {
  const pages: (readonly MessageDoc[])[] = [];
  let before: string | null = null;
  do {
    const page: ConversationPage = await dataWorker.call('conversation', { agentId, before, limit: PAGE });
    signal.throwIfAborted();
    pages.push(page.messages);
    before = page.before;
  } while (before !== null);
  return pages.reverse().flat();
}

/** Every file once, under a unique name. Files that are not on this device are left out. */
async function readFiles({ dataWorker }: RoostState, messages: readonly MessageDoc[], signal: AbortSignal) {
  const files = new Map<string, { readonly path: string; readonly bytes: Uint8Array }>();
  const taken = new Set<string>();
  for (const file of messages.flatMap(({ attachments = [] }) => attachments)) {
    if (files.has(file.attachmentId)) continue;
    const data = await readAttachment(dataWorker, file);
    signal.throwIfAborted();
    if (data === null) continue;
    const path = `files/${freeName(file, taken)}`;
    files.set(file.attachmentId, { path, bytes: base64.decode(data) });
  }
  return files;
}

/** Many file systems ignore case. */
function freeName({ name }: Attachment, taken: Set<string>): string {
  const safe = safeFileName(name, 'file');
  const dot = safe.lastIndexOf('.');
  const [stem, end] = dot > 0 ? [safe.slice(0, dot), safe.slice(dot)] : [safe, ''];
  let free = safe;
  for (let n = 2; taken.has(free.toLowerCase()); n++) free = `${stem} ${n}${end}`;
  taken.add(free.toLowerCase());
  return free;
}

interface ConversationText {
  /** The agent of the conversation. */
  readonly name: string;
  /** Oldest first. */
  readonly messages: readonly MessageDoc[];
  /** The name of an author, for people. */
  readonly nameOf: (author: string) => string;
  /** Path of a file beside the text; null: not included. */
  readonly pathOf: (file: Attachment) => string | null;
  /** ms since the epoch */
  readonly now: number;
}

const ENDS: Readonly<Partial<Record<MessageDoc['status'], string>>> = {
  stopped: t`stopped`,
  interrupted: t`interrupted`,
  failed: t`failed`,
};

/** Escapes Markdown in a name. */
const plain = (name: string) => name.replace(/[\\`*_[\]<>#|!]/g, '\\$&').replace(/\s+/g, ' ');

function partText(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text.trim();
    case 'thinking':
      return `<details><summary>${t`What it thought`}</summary>\n\n${part.text.trim()}\n\n</details>`;
    case 'tools':
      return `*${plain(toolSummary(part.tools, (reference) => reference))}*`;
    default:
      return part satisfies never;
  }
}

function fileLine(file: Attachment, path: string | null): string {
  if (path === null) return t`Attached: ${plain(file.name)} (not on this device)`;
  return `${file.mediaType.startsWith('image/') ? '!' : ''}[${plain(file.name)}](<${path}>)`;
}

/**
 * One conversation as a text for people: authors, times and messages. Markdown, with a heading for
 * each day in the reader’s time zone. Pure.
 */
function conversationText({ name, messages, nameOf, pathOf, now }: ConversationText): string {
  const lines = [
    `# ${t`Conversation with ${plain(name)}`}`,
    t`${plural(messages.length, 'message')}, exported on ${fullTime(now)}`,
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

/**
 * Resolves with the bytes of the file and its name. Rejects if `signal` aborts, or if something
 * cannot be read.
 */
async function makeFile(state: RoostState, agentId: AgentId, name: string, signal: AbortSignal) {
  const messages = await readAll(state, agentId, signal);
  const files = await readFiles(state, messages, signal);
  const { roster, settings } = state.household.store.getState();
  const text = new TextEncoder().encode(
    conversationText({
      name,
      messages,
      nameOf: (author) => (author === 'human' ? t`You` : authorName(author, roster, settings)),
      pathOf: ({ attachmentId }) => files.get(attachmentId)?.path ?? null,
      now: state.device.now(),
    }),
  );
  if (files.size === 0) return { fileName: conversationFileName(name, 'md'), bytes: text };
  const { zip } = await import('fflate');
  const fileName = conversationFileName(name, 'zip');
  const inside = conversationFileName(name, 'md');
  const bytes = await new Promise<Uint8Array>((resolve, reject) =>
    zip(
      // Pictures and PDFs are compressed already.
      {
        [inside]: text,
        ...Object.fromEntries([...files.values()].map((each) => [each.path, [each.bytes, { level: 0 }]])),
      },
      (error, packed) => (error ? reject(error) : resolve(packed)),
    ),
  );
  signal.throwIfAborted();
  return { fileName, bytes };
}

/**
 * Reads it, which can be cancelled, asks the person for a place, and reports the outcome. Rejects
 * if it could not be made.
 */
export async function exportToFile(state: RoostState, agentId: AgentId, name: string): Promise<void> {
  const called = new AbortController();
  const reading = state.notices.offer(t`Reading ${name}`, {
    label: t`Cancel`,
    run: () => called.abort(),
  });
  try {
    const { fileName, bytes } = await makeFile(state, agentId, name, called.signal);
    const sink = await chooseSink(fileName);
    if (!sink) return;
    const writer = sink.stream.getWriter();
    await writer.write(bytes);
    await writer.close();
    state.notices.info(t`Saved as ${sink.fileName}.`);
  } catch (error) {
    if (!called.signal.aborted) throw error;
  } finally {
    state.notices.dismiss(reading);
  }
}
