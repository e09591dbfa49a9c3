/**
 * What the relay's own log holds: more or less of what happened, and at no level what anybody said,
 * or a key.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openTestRelay, type OpenRelay } from '../../support/open-relay.ts';
import { searchFor } from '../../support/planted-words.ts';

const NAME = 'Kirschbaumzweigspitze';
const WORD = 'Wacholderbeerensaft';
const SOUL = 'Sternschnuppenregen';

let relay: OpenRelay | null = null;
afterEach(async () => {
  await relay?.close();
  relay = null;
});

/**
 * The log of a relay in which names, words, a soul and a credential were put wherever a call takes
 * any, and how it was asked.
 */
async function logOf(level: string): Promise<{ text: string; secrets: readonly string[] }> {
  const { url, home, signIn } = (relay = await openTestRelay({
    args: ['--log-level', level, '--rehearsal', '{"delayMs":0}'],
  }));
  const browser = await signIn();
  const { cookie, key } = await browser.signIn();
  const post = async (path: string, json: unknown) => {
    const response = await browser.fetch(path, { method: 'POST', json });
    expect(response.status, path).toBeLessThan(300);
    return response.text();
  };
  await post('/api/sessions', { human: { name: NAME }, lead: { name: 'Julian', soul: SOUL, transcript: null } });
  await post('/api/messages', { text: WORD, clientId: 'one' });
  const secret = /"secret":"([^"]+)"/.exec(await post('/api/credentials', { agentId: 'lead', label: NAME }))?.[1] ?? '';
  expect(secret).not.toBe('');
  await (await fetch(`${url}/llm/${secret}/v1/models?${WORD}`)).text();
  await (
    await fetch(`${url}/llm/${WORD}/v1/messages`, { method: 'POST', body: JSON.stringify({ said: WORD }) })
  ).text();
  await (await browser.fetch(`/api/${WORD}?${NAME}`)).text();
  await (await browser.fetch('/api/sessions/current', { method: 'DELETE' })).text();
  const text = await readFile(join(home, 'logs/relay.log'), 'utf8');
  return { text, secrets: [NAME, WORD, SOUL, secret, key, cookie.split('=')[1] ?? cookie] };
}

it('logs every call and event at debug, and no content', async () => {
  const { text, secrets } = await logOf('debug');
  expect(text).toContain('debug A call was answered. {"method":"POST","route":"/api/messages","status":202');
  expect(text).toMatch(/"route":"\/llm\/:credential/);
  expect(text).toMatch(/An event was written\..*"kind":"message"/);
  expect(text).toContain('info The relay has started.');
  expect(searchFor(secrets).inBytes(Buffer.from(text), 'relay.log')).toEqual([]);
});

it("logs the relay's own events at info, and no calls", async () => {
  const { text } = await logOf('info');
  expect(text).toContain('info The relay has started.');
  expect(text).not.toContain(' debug ');
});

it('does not log the start of the relay at warn', async () => {
  const relayed = (relay = await openTestRelay({ args: ['--log-level', 'warn'] }));
  await (await fetch(`${relayed.url}/api/health`)).text();
  await expect(readFile(join(relayed.home, 'logs/relay.log'), 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
});
