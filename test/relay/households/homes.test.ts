import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { QUOTAS } from '../../../server/platform/quotas.ts';
import { SEAT_ORDER, seatColor } from '../../../src/shared/domain/seat.ts';
import { writeSummon } from '../../../src/shared/domain/wake-payload.ts';
import { credentialsSchema, madeCredentialSchema } from '../../../src/shared/protocol/team.ts';
import { healthSchema, homeStatusSchema, problemSchema } from '../../../src/shared/protocol/http.ts';
import { mcpServerSchema } from '../../../src/shared/protocol/mcp.ts';
import { startAuthorisationServer } from '../../support/authorisation-server.ts';
import { eventsOf, follow, startSession, talk, teamOfLead, textsOf } from '../../support/homes.ts';
import {
  browserOf,
  openTestRelay,
  type Browser,
  type OpenRelay,
  type OpenRelayOptions,
} from '../../support/open-relay.ts';
import { STORES } from '../../support/stores.ts';
import { enter, newTestDevice, newTestHousehold, register, renew } from '../../support/sync-device.ts';

const QUICK = ['--rehearsal', '{"delayMs":0,"wordMs":0}', '--retention-hours', '0'];

const bornSchema = z.object({ agentId: z.string(), name: z.string(), position: z.number() });

const statusOf = async (browser: Browser) => homeStatusSchema.parse(await (await browser.fetch('/api/home')).json());
const begin = (browser: Browser, beside: boolean, anew?: boolean) =>
  browser.fetch('/api/home', { method: 'POST', json: { beside, ...(anew === undefined ? {} : { anew }) } });
/**
 * The sign-in that a browser takes to begin a household beside the one of the sign-in that it has.
 */
async function takeOwn(browser: Browser): Promise<Browser> {
  const given = await begin(browser, true, true);
  expect(homeStatusSchema.parse(await given.json()).begun).toBe(false);
  const [cookie = ''] = given.headers.getSetCookie();
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
  return browserOf(browser.url, { cookie: cookie.split(';')[0] ?? '', key: (await browser.signIn()).key });
}
const refusal = async (response: Response) => [
  response.status,
  problemSchema.parse(await response.json()).type.replace('about:roost/', ''),
];
const ack = (browser: Browser, upTo: number) => browser.fetch('/api/events/ack', { method: 'POST', json: { upTo } });
const headOf = async (browser: Browser) => Math.max(0, ...(await eventsOf(browser)).map(({ id }) => Number(id ?? 0)));

describe('households of one relay', () => {
  let relay: OpenRelay;
  let [ada, ben]: Browser[] = [];
  const one = () => ada as Browser;
  const other = () => ben as Browser;
  async function openForTwo(options: OpenRelayOptions = {}): Promise<void> {
    relay = await openTestRelay({ args: QUICK, ...options });
    [ada, ben] = [await relay.signIn(), await relay.signIn()];
  }
  beforeEach(() => openForTwo());
  afterEach(async () => {
    await relay.close();
  });

  /** Ada’s household has said something, and ended; she has stored nothing of it yet. */
  async function adaTalks(): Promise<void> {
    await one().fetch('/api/team', { method: 'PUT', json: teamOfLead('Sol') });
    await startSession(one(), 'Sol');
    await talk(one(), 'My daughter is called Ada.');
    await one().fetch('/api/sessions/current', { method: 'DELETE' });
    await startSession(one(), 'Sol');
  }

  it("keeps a household's unstored events when an unpaired browser acknowledges them", async () => {
    await adaTalks();
    relay.pass(120_000);
    // As an old page does: it acknowledges whatever it has heard, and more.
    const heard = await headOf(other());
    for (const upTo of [heard, heard + 1, 1_000_000]) expect((await ack(other(), upTo)).status).toBe(204);
    expect(textsOf(await eventsOf(one())).join()).toContain('My daughter is called Ada.');
  });

  it('a sign-in to an MCP server is finished by the household that began it alone', async () => {
    const far = await startAuthorisationServer();
    for (const [browser, name] of [
      [one(), 'Sol'],
      [other(), 'Lua'],
    ] as const) {
      await browser.fetch('/api/home', { method: 'POST', json: { beside: true, anew: false } });
      expect((await browser.fetch('/api/team', { method: 'PUT', json: teamOfLead(name) })).status).toBe(204);
    }
    const json = { name: 'far', attachment: { kind: 'address', url: far.url } };
    const mcpServers = await one().fetch('/api/mcp-servers', { method: 'POST', json });
    const { serverId } = mcpServerSchema.parse(await mcpServers.json());
    const begun = await one().fetch(`/api/mcp-servers/${serverId}/sign-in`, { method: 'POST' });
    const back = await far.allow(((await begun.json()) as { url: string }).url);
    const finish = async (browser: Browser) =>
      (await browser.fetch('/api/mcp-sign-ins', { method: 'POST', json: { query: back.search.slice(1) } })).status;
    expect([await finish(other()), await finish(one())]).toEqual([409, 200]);
    await far.close();
  });

  it('a browser that is not paired hears nothing of another household, and changes nothing there', async () => {
    await adaTalks();
    expect((await eventsOf(other())).map(({ event }) => event)).toEqual(['hello', 'snapshot']);
    const active = async (browser: Browser) =>
      healthSchema.parse(await (await browser.fetch('/api/health')).json()).sessionActive;
    expect([await active(one()), await active(other())]).toEqual([true, false]);
    expect(await (await other().fetch('/api/team')).json()).toEqual({
      agents: [{ agentId: 'lead', name: 'Lead', position: 4, retired: false }],
    });
    expect(await (await other().fetch('/api/threads')).json()).toMatchObject({ threads: [] });
    const before = await headOf(one());
    for (const [method, path, json] of [
      ['POST', '/api/sessions', { human: { name: 'Ben' }, lead: { name: 'Lua', soul: null, transcript: null } }],
      ['DELETE', '/api/sessions/current', undefined],
      ['POST', '/api/messages', { text: 'Hello', clientId: 'c1' }],
      ['POST', '/api/agents/lead/stop', undefined],
      ['PUT', '/api/team', teamOfLead('Lua')],
      ['PUT', '/v1/config', {}],
      ['POST', '/api/credentials', { agentId: 'lead', label: 'x' }],
      ['POST', '/api/threads', { title: 'x', participants: ['lead'] }],
    ] as const)
      expect([
        path,
        ...(await refusal(await other().fetch(path, { method, ...(json === undefined ? {} : { json }) }))),
      ]).toEqual([path, 409, 'not-begun']);
    expect(await headOf(one())).toBe(before);
    expect(await statusOf(other())).toEqual({ begun: false, lived: false, others: 1 });
  });

  it('the first begins by itself; one beside it only when it is asked for, and talks on its own', async () => {
    expect(await statusOf(one())).toEqual({ begun: false, lived: false, others: 0 });
    await one().fetch('/api/team', { method: 'PUT', json: { agents: [] } });
    expect(await statusOf(one())).toMatchObject({ begun: false });
    await adaTalks();
    expect(await statusOf(one())).toEqual({ begun: true, lived: true, others: 0 });
    expect(await refusal(await begin(other(), false))).toEqual([409, 'not-begun']);
    expect((await begin(other(), true)).status).toBe(200);
    expect(await statusOf(other())).toEqual({ begun: true, lived: false, others: 1 });

    await other().fetch('/api/team', { method: 'PUT', json: teamOfLead('Lua') });
    // While Ada’s session runs.
    await startSession(other(), 'Lua');
    await talk(other(), 'The cellar key is under the fern.');
    expect(textsOf(await eventsOf(other())).join()).toContain('under the fern');
    expect(textsOf(await eventsOf(one())).join()).not.toContain('fern');
    expect(textsOf(await eventsOf(other())).join()).not.toContain('daughter');
    expect(await (await one().fetch('/api/team')).json()).toEqual(teamOfLead('Sol'));
    await other().fetch('/api/sessions/current', { method: 'DELETE' });
    await talk(one(), 'Are you still there?');
  });

  it('the demo of one hatches whatever seats another has filled, and names nobody of it', async () => {
    const adas = ['Marigold', 'Quillon', 'Ottoline'];
    const seated = adas.map((name, position) => ({ agentId: `ada-${position}`, name, position, retired: false }));
    await one().fetch('/api/team', { method: 'PUT', json: { agents: [...teamOfLead('Sol').agents, ...seated] } });
    await startSession(one(), 'Sol');
    expect((await begin(other(), true)).status).toBe(200);
    await other().fetch('/api/team', { method: 'PUT', json: teamOfLead('Lua') });
    await startSession(other(), 'Lua');
    const text = writeSummon(SEAT_ORDER.map((position) => ({ position, ...seatColor(position) })));
    expect((await other().fetch('/api/messages', { method: 'POST', json: { text, clientId: 'summon' } })).status).toBe(
      202,
    );
    const stream = await follow(other());
    const hatched = await stream.until((all) => all.some(({ event }) => event === 'call-ended'));
    stream.close();
    const born = hatched.flatMap(({ event, data }) => (event === 'agent-born' ? [bornSchema.parse(data)] : []));
    expect(born).toHaveLength(8);
    // As its page does.
    const agents = [...teamOfLead('Lua').agents, ...born.map((each) => ({ ...each, retired: false }))];
    await other().fetch('/api/team', { method: 'PUT', json: { agents } });
    for (const question of ['Who else is here?', 'What can you do?', 'Tell Marigold that the bridge holds.'])
      await talk(other(), question);
    const said = textsOf(await eventsOf(other())).filter((message) => message.includes('"assistant"'));
    for (const { name } of born) expect(said.at(-3)).toContain(name);
    // It answers with the person's own words, and has nobody to write to.
    expect(said.at(-1)).not.toContain('"kind":"tool"');
    expect(adas.filter((name) => said.slice(0, -1).join().includes(name))).toEqual([]);
    expect(textsOf(await eventsOf(one()))).toEqual([]);
  });

  describe('a browser that shares its sign-in with another household, and keeps nothing of that,', () => {
    const logOf = async (browser: Browser) => ((await eventsOf(browser))[0]?.data ?? { log: '' }) as { log: string };

    it('begins none in its home: asked, it leaves both to the others, and takes a sign-in of its own', async () => {
      await adaTalks();
      const { log } = await logOf(one());
      expect(await refusal(await begin(one(), false))).toEqual([409, 'not-begun']);
      // Without a word of leaving it stays where it is.
      const stays = await begin(one(), true);
      expect([stays.status, stays.headers.getSetCookie()]).toEqual([200, []]);
      const own = await takeOwn(one());
      expect(await statusOf(own)).toEqual({ begun: false, lived: false, others: 1 });
      // It followed that log too, and does not come back to it: the sign-in was given so as to
      // leave it.
      expect(textsOf(await eventsOf(own, `/api/events?after=0&log=${log}`))).toEqual([]);
      const begun = await begin(own, true, true);
      expect([begun.status, begun.headers.getSetCookie()]).toEqual([200, []]);
      expect(await statusOf(own)).toEqual({ begun: true, lived: false, others: 1 });
      expect(await statusOf(one())).toEqual({ begun: true, lived: true, others: 1 });
      // The new cookie alone lets nobody call.
      const { cookie } = await own.signIn();
      expect((await browserOf(relay.url, { cookie, key: 'x'.repeat(43) }).fetch('/api/home')).status).toBe(401);
    });

    it('keeps its home, and they keep theirs, whichever proves its household last', async () => {
      const [adas, bens] = [newTestHousehold(), newTestHousehold()];
      const [adasDevice, bensDevice] = [newTestDevice(), newTestDevice()];
      expect((await register(one(), adas, adasDevice)).status).toBe(200);
      await adaTalks();
      const stream = await follow(one());
      const own = await takeOwn(one());
      await begin(own, true, true);
      await own.fetch('/api/team', { method: 'PUT', json: teamOfLead('Lua') });
      await startSession(own, 'Lua');
      await talk(own, 'The cellar key is under the fern.');
      expect((await register(own, bens, bensDevice)).status).toBe(200);
      for (const [browser, household, device] of [
        [one(), adas, adasDevice],
        [own, bens, bensDevice],
        [one(), adas, adasDevice],
      ] as const) {
        expect((await register(browser, household, device)).status).toBe(200);
        await (await enter(browser, household, device)).close();
        const heard = { hers: textsOf(await eventsOf(one())).join(), his: textsOf(await eventsOf(own)).join() };
        expect([heard.hers.includes('daughter'), heard.hers.includes('fern')]).toEqual([true, false]);
        expect([heard.his.includes('daughter'), heard.his.includes('fern')]).toEqual([false, true]);
      }
      // Her stream goes on: she was moved nowhere.
      await talk(one(), 'Are you still there?');
      await stream.until((all) => textsOf(all).join().includes('Are you still there?'));
      expect(stream.messages.filter(({ event }) => event === 'over')).toEqual([]);
      stream.close();
    });

    it('limits additional sign-ins, also across those that were added', async () => {
      await adaTalks();
      const given: Browser[] = [];
      for (let n = 0; n < QUOTAS.signInsBesideOne; n++) given.push(await takeOwn(one()));
      expect(await refusal(await begin(one(), true, true))).toEqual([409, 'sign-ins-full']);
      const [own] = given as [Browser];
      await begin(own, true, true);
      await own.fetch('/api/team', { method: 'PUT', json: teamOfLead('Lua') });
      expect(await refusal(await begin(own, true, true))).toEqual([409, 'sign-ins-full']);
      // Also where a device has proven whose home it is, and no page has said who lives there.
      await register(other(), newTestHousehold(), newTestDevice());
      await takeOwn(other());
    });
  });

  it('makes one of two simultaneous households the first, and asks the other', async () => {
    const answers = await Promise.all([begin(one(), false), begin(other(), false)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('a browser comes into the home of the household that its device proves to be of, and shares its cursor', async () => {
    const household = newTestHousehold();
    const hers = await follow(one());
    expect((await register(one(), household, newTestDevice())).status).toBe(200);
    // Whose home it is, is told to who listens there already.
    const isHello = ({ event }: { readonly event: string }) => event === 'hello';
    const hellos = (await hers.until((all) => all.filter(isHello).length === 2)).filter(isHello);
    expect(hellos.map(({ data }) => data)).toMatchObject([{ household: null }, { household: household.id }]);
    hers.close();
    await adaTalks();
    const stream = await follow(other());
    expect((await register(other(), household, newTestDevice())).status).toBe(200);
    // What it followed was another log.
    expect(await stream.ended).toBeNull();
    expect(stream.messages.at(-1)).toMatchObject({ id: undefined, event: 'over', data: { reason: 'moved' } });
    expect(textsOf(await eventsOf(other())).join()).toContain('My daughter is called Ada.');
    expect(await statusOf(other())).toEqual({ begun: true, lived: true, others: 0 });
    relay.pass(120_000);
    await ack(other(), await headOf(other()));
    expect(textsOf(await eventsOf(one())).join()).not.toContain('daughter');
  });

  it('acknowledgements that are replayed, lie beyond the end, or come from nobody who is let in drop nothing that is not stored', async () => {
    await adaTalks();
    const stored = await headOf(one());
    relay.pass(120_000);
    await talk(one(), 'Not stored yet.');
    for (const upTo of [stored, 1, stored]) expect((await ack(one(), upTo)).status).toBe(204);
    const signedOut = await fetch(new URL('/api/events/ack', relay.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"upTo":1000000}',
    });
    expect(signedOut.status).toBe(401);
    relay.pass(120_000);
    expect(textsOf(await eventsOf(one())).join()).toContain('Not stored yet.');
  });

  it('puts one browser into one home when two tabs choose to begin and to join at once', async () => {
    const household = newTestHousehold();
    await register(one(), household, newTestDevice());
    await adaTalks();
    const [begun, joined] = await Promise.all([begin(other(), true), register(other(), household, newTestDevice())]);
    expect([begun.status, joined.status]).toEqual([200, 200]);
    // Whoever has proven to be of a household lives there.
    expect((await statusOf(other())).begun).toBe(true);
    expect(textsOf(await eventsOf(other())).join()).toContain('daughter');
  });

  it('a device that is removed in mid-session hears no more of it, nor with a new link', async () => {
    const household = newTestHousehold();
    const [stays, goes] = [newTestDevice(), newTestDevice()];
    const line = await enter(one(), household, stays);
    await register(other(), household, goes);
    await adaTalks();
    const [hers, its] = [await takeOwn(one()), await takeOwn(other())];
    const stream = await follow(other());
    const hello = (await stream.until((all) => all.length > 0))[0]?.data as { log: string };
    line.send({ kind: 'rotate', rotation: renew(household, { removed: [goes], stay: [stays] }).rotation });
    await line.next('rotated');
    expect(await stream.ended).toBeNull();
    expect(stream.messages.at(-1)).toMatchObject({ event: 'over', data: { reason: 'signed-out' } });
    expect((await other().fetch('/api/home')).status).toBe(401);
    // Nor has it kept a way in beside that one.
    expect([(await its.fetch('/api/home')).status, (await hers.fetch('/api/home')).status]).toEqual([401, 200]);
    await talk(one(), 'Only for those who stayed.');
    const again = await relay.signIn();
    expect((await eventsOf(again, `/api/events?after=0&log=${hello.log}`)).map(({ event }) => event)).toEqual([
      'hello',
      'snapshot',
    ]);
    expect(await statusOf(again)).toMatchObject({ begun: false, lived: false, others: 1 });
    await line.close();
  });

  it('a name that one heard of a household, or a wrong key for it, opens nothing', async () => {
    const household = newTestHousehold();
    await register(one(), household, newTestDevice());
    await adaTalks();
    expect((await register(other(), { ...newTestHousehold(), id: household.id }, newTestDevice())).status).toBe(409);
    const hello = ((await eventsOf(one()))[0]?.data ?? {}) as { log: string };
    expect((await eventsOf(other(), `/api/events?after=0&log=${hello.log}`)).map(({ event }) => event)).toEqual([
      'hello',
      'snapshot',
    ]);
  });

  it('a browser whose cookie was lost comes back to the log it followed, where no device proves itself', async () => {
    await adaTalks();
    const hello = ((await eventsOf(one()))[0]?.data ?? {}) as { log: string };
    expect(textsOf(await eventsOf(other(), `/api/events?after=0&log=${hello.log}`)).join()).toContain('daughter');
    expect(await statusOf(other())).toMatchObject({ begun: true, others: 0 });
  });

  describe('where devices prove themselves, a new sign-in that follows the log of its household', () => {
    const household = newTestHousehold();
    const device = newTestDevice();
    /** Ada’s browser after a restart: another sign-in, and the log that it follows. */
    async function comeBack(): Promise<Browser> {
      await register(one(), household, device);
      await adaTalks();
      const { log } = ((await eventsOf(one()))[0]?.data ?? {}) as { log: string };
      await relay.restart();
      const again = await relay.signIn();
      await eventsOf(again, `/api/events?after=0&log=${log}`);
      return again;
    }
    const json = { human: { name: 'Noa' }, lead: { name: 'Sol', soul: null, transcript: null } };
    const wake = (browser: Browser) => browser.fetch('/api/sessions', { method: 'POST', json });

    it('holds the first write until the device has proven itself, and then performs it at home', async () => {
      const again = await comeBack();
      let answered = false;
      const waking = wake(again).finally(() => (answered = true));
      // Its device proves itself only once the write has come: what is asked in between is
      // answered.
      for (let n = 0; n < 5; n++) expect(await statusOf(again)).toMatchObject({ begun: false, others: 1 });
      expect(answered).toBe(false);
      expect((await register(again, household, device)).status).toBe(200);
      expect((await waking).status).toBe(201);
      expect(textsOf(await eventsOf(again)).join()).toContain('My daughter is called Ada.');
      // It is the one home that there is, and its session is everybody’s there.
      for (const browser of [again, one()]) {
        expect(await statusOf(browser)).toEqual({ begun: true, lived: true, others: 0 });
        expect((await wake(browser)).status).toBe(409);
      }
      await talk(again, 'There again.');
      expect(textsOf(await eventsOf(one())).join()).toContain('There again.');
    });

    it('asks a browser to reconnect when its stream opened during the move to its home', async () => {
      await register(one(), household, device);
      await adaTalks();
      const { log } = ((await eventsOf(one()))[0]?.data ?? {}) as { log: string };
      await relay.restart();
      const reads: string[] = [];
      for (let n = 0; n < 8; n++) {
        const again = await relay.signIn();
        const over = new AbortController();
        const opening = again.fetch(`/api/events?after=0&log=${log}`, { signal: over.signal });
        await Promise.all([opening, register(again, household, device)]);
        const reader = (await opening).body?.getReader();
        let text = '';
        while (reader && !text.includes(`"log":"${log}"`) && !text.includes('event: over')) {
          const { done, value } = await reader.read();
          if (done) break;
          text += new TextDecoder().decode(value);
        }
        over.abort();
        reads.push(text.includes('event: over') ? 'told' : text.includes(log) ? 'at home' : 'left behind');
      }
      expect(reads).not.toContain('left behind');
    });

    it('asks plainly for a device that never proves itself, and begins nothing', async () => {
      await relay.close();
      await openForTwo({ proofMs: 500 });
      const again = await comeBack();
      const before = await headOf(one());
      const [waking, ending] = await Promise.all([
        wake(again),
        again.fetch('/api/sessions/current', { method: 'DELETE' }),
      ]);
      for (const response of [waking, ending]) expect(await refusal(response)).toEqual([409, 'not-begun']);
      expect(await headOf(one())).toBe(before);
      expect(await statusOf(again)).toEqual({ begun: false, lived: false, others: 1 });
      // It may say that it is somebody else, as ever.
      expect((await begin(again, true)).status).toBe(200);
      expect(await statusOf(one())).toMatchObject({ begun: true, others: 1 });
      expect(textsOf(await eventsOf(again)).join()).not.toContain('daughter');
    });
  });

  it('credentials open the home in which they were made', async () => {
    await adaTalks();
    await begin(other(), true);
    await other().fetch('/api/team', { method: 'PUT', json: teamOfLead('Lua') });
    for (const [browser, elsewhere] of [
      [one(), other()],
      [other(), one()],
    ] as const) {
      const used = async (whose: Browser) => {
        const { credentials } = credentialsSchema.parse(await (await whose.fetch('/api/credentials')).json());
        return credentials.filter(({ usedAt }) => usedAt !== null).length;
      };
      const before = await used(elsewhere);
      const made = madeCredentialSchema.parse(
        await (
          await browser.fetch('/api/credentials', { method: 'POST', json: { agentId: 'lead', label: '' } })
        ).json(),
      );
      const authorization = `Bearer ${made.secret}`;
      expect(
        (await fetch(new URL('/v1/agents/lead/wake-stats', relay.url), { headers: { authorization } })).status,
      ).toBe(200);
      expect(
        (
          await fetch(new URL('/mcp', relay.url), {
            method: 'POST',
            headers: { authorization, 'content-type': 'application/json' },
            body: '{}',
          })
        ).status,
      ).toBe(400);
      // This relay rehearses; a credential that it did not find would be a 401.
      expect((await fetch(new URL(`/llm/${made.secret}/v1/models`, relay.url))).status).toBe(400);
      expect([await used(browser), await used(elsewhere)]).toEqual([1, before]);
    }
  });
});

describe.each(STORES)('the homes of a relay, with the store on %s', (kind) => {
  it('restores each home after a restart, and limits the number of homes', async () => {
    const relay = await openTestRelay({
      args: [...QUICK, '--households', '2'],
      store: kind,
    });
    const [one, other, third] = [await relay.signIn(), await relay.signIn(), await relay.signIn()];
    await startSession(one, 'Sol');
    await talk(one, 'The first.');
    await begin(other, true);
    await startSession(other, 'Lua');
    await talk(other, 'The second.');
    expect(await refusal(await begin(third, true))).toEqual([409, 'households-full']);
    await relay.restart();
    expect(textsOf(await eventsOf(one)).join()).toMatch(/The first\./);
    expect(textsOf(await eventsOf(one)).join()).not.toMatch(/The second\./);
    expect(textsOf(await eventsOf(other)).join()).toMatch(/The second\./);
    expect(
      (await eventsOf(other)).filter(({ event }) => event === 'session-ended').map(({ data }) => data),
    ).toMatchObject([{ reason: 'shutdown' }]);
    expect(await statusOf(third)).toEqual({ begun: false, lived: false, others: 2 });
    await relay.close();
  });
});
