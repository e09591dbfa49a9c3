/** What was said while the page was closed reaches a WAKE over a line that is slow. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { type HeldLine, openHeldLine } from '../support/held-line.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { headersOf, signInOf } from '../support/sign-in.ts';
import { createVisitor } from '../support/visitor.ts';

const TOLD = 'The lighthouse is in Porto.';

let profile: Guest | null = null;
let relay: TestRelay | null = null;
let model: ScriptedModel | null = null;
let line: HeldLine | null = null;
afterEach(async () => {
  await profile?.remove();
  await line?.close();
  await relay?.stop();
  await model?.close();
  profile = relay = model = line = null;
});

it('waits with a wake for what the relay still sends, however long, and says so', async () => {
  model = await startScriptedModel(teamScript());
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  line = await openHeldLine(relay.url);
  profile = createGuest();
  const context = await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET });
  const first = await createVisitor(context, relay.link.replace(relay.url, line.url));
  await first.begin('Marcus', 'Julian');
  await first.hatch(1);
  // Said to the lead while no page of this browser is open.
  const headers = headersOf(await signInOf(context, line.url));
  const { url } = relay;
  const call = async (path: string, method: string, body?: unknown) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
    await answer.body?.cancel();
  };
  await first.page.goto('about:blank');
  const { requests } = model;
  await call('/api/messages', 'POST', { text: TOLD, clientId: randomUUID() });
  await expect.poll(() => requests.some(({ last }) => last.includes(TOLD))).toBe(true);
  await call('/api/sessions/current', 'DELETE');

  const from = requests.length;
  line.hold('/api/events');
  const { page } = first;
  await page.clock.install();
  await page.goto(line.url);
  await page.getByRole('button', { name: 'WAKE', exact: true }).click();
  await page.getByText('Starting the session…').waitFor();
  await page.clock.fastForward('01:00');
  await page.getByRole('button', { name: 'Continue' }).waitFor();
  expect(requests.slice(from)).toEqual([]);
  line.release();
  await first.untilSeats('it awake', ([seat]) => seat?.state === 'awake');
  const ofLead = () => requests.slice(from).find(({ seat }) => seat === null);
  await expect.poll(() => ofLead()?.system ?? '').toContain(TOLD);
  expect(await page.getByRole('button', { name: 'Continue' }).isVisible()).toBe(false);
  expect(first.complaints).toEqual([]);
});
