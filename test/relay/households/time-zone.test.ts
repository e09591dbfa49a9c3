/** By whose clock a household goes, from its first moment on. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { householdConfigAnswerSchema } from '../../../src/shared/protocol/config.ts';
import { wallTime } from '../../../src/shared/domain/zone-days.ts';
import { routine } from '../../support/schedules.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../support/open-relay.ts';

let relay: OpenRelay;
const RELAYS = new Intl.DateTimeFormat().resolvedOptions().timeZone;
beforeAll(async () => {
  relay = await openTestRelay();
});
afterAll(() => relay.close());

const LYRA = { agentId: 'agent-1', name: 'Lyra', position: 0, retired: false };
/** A browser of a household of its own. */
async function begins(): Promise<Browser> {
  const page = await relay.signIn();
  await page.fetch('/api/home', { method: 'POST', json: { beside: true } });
  return page;
}
async function announce(page: Browser, timeZone?: string): Promise<void> {
  const team = { agents: [LYRA], ...(timeZone === undefined ? {} : { timeZone }) };
  expect((await page.fetch('/api/team', { method: 'PUT', json: team })).status).toBe(204);
}
const config = async (page: Browser) =>
  householdConfigAnswerSchema.parse(await (await page.fetch('/v1/config')).json());
const zoneOf = async (page: Browser) => (await config(page)).effective.time_zone;

it('a new household goes by the clock of the browser in which it begins, and a routine at 7:30 is due at 7:30 there', async () => {
  const page = await begins();
  await announce(page, 'Asia/Tokyo');
  expect(await zoneOf(page)).toBe('Asia/Tokyo');
  const timing = { kind: 'weekly' as const, days: [1, 2, 3, 4, 5], time: '07:30', zone: null };
  const schedule = routine({ agentId: LYRA.agentId, timing });
  const made = await page.fetch('/v1/pulse-routines', { method: 'POST', json: schedule });
  const text = await made.text();
  expect(made.status, text).toBe(201);
  const { nextAt } = JSON.parse(text) as { nextAt: number };
  expect(new Date(wallTime('Asia/Tokyo', nextAt)).toISOString().slice(11, 16)).toBe('07:30');
});

it('it stays so after a restart, and whatever another browser says later', async () => {
  const page = await begins();
  await announce(page, 'America/Lima');
  await relay.restart();
  await announce(page, 'Asia/Tokyo');
  expect(await zoneOf(page)).toBe('America/Lima');
});

it('it is no setting of the person’s: one that they set holds, and is told as theirs', async () => {
  const page = await begins();
  await announce(page, 'America/Lima');
  const { own, version } = await config(page);
  expect(own.time_zone).toBeUndefined();
  const set = await page.fetch('/v1/config', { method: 'PUT', json: { ...own, version, time_zone: 'Asia/Tokyo' } });
  expect(set.status).toBe(200);
  expect(await config(page)).toMatchObject({
    own: { time_zone: 'Asia/Tokyo' },
    effective: { time_zone: 'Asia/Tokyo' },
  });
});

it.each([undefined, 'Mars/Olympus', ''])(
  'a browser that says %j leaves it at the relay’s, and its team is taken',
  async (said) => {
    const page = await begins();
    await announce(page, said);
    expect(await zoneOf(page)).toBe(RELAYS);
  },
);
