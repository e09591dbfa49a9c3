/** What can be seen from outside: what the page shows, what the ledger holds, what the relay has on disk. */
import type { Page } from 'playwright-core';
import { isKnown, parseDocument, type Doc, type MessageDoc } from '../../src/protocol/documents.ts';
import { eventSchema, type StoredEvent } from '../../src/protocol/events.ts';
import { openEventSource } from '../support/event-source.ts';
import type { TestRelay } from '../support/relay.ts';
import { plain } from './words.ts';

/** One message of the open conversation, as it stands on the page. */
export interface Shown {
  readonly mine: boolean;
  /** It is being written. */
  readonly open: boolean;
  /** The small line below, or empty. */
  readonly status: string;
  readonly texts: readonly string[];
}

/** Reads the open conversation, without tool lines and dividers. */
export async function readShown(page: Page): Promise<Shown[]> {
  const rows = await page.getByRole('region', { name: /^Conversation with / }).evaluate((log) =>
    [...log.querySelectorAll('article')].map((article) => ({
      mine: article.classList.contains('msg-mine'),
      open: article.querySelector('.writing') !== null,
      status: article.querySelector('.msg-status')?.textContent ?? '',
      texts: [...article.querySelectorAll('.msg-words :is(.md, .plain)')].map((words) => words.textContent),
    })),
  );
  return rows.map((row) => ({ ...row, texts: row.texts.map(plain) }));
}

/** Every document that the views of this browser's ledger hold. */
export async function readLedger(page: Page): Promise<Doc[]> {
  const values = await page.evaluate(async () => {
    const views = (await indexedDB.databases()).flatMap(({ name }) => (name?.startsWith('roost-views-') ? [name] : [])).sort().at(-1);
    if (views === undefined) throw new Error('there are no views');
    const db = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(views);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Error(String(request.error)));
    });
    const stores = ['identities', 'changes', 'sessions', 'messages', 'reads'];
    const tx = db.transaction(stores);
    const all = await Promise.all(
      stores.map(
        (name) =>
          new Promise<unknown[]>((resolve, reject) => {
            const request = tx.objectStore(name).getAll();
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(new Error(String(request.error)));
          }),
      ),
    );
    db.close();
    return all.flat();
  });
  return values.map((value) => {
    if (typeof value !== 'object' || value === null || !('doc' in value)) throw new Error('a view holds something that is no record');
    return parseDocument(value.doc);
  });
}

/** Everything in the relay's log. */
export async function readRelay(relay: TestRelay): Promise<StoredEvent[]> {
  const stream = await openEventSource((signal) => relay.fetch('/api/events?after=0', { signal }));
  const messages = await stream.until((so) => so.some(({ event }) => event === 'snapshot'));
  stream.close();
  return messages.flatMap(({ id, data }) => (id === undefined ? [] : [{ id: Number(id), event: eventSchema.parse(data) }]));
}

export const messagesIn = (docs: readonly Doc[]): MessageDoc[] => docs.flatMap((doc) => (isKnown(doc) && doc.type === 'message' ? [doc] : []));

/** The texts of what somebody else than the person said. */
export const textsIn = (message: MessageDoc): string[] => message.blocks.flatMap((block) => (block.kind === 'text' ? [plain(block.text)] : []));
