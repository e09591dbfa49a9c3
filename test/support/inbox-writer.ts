/**
 * A process with an inbox of its own. Arguments: a database URL and the household's relay. Each
 * line on standard input is `sender count`: so many messages of that agent to Orin at once, and a
 * line of JSON says what became of them.
 */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createInbox } from '../../server/team/inbox/index.ts';
import { openStore } from '../../server/store/index.ts';

const [databaseUrl = '', relay = ''] = process.argv.slice(2);
const { db } = await openStore({ folder: '', databaseUrl });
const inbox = createInbox({ db, home: relay, retentionMs: 60_000, now: Date.now, tell: () => undefined });

const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [from = '', count = '0'] = line.split(' ');
  const put = () =>
    inbox.put(
      { messageId: randomUUID(), to: 'orin', from, text: 'x', time: Date.now(), priority: 'normal', threadId: null },
      'Orin',
    );
  say(await Promise.all(Array.from({ length: Number(count) }, put)));
}
