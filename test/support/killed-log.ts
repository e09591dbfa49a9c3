/** An event log whose process is killed in the middle of its writing, again and again. */
import { spawn } from 'node:child_process';
import { expect } from 'vitest';
import { openEventLog } from '../../server/log/index.ts';
import { programOf } from './relay-build.ts';
import type { StorePlace } from './stores.ts';

/** The writer is killed after this many lines at most; drawn anew each time. */
const LINES_MOST = 400;

/**
 * Runs the writer until it has said `lines` lines, kills it, and answers with everything it said.
 */
async function writeAndKill(place: StorePlace, lines: number): Promise<string[]> {
  const args = [await programOf('test/support/log-writer.ts'), place.folder, place.databaseUrl ?? ''];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.split('\n').length > lines) child.kill('SIGKILL');
  });
  return await new Promise((resolve, reject) => {
    child.once('close', (_code, signal) =>
      signal === 'SIGKILL' ? resolve(said.split('\n').slice(0, -1)) : reject(new Error(complaints)),
    );
  });
}

/**
 * Expects everything that was acknowledged in the log after each kill, in order and once.
 */
export async function expectAllAfterKills(place: StorePlace, kills: number): Promise<void> {
  const events: number[] = [];
  const clients = new Map<string, number>();
  for (let kill = 0; kill < kills; kill++) {
    for (const line of await writeAndKill(place, 1 + Math.floor(Math.random() * LINES_MOST))) {
      const [what, first = '', second = ''] = line.split(' ');
      if (what === 'event') events.push(Number(first));
      else clients.set(`client ${first}`, Number(second));
    }
    const store = await place.open();
    const log = await openEventLog({
      db: store.db,
      home: 'writer',
      now: Date.now,
      newId: () => 'another',
      onListenerError: () => undefined,
    });
    const stored = await log.read(0, 1_000_000);
    expect(log.id).toBe('log-of-the-writer');
    expect(stored.map(({ id }) => id)).toEqual(Array.from({ length: log.head() }, (_, i) => i + 1));
    expect(events.filter((id) => id > log.head())).toEqual([]);
    const texts = stored.map(({ event }) => (event.kind === 'text' ? event.text : ''));
    expect(new Set(texts).size).toBe(texts.length);
    for (const [clientId, eventId] of clients) {
      expect(await log.written(clientId)).toBe(eventId);
      expect(texts[eventId - 1]).toBe(`once ${clientId.slice('client '.length)}`);
    }
    await log.close();
    await store.close();
  }
  expect(events.length).toBeGreaterThan(0);
}
