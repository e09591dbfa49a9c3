/**
 * A whole relay whose disk is filled while somebody talks, and freed: the next session starts, and
 * is answered, without a restart.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSmallDisk } from '../support/disk-image.ts';
import { startRelay } from '../support/relay.ts';
import { startScriptedModel } from '../support/scripted-model.ts';
import { demand } from './checks.ts';
import { DISK_MB, fill } from './full-disk.ts';

/** ms; a busy machine is not a failure. */
const PATIENCE_MS = 30_000;
const LONG = 'A long message, so that there is soon no room for the next one. '.repeat(3_000);

export interface FullRelays {
  readonly rounds: number;
  /** Status codes that the page was answered with while there was no room. */
  readonly refusals: ReadonlySet<number>;
}

/** Rejects where the relay did not go on. */
export async function fillDiskOfRelay(rounds: number, random: () => number): Promise<FullRelays> {
  const disk = await createSmallDisk(DISK_MB);
  const home = join(disk.folder, 'home');
  const model = await startScriptedModel(() => [{ say: 'I am here.' }]);
  const relay = await startRelay({ home, env: { ANTHROPIC_BASE_URL: model.url } });
  const refusals = new Set<number>();
  const post = async (path: string, json: object) => {
    const response = await relay.fetch(path, { method: 'POST', json });
    await response.body?.cancel();
    return response.status;
  };
  const begin = () =>
    post('/api/sessions', { human: { name: 'Ada' }, lead: { name: 'Julian', soul: null, transcript: null } });
  const isRefused = (status: number) => status >= 500;

  /**
   * What the person asks has an answer; resolves with what stood in the way, null where nothing
   * did.
   */
  async function answered(question: string): Promise<string | null> {
    let last = 'nothing was tried';
    for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await sleep(50)) {
      const started = await begin();
      // One may run still.
      if (started !== 201 && started !== 200 && started !== 409) {
        last = `a session was refused with ${started}`;
        continue;
      }
      const posted = await post('/api/messages', { text: question, clientId: randomUUID() });
      last = posted >= 300 ? `a message was refused with ${posted}` : 'nobody asked the model';
      for (let attempt = 0; posted < 300 && attempt < 40; attempt++, await sleep(50))
        if (model.requests.some(({ last: said }) => said.includes(question))) return null;
    }
    return last;
  }

  try {
    for (let round = 1; round <= rounds; round++) {
      const before = await answered(`Who is there, before ${round}?`);
      demand(`Before the disk was full ${round} times`, before === null ? [] : [before]);
      await sleep(random() * 300);
      await fill(join(disk.folder, 'filler'));
      let refused = false;
      for (const until = performance.now() + PATIENCE_MS; !refused && performance.now() < until;) {
        const status = await post('/api/messages', { text: LONG, clientId: randomUUID() });
        refused = isRefused(status) || status === 409;
        if (refused) refusals.add(status);
      }
      await sleep(random() * 300);
      await rm(join(disk.folder, 'filler'));
      const after = await answered(`Who is there, after ${round}?`);
      demand(`After the disk of a relay was full ${round} times`, [
        ...(refused ? [] : ['nothing was refused']),
        ...(after === null ? [] : [`it did not go on: ${after}`]),
      ]);
      await (await relay.fetch('/api/sessions/current', { method: 'DELETE' })).body?.cancel();
    }
  } finally {
    await relay.stop();
    await model.close();
    await disk.remove();
  }
  return { rounds, refusals };
}
