/**
 * Takes messages of an earlier page into the outbox, from the browser's storage. Loaded only where
 * there are any.
 */
import { z } from 'zod';
import type { Attachment } from '../../../shared/domain/attachment.ts';
import { isRecord, parseJson } from '../../../shared/domain/platform/json.ts';
import { t } from '../../language/t.ts';
import type { DataWorkerPort, Device, TextStorage } from '../ports.ts';
import { isPrepared, keyOf, UNSENT, type MessageToAgent, type Outbox, type Outgoing, type SendState } from './index.ts';

/** Latest messages of a conversation that are searched for one that did arrive. */
const EXAMINED = 40;

const written = z.object({
  clientId: z.string(),
  text: z.string(),
  time: z.number(),
  /** Earlier versions wrote the reason for a failure here, and no state. */
  error: z.string().nullish(),
  state: z.looseObject({ reason: z.string().optional() }).optional(),
  attachments: z.array(z.custom<Attachment>(isRecord)).default([]),
});
const storedSchema = z.union([
  written.extend({ threadId: z.string(), mentions: z.array(z.string()), after: z.number() }),
  written.extend({ agentId: z.string(), replaces: z.string().nullable() }),
]);
/** Earlier versions named the thread in the key only. */
const THREAD_IN_KEY = /^roost-unsent-in:(.*):/;

function parse(key: string, text: string | null): Outgoing | null {
  const value = parseJson(text ?? '');
  if (!isRecord(value)) return null;
  const named = THREAD_IN_KEY.exec(key)?.[1];
  const stored = storedSchema.safeParse(named === undefined ? value : { threadId: named, ...value });
  if (!stored.success) return null;
  const { error, state: before, ...message } = stored.data;
  const reason = error ?? before?.reason;
  // Whether an attempt that was under way has succeeded is unknown. The relay accepts it once.
  const state: SendState = reason === undefined || reason === null ? { kind: 'waiting' } : { kind: 'refused', reason };
  return 'threadId' in message ? { ...message, state, to: 'thread' } : { ...message, state, to: 'agent' };
}

/** Valid messages with their keys, oldest first. Other entries are removed. */
function readStored(browser: TextStorage): readonly { readonly key: string; readonly item: Outgoing }[] {
  const stored = browser.keys(UNSENT).flatMap((key) => {
    const item = parse(key, browser.read(key));
    if (item === null) browser.write(key, '');
    return item === null ? [] : [{ key, item }];
  });
  return stored.sort((a, b) => a.item.time - b.item.time);
}

/** Has it arrived, or is it queued in the ledger? If that cannot be checked, it is sent. */
async function isThere(dataWorker: DataWorkerPort, { agentId, clientId }: MessageToAgent): Promise<boolean> {
  const [household, page] = await Promise.all([
    dataWorker.call('household'),
    dataWorker.call('conversation', { agentId, before: null, limit: EXAMINED }),
  ]);
  return [...household.queued, ...page.messages].some((doc) => doc.clientId === clientId);
}

/** The message with the bytes of its files. Only a file that is not in the ledger has a digest. */
async function withFiles({ shelf }: Pick<Device, 'shelf'>, item: Outgoing): Promise<Outgoing> {
  const attachments = await Promise.all(
    item.attachments.map(async (file) => {
      if (!('sha256' in file)) return file;
      const data = await shelf.read(file.attachmentId);
      return data === null ? file : { ...file, data };
    }),
  );
  const there = attachments.filter((file) => isPrepared(file) || !('sha256' in file));
  if (there.length === attachments.length) return { ...item, attachments };
  const reason = t`The attachment is no longer on this device. Attach it again.`;
  return { ...item, attachments: there, state: { kind: 'refused', reason } };
}

export async function restore(
  outbox: Outbox,
  { dataWorker, device }: { readonly dataWorker: DataWorkerPort; readonly device: Pick<Device, 'browser' | 'shelf'> },
): Promise<void> {
  for (const { key, item } of readStored(device.browser)) {
    const isOver = item.to === 'agent' && (await isThere(dataWorker, item).catch(() => false));
    if (!isOver) outbox.restore(await withFiles(device, item));
    if (isOver || key !== keyOf(item.clientId)) device.browser.write(key, '');
  }
}
