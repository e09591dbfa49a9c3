/**
 * A process in which one agent is at work alone, until it is killed. Arguments: the store's folder,
 * a database URL or nothing, the model's address. Says `said` on standard output when words of it
 * are on disk.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { openEventLog } from '../../server/log/index.ts';
import { createAnthropicMind } from '../../server/agents/minds/index.ts';
import { openStore } from '../../server/store/index.ts';
import { createSealer } from '../../server/platform/sealer.ts';
import { SETS_NOTHING_ASIDE } from '../../server/platform/set-aside.ts';
import { openTeam } from '../../server/households/team.ts';
import { parseProtocol } from '../../src/shared/domain/prompts.ts';
import { agentRun, messageFromB } from './runs.ts';

const [folder = '', databaseUrl = '', modelUrl = '', protocol = ''] = process.argv.slice(2);
const fail = (message: string, fields?: unknown) => {
  throw new Error(`${message} ${inspect(fields)}`);
};
const store = await openStore({ folder, databaseUrl: databaseUrl === '' ? null : databaseUrl });
const log = await openEventLog({
  db: store.db,
  home: 'killed',
  now: Date.now,
  newId: randomUUID,
  onListenerError: (error) => fail(String(error)),
});
log.subscribe(({ event }) => {
  // A synchronous write: what was said was said, whenever the kill comes.
  if (event.kind === 'text') writeSync(1, 'said\n');
});
const mind = createAnthropicMind({ key: 'a-key-for-tests', baseUrl: modelUrl });
const { runs, inbox, recovery } = openTeam({
  db: store.db,
  home: 'killed',
  alone: store.kind === 'sqlite',
  log,
  mind,
  protocol: parseProtocol(readFileSync(protocol, 'utf8')),
  now: Date.now,
  newId: randomUUID,
  logger: { warn: fail, error: fail },
  retentionMs: 60_000,
  sealer: createSealer(new Uint8Array(32)),
});
await SETS_NOTHING_ASIDE.run(recovery);
await inbox.put(messageFromB());
await runs.start(agentRun(mind, { readsInbox: true }));
