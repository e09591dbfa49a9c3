/** What one household does at a relay, over HTTP: a lead alone, who says something. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { openEventSource, type OpenStream, type StreamMessage } from './event-source.ts';
import type { Browser } from './open-relay.ts';

const WAIT_MS = 20_000;

export const teamOfLead = (name: string) => ({ agents: [{ agentId: LEAD_ID, name, position: 4, retired: false }] });

/** A session with this lead; answers its id. Throws with the relay's words where it is refused. */
export async function startSession(
  browser: Browser,
  lead: string,
  settings: { readonly contextTokens?: number } = {},
): Promise<string> {
  const json = { human: { name: 'Noa' }, lead: { name: lead, soul: null, transcript: null }, settings };
  const response = await browser.fetch('/api/sessions', { method: 'POST', json });
  const said = (await response.json()) as { sessionId: string };
  if (response.status !== 201) throw new Error(`${response.status} ${JSON.stringify(said)}`);
  return said.sessionId;
}

export const follow = (browser: Browser, path = '/api/events?after=0'): Promise<OpenStream> =>
  openEventSource(async (signal) => await browser.fetch(path, { signal }));

/** Everything of the log that is kept, up to now. */
export async function eventsOf(browser: Browser, path?: string): Promise<readonly StreamMessage[]> {
  const stream = await follow(browser, path);
  const messages = [...(await stream.until((all) => all.some(({ event }) => event === 'snapshot')))];
  stream.close();
  return messages;
}
export const textsOf = (messages: readonly StreamMessage[]): readonly string[] =>
  messages.flatMap(({ event, data }) => (event === 'message' ? [JSON.stringify(data)] : []));

/** Says this to the lead, and waits for the answer to be over. */
export async function talk(browser: Browser, text: string): Promise<void> {
  const stream = await follow(browser);
  const response = await browser.fetch('/api/messages', {
    method: 'POST',
    json: { text, clientId: crypto.randomUUID() },
  });
  if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
  const { eventId } = (await response.json()) as { eventId: number };
  await stream.until((all) =>
    all.some(
      ({ id, event, data }) =>
        event === 'message' && Number(id) > eventId && JSON.stringify(data).includes('"assistant"'),
    ),
  );
  stream.close();
}

/** Waits until it is so; fails with what was seen last. */
export async function eventually<Value>(probe: () => Promise<Value>, good: (value: Value) => boolean): Promise<Value> {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    const value = await probe();
    if (good(value)) return value;
    if (Date.now() > until) throw new Error(`still ${JSON.stringify(value)}`);
    await sleep(25);
  }
}
