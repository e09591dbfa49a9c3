/**
 * A relay that has lost its home is given back by a page what people and agents set and said there.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOLDINGS } from '../../../../server/store/tables.ts';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';
import type { Doc } from '../../../../src/shared/protocol/documents.ts';
import { eventSchema } from '../../../../src/shared/protocol/events.ts';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import { kindOf } from '../../../../src/shared/protocol/documents/kinds.ts';
import {
  comparedRecordsSchema,
  offeredRecordsSchema,
  RECORD_TYPES,
  type RecordAnswer,
} from '../../../../src/shared/protocol/records.ts';
import { threadMessagesSchema, threadSchema } from '../../../../src/shared/protocol/threads.ts';
import { eventsOf } from '../../../support/homes.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../../support/open-relay.ts';
import { allowAll, offered } from '../../../support/records.ts';
import { createStorePlace, USUAL_STORES } from '../../../support/stores.ts';

const ARGS = ['--rehearsal', '{"delayMs":0,"wordMs":0}'];

/** What a browser has stored that has followed this log. */
async function documentsFrom(browser: Browser): Promise<Doc[]> {
  const events = await eventsOf(browser);
  return events.flatMap(({ event, id, data }) =>
    event === 'record' ? documentsOf({ id: Number(id), event: eventSchema.parse(data) }) : [],
  );
}
async function offer(browser: Browser, docs: readonly Doc[]): Promise<readonly RecordAnswer[]> {
  const answer = await browser.fetch('/api/records', { method: 'POST', json: { records: docs.map(offered) } });
  expect(answer.status).toBe(200);
  return offeredRecordsSchema.parse(await answer.json()).answers;
}
async function compare(browser: Browser, docs: readonly Doc[]) {
  const records = docs.map((doc) => ({ type: doc.type, id: String(doc['recordId']), at: doc.at }));
  const answer = await browser.fetch('/api/records/compare', { method: 'POST', json: { records } });
  return comparedRecordsSchema.parse(await answer.json()).standings;
}
const taken = (answers: readonly RecordAnswer[]) => answers.map(({ answer }) => answer);
const put = async (browser: Browser, path: string, json: unknown) =>
  expect((await browser.fetch(path, { method: 'PUT', json })).ok).toBe(true);
const get = async (browser: Browser, path: string): Promise<unknown> => (await browser.fetch(path)).json();

describe('a relay whose home was lost', () => {
  let relay: OpenRelay;
  let page: Browser;
  const opened: OpenRelay[] = [];
  async function newRelay(): Promise<Browser> {
    relay = await openTestRelay({ args: ARGS });
    opened.push(relay);
    return (page = await relay.signIn());
  }
  beforeEach(async () => {
    await newRelay();
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
  });
  const budget = (usd: number | null) => put(page, '/v1/config', { daily_budget_usd: usd });
  const told = (count: number) =>
    expect.poll(async () => (await documentsFrom(page)).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);

  it('has a budget again when a page restores it, and says so', async () => {
    await budget(7);
    await told(1);
    const docs = await documentsFrom(page);
    await newRelay();
    expect(await get(page, '/v1/config')).toMatchObject({ own: { coordination: {} }, daily_budget_usd: null });
    expect(await compare(page, docs)).toEqual(['unknown']);
    expect(taken(await offer(page, docs))).toEqual(['taken']);
    expect(await get(page, '/v1/config')).toMatchObject({ daily_budget_usd: 7 });
    expect(await compare(page, docs)).toEqual(['known']);
    expect(taken(await offer(page, docs))).toEqual(['kept']);
    // What was given back is known already: nobody is told of it as of something new.
    expect(await documentsFrom(page)).toEqual([]);
  });

  it('keeps what was set there since, whatever an old page offers', async () => {
    await budget(7);
    await told(1);
    const docs = await documentsFrom(page);
    await newRelay();
    await budget(3);
    expect(await compare(page, docs)).toEqual(['known']);
    expect(taken(await offer(page, docs))).toEqual(['kept']);
    expect(await get(page, '/v1/config')).toMatchObject({ daily_budget_usd: 3 });
  });

  it('restored from an old copy accepts newer records, and none that are older', async () => {
    await budget(2);
    await told(1);
    await budget(1);
    await told(2);
    const docs = await documentsFrom(page);
    const [first, second] = docs as [Doc, Doc];
    await newRelay();
    await offer(page, [first]);
    expect(await compare(page, [second])).toEqual(['older']);
    expect(taken(await offer(page, [second, first]))).toEqual(['taken', 'kept']);
    expect(await get(page, '/v1/config')).toMatchObject({ daily_budget_usd: 1 });
    // And what is set now is newer than what was given back.
    await budget(9);
    await told(1);
    const [latest] = await documentsFrom(page);
    expect((latest?.at ?? '') > second.at).toBe(true);
  });

  it('says what it does not take, and takes the rest', async () => {
    await budget(5);
    await put(page, '/api/prices', { prices: [{ model: '*', input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }] });
    await told(2);
    const docs = await documentsFrom(page);
    await newRelay();
    const ahead = formatStamp({ time: Date.now() + 10 * 24 * 3_600_000, counter: 0, node: 'far' });
    const bad: Doc[] = [
      { ...(docs[0] as Doc), recordId: 'agent "a1"' },
      { ...(docs[0] as Doc), value: { agentId: null, config: { daily_budget_usd: -1 } } },
      { ...(docs[0] as Doc), at: ahead },
      { ...(docs[0] as Doc), type: 'routine' },
    ];
    const answers = await offer(page, [...bad, ...docs]);
    // By these prices a budget would last longer: the person is asked.
    expect(taken(answers)).toEqual(['refused', 'refused', 'refused', 'refused', 'taken', 'asked']);
    for (const answer of answers.slice(0, 4)) expect(answer).toMatchObject({ why: expect.stringMatching(/\.$/) });
    await allowAll(page);
    expect(await get(page, '/api/prices')).toMatchObject({ prices: [{ model: '*', input: 1 }] });
  });

  describe('and its threads', () => {
    const say = (threadId: string, text: string, mentions: readonly string[] = []) =>
      page.fetch(`/api/threads/${threadId}/messages`, {
        method: 'POST',
        json: { text, mentions, clientId: `client of ${text}` },
      });
    async function begin(title: string): Promise<string> {
      const made = await page.fetch('/api/threads', { method: 'POST', json: { title, participants: ['a1'] } });
      expect(made.status).toBeLessThan(300);
      return threadSchema.parse(await made.json()).threadId;
    }
    const team = () =>
      put(page, '/api/team', {
        agents: [
          { agentId: 'lead', name: 'Lead', position: 4, retired: false },
          { agentId: 'a1', name: 'Lyra', position: 0, retired: false },
        ],
      });
    const read = async (threadId: string) =>
      threadMessagesSchema.parse(await get(page, `/api/threads/${threadId}/messages?limit=200`));
    const waiting = async () => get(page, '/api/inbox');

    it('restores threads in their order, by their authors, marked, without notifying anybody', async () => {
      await team();
      const bridge = await begin('The bridge');
      for (const text of ['one', 'two', 'three']) await say(bridge, text, text === 'two' ? ['a1'] : []);
      const closed = await begin('Done with');
      await say(closed, 'over');
      await page.fetch(`/api/threads/${closed}/close`, { method: 'POST', json: { summary: 'It is done.' } });
      await told(6);
      const [before, ended] = [await read(bridge), await read(closed)];
      const docs = await documentsFrom(page);

      await newRelay();
      await team();
      const inbox = await waiting();
      // What was said does not stand without its thread.
      const said = docs.filter(({ type }) => type === 'thread-message');
      expect(new Set(taken(await offer(page, said)))).toEqual(new Set(['refused']));
      const threads = docs.filter(({ type }) => type === 'thread');
      await offer(page, threads);
      expect(new Set(taken(await offer(page, said.toReversed())))).toEqual(new Set(['taken']));
      const after = await read(bridge);
      expect(after.thread).toEqual(before.thread);
      expect(after.messages).toEqual(before.messages.map((message) => ({ ...message, restored: true })));
      expect((await read(closed)).thread).toEqual(ended.thread);
      expect(await waiting()).toEqual(inbox);
      expect(await get(page, '/api/wakes')).toMatchObject({ wakes: [] });
      expect(taken(await offer(page, docs)).every((answer) => answer === 'kept')).toBe(true);
      // A repeat of what was sent to the relay before is still one message.
      await say(bridge, 'three');
      expect((await read(bridge)).messages).toHaveLength(3);
    });

    it('puts what was said since behind what was said before, where both are of one thread', async () => {
      await team();
      const bridge = await begin('The bridge');
      await say(bridge, 'one');
      await told(2);
      const copy = await documentsFrom(page);
      for (const text of ['two', 'three']) await say(bridge, text);
      await told(4);
      const docs = await documentsFrom(page);
      // A relay that was put back from a copy, in which people went on before they gave anything
      // back.
      await newRelay();
      await team();
      await offer(page, copy);
      await say(bridge, 'four', ['a1']);
      expect(
        comparedRecordsSchema.parse(
          await (
            await page.fetch('/api/records/compare', {
              method: 'POST',
              json: {
                records: docs
                  .filter(({ type }) => type === 'thread')
                  .map((doc) => ({ type: doc.type, id: doc['recordId'], at: doc.at, messages: 4 })),
              },
            })
          ).json(),
        ).standings,
      ).toContain('older');
      await offer(page, docs);
      const { messages, thread } = await read(bridge);
      expect(messages.map(({ text, sequence }) => `${sequence} ${text}`)).toEqual([
        '1 one',
        '2 two',
        '3 three',
        '4 four',
      ]);
      expect(messages.map(({ restored }) => restored === true)).toEqual([true, true, true, false]);
      expect(thread.messages).toBe(4);
      await say(bridge, 'five');
      expect((await read(bridge)).messages.at(-1)).toMatchObject({ sequence: 5, text: 'five' });
    });
  });

  it('takes nothing from a program that holds a credential', async () => {
    const made: unknown = await (
      await page.fetch('/api/credentials', { method: 'POST', json: { agentId: null, label: 'bot', readsSoul: false } })
    ).json();
    const secret = String((made as { secret: unknown }).secret);
    const answer = await fetch(new URL('/api/records', relay.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ records: [] }),
    });
    expect([401, 403]).toContain(answer.status);
  });

  it('tells what it had not told when it ended', async () => {
    await budget(4);
    await told(1);
    await relay.restart();
    expect(await documentsFrom(page)).toHaveLength(1);
  });
});

describe('the tables of the relay', () => {
  it.each(USUAL_STORES)('is classified by what it holds, on %s', async (kind) => {
    const place = await createStorePlace(kind);
    const store = await place.open();
    try {
      const tables = await store.db.introspection.getTables();
      const own = tables.map(({ name }) => name).filter((name) => !name.startsWith('kysely_'));
      expect(own.sort()).toEqual(Object.keys(HOLDINGS).sort());
    } finally {
      await store.close();
      await place.remove();
    }
  });

  it('restores each record table from documents of a kind', () => {
    for (const type of RECORD_TYPES) expect(kindOf(type)?.isRecord, type).toBe(true);
  });
});
