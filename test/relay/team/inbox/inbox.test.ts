import { describe, expect, it } from 'vitest';
import type { NewInboxMessage } from '../../../../server/team/inbox/put.ts';
import { createInbox } from '../../../../server/team/inbox/index.ts';
import { storeFor } from '../../../support/store-for.ts';
import { USUAL_STORES } from '../../../support/stores.ts';

/** What Postgres' own text refuses, and what an escape could change. */
const HARD_TEXT = '\u0000 \ud800 "quoted" \\ \u2028 🪺';
const inboxMessage = (
  messageId: string,
  to: string,
  time: number,
  more: Partial<NewInboxMessage> = {},
): NewInboxMessage => ({
  messageId,
  to,
  from: 'human',
  text: `${messageId}${HARD_TEXT}`,
  time,
  priority: 'normal',
  threadId: null,
  ...more,
});

describe.each(USUAL_STORES)('the inbox on %s', (kind) => {
  const store = storeFor(kind);
  const told: string[] = [];
  const open = (relay: string, heldCharacters?: number) =>
    createInbox({
      ...(heldCharacters === undefined ? {} : { heldCharacters }),
      db: store().db,
      home: relay,
      retentionMs: 100,
      now: () => 7,
      tell: (event) => void (event.kind === 'changed' && told.push(`${relay} ${event.what} ${event.agentId}`)),
    });
  const idsOf = (letters: readonly { messageId: string }[]) => letters.map(({ messageId }) => messageId);

  it('gives an agent what waits for it in the order it came, whatever the clock said, each message once', async () => {
    const inbox = open('1');
    for (const letter of [
      inboxMessage('m1', 'a', 20),
      inboxMessage('m2', 'a', 10),
      inboxMessage('m3', 'a', 20),
      inboxMessage('m4', HARD_TEXT, 5),
      inboxMessage('m1', 'a', 20),
    ])
      await inbox.put(letter);
    expect(await open('2').waiting('a')).toEqual([]);
    expect(idsOf(await inbox.waiting('a'))).toEqual(['m1', 'm2', 'm3']);
    expect(await inbox.waiting(HARD_TEXT)).toEqual([
      {
        messageId: 'm4',
        to: HARD_TEXT,
        from: 'human',
        text: `m4${HARD_TEXT}`,
        time: 5,
        priority: 'normal',
        threadId: null,
        read: null,
      },
    ]);
    expect(told).toEqual(['1 inbox a', '1 inbox a', '1 inbox a', `1 inbox ${HARD_TEXT}`]);
    expect(idsOf(await inbox.claim(['m3', 'm1'], { readIn: 's', run: 'r', time: 30 }))).toEqual(['m1', 'm3']);
    expect(await inbox.claim([], { readIn: 's', run: 'r', time: 30 })).toEqual([]);
    expect(idsOf(await inbox.waiting('a'))).toEqual(['m2']);
    await inbox.put(inboxMessage('m1', 'a', 10));
    expect(idsOf(await inbox.waiting('a'))).toEqual(['m2']);
    expect([...(await inbox.unread())].sort()).toEqual(
      [
        [HARD_TEXT, 1],
        ['a', 1],
      ].sort(),
    );
  });

  it('gives a message to one of those who reach for it at once', async () => {
    const inbox = open('3');
    const ids = Array.from({ length: 20 }, (_none, n) => `m${n}`);
    for (const [n, id] of ids.entries()) await inbox.put(inboxMessage(id, 'a', n));
    const taken = await Promise.all(['x', 'y', 'z'].map((run) => inbox.claim(ids, { readIn: null, run, time: 50 })));
    expect(taken.flatMap(idsOf).sort()).toEqual([...ids].sort());
  });

  it('tells what was read, when and by which run, newest first, page by page', async () => {
    const inbox = open('4');
    for (let n = 1; n <= 5; n++)
      await inbox.put(inboxMessage(`m${n}`, 'a', n, { from: 'b', priority: 'urgent', threadId: 't' }));
    await inbox.claim(['m4'], { readIn: 's', run: 'answer-1', time: 60 });
    const first = await inbox.list('a', { before: null, limit: 2 });
    expect(first).toMatchObject({
      messages: [
        { messageId: 'm5', from: 'b', priority: 'urgent', threadId: 't', read: null },
        { messageId: 'm4', read: { time: 60, run: 'answer-1' } },
      ],
      more: true,
    });
    const second = await inbox.list('a', { before: 'm4', limit: 3 });
    expect([idsOf(second.messages), second.more]).toEqual([['m3', 'm2', 'm1'], false]);
    expect(await inbox.list('a', { before: 'nothing', limit: 3 })).toEqual({ messages: [], more: false });
  });

  it('gives back what was taken and put before nobody', async () => {
    const inbox = open('5');
    for (let n = 1; n <= 3; n++) await inbox.put(inboxMessage(`m${n}`, 'a', n));
    await inbox.claim(['m1', 'm2'], { readIn: 's', run: 'r', time: 60 });
    await inbox.claim(['m3'], { readIn: null, run: 'client', time: 60 });
    expect((await inbox.takenIn('s')).map(({ messageId }) => messageId).toSorted()).toEqual(['m1', 'm2']);
    await inbox.release(['m2']);
    await inbox.release([]);
    expect(idsOf(await inbox.waiting('a'))).toEqual(['m2']);
  });

  it('keeps a picture of the relay’s with its message: for the next process, after a claim that was undone, and until newer ones need its room', async () => {
    const picture = { attachmentId: 'p', name: 'a picture', mediaType: 'image/png', bytes: 3, data: 'QUJD' } as const;
    const told = (messageId: string) =>
      ({ ...inboxMessage(messageId, 'a', 0), from: 'relay', attachments: [picture] }) as const;
    const nothing = () => Promise.resolve();
    await expect(open('7').tell(told('m1'), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await open('7').waiting('a')).toEqual([]);
    for (let again = 0; again < 2; again++) await open('7').tell(told('m1'), nothing);
    for (const run of ['r', 'again']) {
      const taken = await open('7').claim(['m1'], { readIn: 's', run, time: 50 });
      expect(taken).toMatchObject([{ messageId: 'm1', from: 'relay', attachments: [picture] }]);
      await open('7').release(['m1']);
    }
    for (const id of ['m2', 'm3', 'm4']) await open('7', 250).tell(told(id), nothing);
    const taken = await open('7').claim(['m1', 'm2', 'm3', 'm4'], { readIn: 's', run: 'r', time: 1_000 });
    expect(taken.map(({ attachments = [] }) => attachments.length)).toEqual([0, 0, 1, 1]);
    // It goes with its message.
    await open('7').put(inboxMessage('m5', 'a', 0));
    await open('7').claim(['m5'], { readIn: 's', run: 'r', time: 2_000 });
    expect(await store().db.selectFrom('inbox_attachments').selectAll().where('home', '=', '7').execute()).toEqual([]);
  });

  it('forgets what was read long ago, and nothing that waits', async () => {
    const inbox = open('6');
    const kept = async () => idsOf((await inbox.list('a', { before: null, limit: 9 })).messages).toSorted();
    for (const id of ['m1', 'm2', 'm3', 'm4']) await inbox.put(inboxMessage(id, 'a', 0));
    await inbox.claim(['m1'], { readIn: 's', run: 'r', time: 1_000 });
    await inbox.claim(['m2'], { readIn: 's', run: 'r', time: 1_100 });
    expect(await kept()).toEqual(['m1', 'm2', 'm3', 'm4']);
    await inbox.claim(['m3'], { readIn: 's', run: 'r', time: 1_101 });
    expect(await kept()).toEqual(['m2', 'm3', 'm4']);
    expect(idsOf(await inbox.waiting('a'))).toEqual(['m4']);
  });
});
