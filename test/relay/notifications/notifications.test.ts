/**
 * Told while everything is closed: through a whole relay and a push service that checks what it is
 * given.
 */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notificationsSchema } from '../../../src/shared/protocol/notifications.ts';
import { calls, startHands, type Hands } from '../../support/hands.ts';
import { startPushService } from '../../support/push-service.ts';
import { headersOf, openLink } from '../../support/sign-in.ts';

type Service = Awaited<ReturnType<typeof startPushService>>;
type Call = (method: string, path: string, json?: unknown) => Promise<Response>;
const ALL = ['approval', 'failure', 'mention', 'answer', 'night'];
const SUBJECT = 'mailto:keeper@example.org';
const SECRET = 'the-plan-nobody-reads';

describe('Being told', { timeout: 60_000 }, () => {
  let service: Service;
  let hands: Hands;
  let phone: Call;
  const desk: Call = (...args) => hands.call(...args);
  beforeAll(async () => {
    service = await startPushService();
    hands = await startHands(['--push-addresses', 'any', '--push-subject', SUBJECT, '--push-next-seconds', '1'], {
      terminal: true,
    });
    await hands.grant({ toolsets: { files: 'ask' } });
    const other = headersOf(await openLink(await hands.relay().newLink()));
    phone = (method, path, json) =>
      fetch(new URL(path, hands.relay().url), {
        method,
        headers: { ...other, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
    // It has followed this home's log before.
    const over = new AbortController();
    const hello = await hands.relay().fetch('/api/events?after=0', { signal: over.signal });
    const first = new TextDecoder().decode((await hello.body?.getReader().read())?.value);
    over.abort();
    const log = /"log":"([^"]+)"/.exec(first)?.[1] ?? '';
    await (await phone('GET', `/api/events?after=0&log=${log}`)).body?.cancel();
  });
  afterAll(async () => {
    await hands.close();
    await service.close();
  });

  const shown = async (call: Call = desk) =>
    notificationsSchema.parse(await (await call('GET', '/api/notifications')).json());
  const chosen = (name: string, more: object = {}) => ({
    name,
    kinds: ALL,
    quiet: null,
    timeZone: 'Europe/Berlin',
    subscription: null,
    ...more,
  });
  async function subscribe(call: Call, device: string, more: object = {}) {
    const subscription = service.subscribe(device, (await shown()).publicKey);
    expect((await call('PUT', '/api/notifications/device', chosen(device, { subscription, ...more }))).status).toBe(
      204,
    );
  }
  const to = (device: string) => service.pushes.filter((push) => push.device === device).map(({ payload }) => payload);
  const asks = async (content: string) => {
    await hands.works(calls('write_file', { path: 'plan.md', content }));
    const [waits] = await hands.waiting();
    return waits?.callId ?? '';
  };

  it('pushes only where the relay may go, says which field is wrong, and keeps nothing of it', async () => {
    for (const [field, body] of [
      [
        'subscription.endpoint',
        chosen('x', { subscription: { endpoint: 'nowhere', keys: { p256dh: 'a', auth: 'b' } } }),
      ],
      ['timeZone', chosen('x', { timeZone: 'Mars/Base' })],
      ['kinds', chosen('x', { kinds: ['gossip'] })],
      ['quiet', chosen('x', { quiet: { from: -1, to: 2_000 } })],
    ] as const) {
      const answer = await desk('PUT', '/api/notifications/device', body);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(field)]);
    }
    expect((await shown()).devices).toEqual([]);
    expect((await stat(join(hands.relay().home, 'push.key'))).mode & 0o777).toBe(0o600);
  });

  it('tells the device used last of a question, sealed and signed; then the other; and takes it back from that when it is answered', async () => {
    await subscribe(phone, 'phone');
    await subscribe(desk, 'desk');
    // The desk was used last; its page is not there to show it.
    const callId = await asks(SECRET);
    const key = `approval:${callId}`;
    await expect.poll(() => to('phone').length, { timeout: 20_000 }).toBe(1);
    expect(service.pushes.map(({ device }) => device)).toEqual(['desk', 'phone']);
    expect(service.pushes[0]).toMatchObject({ ttl: 86_400, urgency: 'high', sub: SUBJECT });
    const told = { key, kind: 'approval', title: 'Lyra waits for your answer', name: 'Lyra', path: '/inbox' };
    expect(to('phone')).toEqual([{ ...told, over: false }]);
    expect((await shown()).open.map((each) => each.key)).toContain(key);

    await hands.answer(callId, 'no');
    await expect.poll(() => [to('desk').at(-1)?.over, to('phone').at(-1)?.over]).toEqual([true, true]);
    expect(new Set(service.pushes.map(({ topic }) => topic)).size).toBe(1);
    expect(to('phone')).toHaveLength(2);
    expect(service.refused).toEqual([]);
    const logs = join(hands.relay().home, 'logs');
    const said = (await Promise.all((await readdir(logs)).map((file) => readFile(join(logs, file), 'utf8')))).join('');
    expect(said).not.toMatch(new RegExp(`${SECRET}|/phone|waits for your answer`));
  });

  it('sends no push for what was seen, retries failed ones, and deletes an ended subscription', async () => {
    service.pushes.length = 0;
    service.answers.set('desk', [
      [503, '0'],
      [503, '0'],
    ]);
    let callId = await asks('second');
    await expect.poll(() => to('desk').length, { timeout: 20_000 }).toBe(1);
    await hands.answer(callId, 'no');
    await expect.poll(() => to('desk').at(-1)?.over).toBe(true);

    service.answers.set('desk', [410]);
    callId = await asks('third');
    await expect
      .poll(async () => (await shown()).devices.find(({ name }) => name === 'desk')?.pushed, { timeout: 20_000 })
      .toBe(false);
    await hands.answer(callId, 'no');
    // The page finds that out when it is opened, and subscribes anew.
    await subscribe(desk, 'desk-again');
    expect((await shown()).devices.map(({ name, pushed, here }) => [name, pushed, here])).toEqual([
      ['desk-again', true, true],
      ['phone', true, false],
    ]);
  });

  it('pushes nothing in quiet hours or of another kind, nor to a device that was removed', async () => {
    await subscribe(phone, 'phone', { kinds: ['failure'] });
    const now = new Date();
    const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
    await subscribe(desk, 'desk', {
      quiet: { from: (minute + 1_430) % 1_440, to: (minute + 60) % 1_440 },
      timeZone: 'UTC',
    });
    const callId = await asks('fourth');
    await expect.poll(async () => (await shown()).open.length).toBeGreaterThan(0);
    const { devices } = await shown();
    for (const { deviceId } of devices)
      expect((await desk('DELETE', `/api/notifications/devices/${deviceId}`)).status).toBe(204);
    expect((await desk('DELETE', '/api/notifications/devices/none')).status).toBe(404);
    await hands.answer(callId, 'no');
    await expect.poll(async () => (await shown()).open.filter(({ kind }) => kind === 'approval')).toEqual([]);
    // That the one before is over may be on its way still.
    expect(service.pushes.filter(({ payload }) => payload?.key === `approval:${callId}`)).toEqual([]);
  });
});
