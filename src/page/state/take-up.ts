/**
 * Sends messages of an earlier page that never arrived, from the browser's storage. Loaded only
 * where there are any.
 */
import type { Attachment } from '../../shared/domain/attachment.ts';
import type { ThreadId } from '../../shared/domain/ids.ts';
import { t } from '../language/t.ts';
import type { PreparedFile } from './attachments.ts';
import type { RoostState } from './index.ts';
import type { Sending, SendingMessage } from './conversations.ts';
import { readUnsent, threadsUnsent } from './conversation-log.ts';
import { threadsOf } from './threads/index.ts';
import { UNSENT } from './unsent.ts';

/** Latest messages of a conversation that are searched for one that did arrive. */
const EXAMINED = 40;

const isMessage = (value: Sending): value is SendingMessage =>
  'agentId' in value && typeof value.agentId === 'string' && 'replaces' in value;

/**
 * A file that was not in the ledger yet, without its bytes. Only such a file carries its digest.
 */
const isUnkept = (file: Attachment): file is Omit<PreparedFile, 'data'> => 'sha256' in file;

/** Has it arrived, or is it queued in the ledger? */
async function isThere({ dataWorker }: RoostState, { agentId, clientId }: SendingMessage): Promise<boolean> {
  const [household, page] = await Promise.all([
    dataWorker.call('household'),
    dataWorker.call('conversation', { agentId, before: null, limit: EXAMINED }),
  ]);
  return [...household.queued, ...page.messages].some((doc) => doc.clientId === clientId);
}

async function takeUpMessage(roost: RoostState, item: SendingMessage): Promise<void> {
  const { actions, device } = roost;
  // If that cannot be checked, it is sent. The relay accepts it once.
  if (await isThere(roost, item).catch(() => false)) return void device.browser.write(UNSENT + item.clientId, '');
  const unkept = (item.attachments ?? []).filter(isUnkept);
  const files = await Promise.all(
    unkept.map(async (file): Promise<PreparedFile[]> => {
      const data = await device.shelf.read(file.attachmentId);
      return data === null ? [] : [{ ...file, data }];
    }),
  );
  const found = files.flat();
  if (found.length === unkept.length) return await actions.takeUp(item, found);
  const kept = (item.attachments ?? []).filter((file) => !isUnkept(file));
  const error = t`What was attached is not on this device any more. Attach it again.`;
  await actions.takeUp({ ...item, attachments: [...kept, ...found], error }, found);
}

export async function takeUp(roost: RoostState): Promise<void> {
  const { conversations, device } = roost;
  // Another tab may have it too. When it is done there, it is done here.
  device.browser.onGone((key) => {
    if (key.startsWith(UNSENT)) conversations.sent(key.slice(UNSENT.length));
  });
  for (const item of readUnsent(device.browser, UNSENT, isMessage)) await takeUpMessage(roost, item);
  const threads = threadsUnsent(device.browser);
  if (threads.length === 0) return;
  for (const threadId of threads) threadsOf(roost).talk(threadId as ThreadId);
}
