/**
 * A process that writes events until it is killed, and says on standard output which of them it was
 * told are on disk. Arguments: the store's folder, a database URL or nothing.
 */
import { writeSync } from 'node:fs';
import { openEventLog } from '../../server/log/index.ts';
import { openStore } from '../../server/store/index.ts';

const [folder = '', databaseUrl = ''] = process.argv.slice(2);
const store = await openStore({ folder, databaseUrl: databaseUrl === '' ? null : databaseUrl });
const log = await openEventLog({
  db: store.db,
  home: 'writer',
  now: Date.now,
  newId: () => 'log-of-the-writer',
  onListenerError: (error) => {
    throw error;
  },
});

const words = (text: string) => ({ kind: 'text', messageId: 'm', text }) as const;
// A synchronous write: what was said was said, whenever the kill comes.
const say = (line: string) => writeSync(1, `${line}\n`);

for (let round = log.head(); ; round++) {
  await Promise.all([
    ...[0, 1, 2].map((stream) =>
      log
        .append([words(`${round}.${stream}`), words(`${round}.${stream}+`)])
        .then((stored) => stored.forEach(({ id }) => say(`event ${id}`))),
    ),
    log
      .appendOnce(`client ${round}`, [words(`once ${round}`)])
      .then(({ eventId }) => say(`client ${round} ${eventId}`)),
  ]);
}
