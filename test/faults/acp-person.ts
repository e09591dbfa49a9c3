/** What a person does with a relay whose agents think with ACP agents, short. */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { seatColor } from '../../src/shared/domain/seat.ts';
import { writeWake } from '../../src/shared/domain/wake-payload.ts';
import { toolCallSchema } from '../../src/shared/protocol/approvals.ts';
import { programsSchema } from '../../src/shared/protocol/programs.ts';
import type { TestRelay } from '../support/relay.ts';

const UNTIL_MS = 15_000;

/** Resolves with what is found; rejects with `what` where nothing is within `ms`. */
export async function until<Value>(
  what: string,
  probe: () => Promise<Value | null> | Value | null,
  ms = UNTIL_MS,
): Promise<Value> {
  for (const begun = performance.now(); performance.now() - begun < ms; await sleep(100)) {
    const found = await probe();
    if (found !== null) return found;
  }
  throw new Error(`It never came to this: ${what}`);
}
export function check(what: string, holds: boolean): void {
  if (!holds) throw new Error(`This does not hold: ${what}`);
}

export function personAt(relay: () => TestRelay) {
  async function call(method: string, path: string, json?: unknown): Promise<unknown> {
    const answer = await relay().fetch(path, { method, ...(json === undefined ? {} : { json }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }
  const post = (text: string, to?: string) =>
    call('POST', '/api/messages', { text, clientId: randomUUID(), ...(to === undefined ? {} : { to }) });
  return {
    call,
    post,
    begin: () =>
      call('POST', '/api/sessions', {
        human: { name: 'Ada' },
        lead: { name: 'Julian', soul: null, transcript: null },
      }),
    end: () => call('DELETE', '/api/sessions/current'),
    /** `since`: when the last thing was said that it is told. */
    wake: (transcript: string, since: { readonly asleepSince?: number } = {}) =>
      post(
        writeWake([
          { id: 'a1', name: 'Lyra', position: 0, ...seatColor(0), soul: 'I love herons.', transcript, ...since },
        ]),
      ),
    question: (ms?: number) =>
      until(
        'a question of it waits in the inbox',
        async () => {
          const { waiting } = z.object({ waiting: z.array(toolCallSchema) }).parse(await call('GET', '/api/approvals'));
          return waiting[0] ?? null;
        },
        ms,
      ),
    running: async () =>
      programsSchema.parse(await call('GET', '/api/agent-programs')).programs.flatMap(({ running }) => running),
    /** The folder of an agent of the first household. */
    async folderOf(home: string, agentId: string): Promise<string> {
      const [household = ''] = await readdir(join(home, 'workspaces'));
      return join(home, 'workspaces', household, agentId);
    },
  };
}
