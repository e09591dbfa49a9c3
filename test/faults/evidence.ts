/**
 * What can be seen from outside: what the page shows, what the ledger holds, what the relay has on
 * disk.
 */
import type { Page } from 'playwright-core';
import { parseDocument, type Doc, type MessageDoc } from '../../src/shared/protocol/documents.ts';
import { isKnown } from '../../src/shared/protocol/documents/kinds.ts';
import { eventSchema, type StoredEvent } from '../../src/shared/protocol/events.ts';
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

/**
 * Reads the open conversation from its beginning to its end, as somebody who scrolls through it;
 * without tool lines and dividers.
 */
export async function readShown(page: Page): Promise<Shown[]> {
  const rows = await page.getByRole('region', { name: /^Conversation with / }).evaluate(async (log) => {
    interface Row {
      readonly mine: boolean;
      open: boolean;
      status: string;
      readonly texts: string[];
    }
    const found = new Map<string, Row & { readonly place: number }>();
    const frame = () => new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const atEnd = () => log.scrollTop + log.clientHeight >= log.scrollHeight - 2;
    const items = () => [...log.querySelectorAll<HTMLElement>('li[aria-posinset]')];
    const placeOf = (item: Element) => Number(item.getAttribute('aria-posinset'));
    /** A row is out of sight until it has been measured. */
    const measured = async () => {
      for (let n = 0; n < 30; n++) {
        await frame();
        if (items().every((item) => item.style.visibility !== 'hidden')) return;
      }
    };
    const check = () => {
      for (const item of items()) {
        const article = item.querySelector('article');
        const key = item.querySelector<HTMLElement>('[data-key]')?.dataset['key'];
        if (!article || key === undefined) continue;
        found.set(key, {
          place: placeOf(item),
          mine: article.classList.contains('msg-mine'),
          open: article.querySelector('.writing') !== null,
          status: article.querySelector('.msg-status')?.textContent ?? '',
          texts: [...article.querySelectorAll('.msg-words :is(.md, .plain)')].map((words) => words.textContent ?? ''),
        });
      }
    };
    await measured();
    const [first] = items();
    if (log.querySelector('.log-more') || (first && placeOf(first) > 1)) {
      do {
        log.scrollTop = 0;
        await measured();
      } while (log.querySelector('.log-more'));
      while (!atEnd()) {
        check();
        log.scrollTop += log.clientHeight * 0.8;
        await measured();
      }
    }
    check();
    log.scrollTop = log.scrollHeight;
    // A long message lies over several rows: their keys say whose they are.
    const whole = new Map<string, Row>();
    for (const [key, row] of [...found].sort(([, a], [, b]) => a.place - b.place)) {
      const base = key.split('#')[0] ?? key;
      const held = whole.get(base);
      if (!held) whole.set(base, row);
      else {
        held.texts.push(...row.texts);
        held.open ||= row.open;
        held.status ||= row.status;
      }
    }
    return [...whole.values()].map(({ mine, open, status, texts }) => ({ mine, open, status, texts }));
  });
  return rows.map((row) => ({ ...row, texts: row.texts.map(plain) }));
}

/** Every document that the views of this browser's ledger hold. */
export async function readLedger(page: Page): Promise<Doc[]> {
  const values = await page.evaluate(async () => {
    const views = (await indexedDB.databases())
      .flatMap(({ name }) => (name?.startsWith('roost-views-') ? [name] : []))
      .sort()
      .at(-1);
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
    if (typeof value !== 'object' || value === null || !('doc' in value))
      throw new Error('a view holds something that is no record');
    return parseDocument(value.doc);
  });
}

/** Everything in the relay's log. */
export async function readRelay(relay: TestRelay): Promise<StoredEvent[]> {
  const stream = await openEventSource((signal) => relay.fetch('/api/events?after=0', { signal }));
  const messages = await stream.until((so) => so.some(({ event }) => event === 'snapshot'));
  stream.close();
  return messages.flatMap(({ id, data }) =>
    id === undefined ? [] : [{ id: Number(id), event: eventSchema.parse(data) }],
  );
}

export const messagesIn = (docs: readonly Doc[]): MessageDoc[] =>
  docs.flatMap((doc) => (isKnown(doc) && doc.type === 'message' ? [doc] : []));

/** The texts of what somebody else than the person said. */
export const textsIn = (message: MessageDoc): string[] =>
  message.blocks.flatMap((block) => (block.kind === 'text' ? [plain(block.text)] : []));
