/** A second device by one code: what it lets in, for how long, and what a guest may not do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEVICE_CODES, deviceLink } from '../../../src/shared/protocol/device-code-settings.ts';
import { deviceCodeSchema, deviceCodeStateSchema } from '../../../src/shared/protocol/device-codes.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { browserOf, openTestRelay, type Browser } from '../../support/open-relay.ts';
import { keyIn, openLink } from '../../support/sign-in.ts';

const MINUTE = 60_000;

describe('a device’s code', () => {
  let relay: Awaited<ReturnType<typeof openTestRelay>>;
  let host: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({
      args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'],
    });
    host = await relay.signIn();
  });
  afterAll(() => relay.close());

  const call = async (from: Pick<Browser, 'fetch'>, method: string, path: string, json?: unknown) => {
    const answer = await from.fetch(path, { method, ...(json === undefined ? {} : { json }) });
    const text = await answer.text();
    return {
      status: answer.status,
      text,
      type: answer.ok ? '' : problemSchema.parse(JSON.parse(text)).type.replace('about:roost/', ''),
    };
  };
  const make = async (from: Pick<Browser, 'fetch'> = host) =>
    deviceCodeSchema.parse(JSON.parse((await call(from, 'POST', '/api/device-codes')).text));
  const stateOf = async (id: string) => {
    const { status, text } = await call(host, 'GET', `/api/device-codes/${id}`);
    return status === 200 ? deviceCodeStateSchema.parse(JSON.parse(text)) : status;
  };
  const open = async (code: string) => browserOf(relay.url, await openLink(`${relay.url}/enter?code=${code}`));
  const guestOf = async () => {
    const made = await make();
    return { ...made, guest: await open(made.code) };
  };

  it("contains the relay's address, with the code after the # that no server sees", async () => {
    const { code, address, id } = await make();
    // It was told of no other address than its own machine's.
    expect(address).toBeNull();
    const { pathname, search, hash } = new URL(deviceLink(relay.url, code));
    expect([pathname, search, hash]).toEqual(['/enter', '', `#${DEVICE_CODES.fragment}${code}`]);
    // The page that the link opens takes the code from there itself.
    const page = await (await fetch(deviceLink(relay.url, code))).text();
    expect(page).toContain(DEVICE_CODES.fragment);
    expect(page).not.toContain(code);
    expect(await stateOf(id)).toEqual({ state: 'open', offer: null });
    await call(host, 'DELETE', `/api/device-codes/${id}`);
  });

  it('lets one in, once, who may begin nothing and spend nothing until the words were compared', async () => {
    await call(host, 'PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
    const { id, code, guest } = await guestOf();
    await expect(open(code)).rejects.toThrow('401');
    expect(await stateOf(id)).toEqual({ state: 'opened', offer: null });
    for (const [method, path, json] of [
      ['POST', '/api/home', { beside: true }],
      ['POST', '/api/sessions', {}],
      ['PUT', '/api/team', { agents: [] }],
      ['POST', '/api/models', {}],
      ['POST', '/api/credentials', {}],
      ['POST', '/api/device-codes'],
      ['PUT', `/api/device-codes/${id}/guest`],
      ['PUT', '/api/sync/households/AAAAAAAAAAAAAAAAAAAAAA', {}],
    ] as const)
      expect([method, path, (await call(guest, method, path, json)).type]).toEqual([method, path, 'guest']);
    expect((await call(guest, 'GET', '/api/home')).status).toBe(200);
    expect((await call(guest, 'GET', '/api/agents')).text).not.toContain('Lyra');

    expect((await call(guest, 'POST', '/api/join-offer', { offer: 'ROOST1.first' })).status).toBe(204);
    expect((await call(guest, 'POST', '/api/join-offer', { offer: 'ROOST1.second' })).status).toBe(204);
    expect((await call(guest, 'POST', '/api/join-offer', { offer: 'a\u0000b' })).status).toBe(400);
    expect(await stateOf(id)).toEqual({ state: 'offered', offer: 'ROOST1.second' });
    expect((await call(host, 'PUT', `/api/device-codes/${id}/guest`)).status).toBe(204);
    expect((await call(guest, 'POST', '/api/credentials', {})).type).not.toBe('guest');
    // Who was let in stays, whatever time goes by; where it became no device after all, it goes
    // with its code.
    relay.pass(DEVICE_CODES.openMs + MINUTE);
    expect((await call(guest, 'GET', '/api/home')).status).toBe(200);
    expect((await call(host, 'DELETE', `/api/device-codes/${id}`)).status).toBe(204);
    expect((await call(guest, 'GET', '/api/home')).status).toBe(401);
    const stays = await guestOf();
    await call(host, 'PUT', `/api/device-codes/${stays.id}/guest`);
    relay.pass(DEVICE_CODES.guestMs + MINUTE);
    expect((await call(stays.guest, 'GET', '/api/home')).status).toBe(200);
  });

  it('accepts a code as a link or alone, and the page tells the browser that used it', async () => {
    for (const pasted of [(code: string) => deviceLink('https://roost.example', code), (code: string) => ` ${code} `]) {
      const { code, id } = await make();
      const page = await (await fetch(`${relay.url}/enter?code=${encodeURIComponent(pasted(code))}`)).text();
      expect(page).toContain('data-by-device="yes"');
      expect(await stateOf(id)).toEqual({ state: 'opened', offer: null });
      await call(host, 'DELETE', `/api/device-codes/${id}`);
    }
  });

  it('shows a code to its maker alone, and signs its browser out when it ends or expires', async () => {
    const other = await guestOf();
    await call(host, 'PUT', `/api/device-codes/${other.id}/guest`);
    const { id, guest } = await guestOf();
    for (const [method, path] of [
      ['GET', `/api/device-codes/${id}`],
      ['PUT', `/api/device-codes/${id}/guest`],
      ['DELETE', `/api/device-codes/${id}`],
    ] as const)
      expect((await call(other.guest, method, path)).type).toBe('no-code');
    expect((await call(other.guest, 'POST', '/api/join-offer', { offer: 'x' })).status).toBe(204);
    expect((await call(host, 'POST', '/api/join-offer', { offer: 'x' })).type).toBe('no-code');

    expect((await call(host, 'DELETE', `/api/device-codes/${id}`)).status).toBe(204);
    expect((await call(guest, 'GET', '/api/home')).status).toBe(401);
    expect(await stateOf(id)).toEqual({ state: 'over', offer: null });

    const late = await guestOf();
    relay.pass(DEVICE_CODES.guestMs + 1);
    expect((await call(late.guest, 'GET', '/api/home')).status).toBe(401);
    const { code } = await make();
    relay.pass(DEVICE_CODES.openMs + 1);
    await expect(open(code)).rejects.toThrow('401');
  });

  it('makes no guest of a signed-in browser or of the maker, and limits open codes', async () => {
    const known = await guestOf();
    await call(host, 'PUT', `/api/device-codes/${known.id}/guest`);
    const { code, id } = await make();
    const again = await fetch(`${relay.url}/enter?code=${code}`, {
      headers: { cookie: (await host.signIn()).cookie },
    });
    expect(await again.text()).not.toContain('data-page-key');
    expect(await stateOf(id)).toEqual({ state: 'open', offer: null });
    expect((await call(host, 'PUT', `/api/device-codes/${id}/guest`)).type).toBe('no-code');
    // Who was in before stays in, whatever becomes of a code that they open.
    const { code: second, id: secondId } = await make();
    const { cookie } = await known.guest.signIn();
    const key = keyIn(await (await fetch(`${relay.url}/enter?code=${second}`, { headers: { cookie } })).text()) ?? '';
    expect((await call(host, 'DELETE', `/api/device-codes/${secondId}`)).status).toBe(204);
    expect((await call(browserOf(relay.url, { cookie, key }), 'POST', '/api/credentials', {})).type).not.toMatch(
      /guest|signed/,
    );
    const made = [];
    for (let i = 0; i <= DEVICE_CODES.most; i++) made.push((await call(host, 'POST', '/api/device-codes')).status);
    expect(made.slice(-1)).toEqual([409]);
    expect(made.filter((status) => status === 201)).toHaveLength(DEVICE_CODES.most - 1);
  });
});
