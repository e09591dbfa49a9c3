/**
 * Scripts that agents register themselves, in a whole relay with the real sandbox: what is asked,
 * what runs, and what never does.
 */
import { createServer, type Server } from 'node:http';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  occurrenceSchema,
  scheduledSchema,
  type Occurrence,
  type Scheduled,
} from '../../../src/shared/protocol/schedules.ts';
import { createQuestion } from '../../../server/approvals/requests/questions.ts';
import { createCallRows } from '../../../server/approvals/requests/rows.ts';
import { calls, startHands, type Hands } from '../../support/hands.ts';
import { createStorePlace } from '../../support/stores.ts';

const listSchema = z.object({ schedules: z.array(scheduledSchema), scripts: z.boolean() });
const historySchema = z.object({ occurrences: z.array(occurrenceSchema) });
const problem = z.looseObject({ detail: z.string() });
/** Nothing of it is due while the test goes on. */
const RARELY = { cron: '0 3 1 1 *' };
const WITHOUT_SANDBOX = spawnSync('bwrap', ['--version']).status !== 0;

describe.skipIf(WITHOUT_SANDBOX)('A script of an agent’s own, at a relay that was started without --scripts', () => {
  let hands: Hands;
  let server: Server;
  let port: number;
  let asked: string[] = [];
  beforeAll(async () => {
    hands = await startHands();
    server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('up and well');
    });
    await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
    ({ port } = server.address() as AddressInfo);
  }, 60_000);
  afterEach(async () => {
    for (const { callId } of await hands.waiting()) await hands.answer(callId, 'no');
    for (const { scheduleId } of await scheduled()) await hands.call('DELETE', `/v1/pulse-routines/${scheduleId}`);
    asked = [];
  });
  afterAll(async () => {
    await hands.close();
    server.close();
  });

  const folder = () => join(hands.relay().home, 'workspaces');
  const scheduled = async (): Promise<readonly Scheduled[]> =>
    listSchema.parse(await (await hands.call('GET', '/v1/pulse-routines')).json()).schedules;
  const register = (more: object = {}) =>
    calls('wake_script', { name: 'Site', script_path: 'site.sh', ...RARELY, ...more });
  const only = async () => {
    const [one, ...more] = await hands.waiting();
    if (!one || more.length > 0) throw new Error(`Not one question waits: ${more.length}`);
    return one;
  };
  /** A yes to what is shown. */
  const yes = async (more: object = {}) => {
    const { callId, content } = await only();
    return await hands.call('POST', `/api/approvals/${callId}/answer`, {
      ...{ answer: 'once', seen: content?.pin ?? '' },
      ...more,
    });
  };
  const no = async () => hands.answer((await only()).callId, 'no', 'Not that.');
  /** Registers it with this text, and the person says yes. */
  async function registered(text: string, input: object = {}, answer: object = {}): Promise<Scheduled> {
    await hands.put('site.sh', text);
    await hands.works(register(input));
    const requests = hands.model.requests.length;
    expect((await yes(answer)).status).toBe(200);
    // A run that begins with the answer.
    await expect.poll(() => hands.model.requests.length).toBe(requests + 1);
    await expect.poll(async () => (await scheduled()).map(({ schedule }) => schedule.kind)).toEqual(['script']);
    const [one] = await scheduled();
    if (!one) throw new Error('It is not there.');
    return one;
  }
  const historyOf = async ({ scheduleId }: Pick<Scheduled, 'scheduleId'>): Promise<readonly Occurrence[]> =>
    historySchema
      .parse(await (await hands.call('GET', `/v1/pulse-routines/${scheduleId}/history`)).json())
      // What its agent was woken to is a line of its own.
      .occurrences.filter(({ runId }) => runId === null);
  /** Runs it now. */
  async function runs(one: Pick<Scheduled, 'scheduleId'>): Promise<Occurrence> {
    const before = (await historyOf(one)).length;
    expect((await hands.call('POST', `/v1/pulse-routines/${one.scheduleId}/trigger`)).status).toBe(202);
    await expect.poll(async () => (await historyOf(one)).length, { timeout: 20_000 }).toBe(before + 1);
    await expect.poll(async () => (await historyOf(one))[0]?.endedAt ?? null, { timeout: 20_000 }).not.toBeNull();
    const [newest] = await historyOf(one);
    if (!newest) throw new Error('It did not run.');
    return newest;
  }

  it('asks with the whole text and times, and runs only after the yes', async () => {
    const text = `# ${'a long remark '.repeat(1_000)}\necho all is well\n`;
    await hands.put('site.sh', text);
    const [told] = await hands.works(register({ hosts: ['example.org'] }));
    expect(told).toContain('it has not run');
    const question = await only();
    expect(question).toMatchObject({ tool: 'wake_script', agentId: 'a1', where: 'run' });
    expect(JSON.parse(question.input)).toEqual({
      ...{ name: 'Site', script_path: 'site.sh', ...RARELY, on_failure: 'ignore', hosts: ['example.org'] },
    });
    expect(question.content?.files).toMatchObject([{ path: 'site.sh', kind: 'file', text }]);
    expect(await scheduled()).toEqual([]);
    expect((await yes()).status).toBe(200);
    await expect.poll(async () => (await scheduled()).length).toBe(1);
    const [one] = await scheduled();
    expect(one?.schedule).toMatchObject({
      ...{ kind: 'script', name: 'Site', script: 'site.sh', on_failure: 'ignore', enabled: true },
      ...{ timing: { kind: 'cron', cron: '0 3 1 1 *' }, hosts: ['example.org'] },
    });
    expect(one && (await runs(one))).toMatchObject({ state: 'done', said: 'all is well\n', detail: null });
    // Its agent sees it, and takes it away.
    const [list, gone] = await hands.works(calls('wake_list', {}), calls('wake_cancel', { name: 'Site' }));
    expect(list).toContain('- script “Site”, by "0 3 1 1 *"');
    expect(gone).toContain('is removed');
    expect(await scheduled()).toEqual([]);
  });

  it('asks each time despite standing grants, and never when the tool is off', async () => {
    await hands.put('site.sh', 'echo one');
    await hands.grant({ toolsets: { schedule: 'allow' }, tools: { wake_script: 'allow' } });
    await hands.works(register());
    for (const answer of ['always-tool', 'always-command']) expect((await yes({ answer })).status, answer).toBe(400);
    expect(await scheduled()).toEqual([]);
    await hands.grant({ tools: { wake_script: 'off' } });
    expect((await hands.works(register()))[0]).toContain('There is no tool “wake_script” here.');
    await hands.grant({});
  });

  it('refuses an invalid script by the name of the field, and asks nobody', async () => {
    await hands.put('site.sh', 'echo one');
    await hands.put('folder/inner.txt', 'x');
    await hands.put('long.sh', 'x'.repeat(100_001));
    await hands.put('odd.sh', new Uint8Array([1, 0, 255]));
    await hands.put('nul.sh', new Uint8Array([101, 0, 10]));
    await hands.put('windows.sh', 'echo one\r\necho two\r\n');
    await hands.put('bom.sh', '\ufeffecho one\n');
    await hands.put('python.sh', '#!/usr/bin/env -S python3 -u\nprint(1)\n');
    await hands.put('none-there.sh', '#!/opt/none/fishy\necho one\n');
    await symlink('/etc/hostname', join(await ownFolder(), 'out.sh'));
    const odd: readonly (readonly [object, string])[] = [
      [{ cron: '99 * * * *' }, '`cron`'],
      [{ every: '10 minutes' }, 'Give exactly one of'],
      [{ cron: undefined, every: 'now and then' }, '`every`'],
      [{ cron: undefined, every: '0 minutes' }, '`every`'],
      [{ cron: undefined, at: '2020-01-01T09:00' }, '`at`'],
      [{ script_path: 'none.sh' }, '`script_path`: There is no file none.sh'],
      [{ script_path: '../../roost.json' }, '`script_path`'],
      [{ script_path: 'out.sh' }, '`script_path`: The script lies outside'],
      [{ script_path: 'folder' }, '`script_path`: '],
      [{ script_path: 'long.sh' }, '`script_path`: A script is 100 kB long at most'],
      [{ script_path: 'odd.sh' }, '`script_path`: The file is not UTF-8 text'],
      [{ script_path: 'nul.sh' }, '`script_path`: The file is not UTF-8 text'],
      [{ script_path: 'windows.sh' }, '`script_path`: The file has line ends of Windows'],
      [{ script_path: 'bom.sh' }, '`script_path`: The file begins with a byte order mark'],
      [{ script_path: 'python.sh' }, '`script_path`: Scripts run with bash, and this one is for python3'],
      [{ script_path: 'none-there.sh' }, '`script_path`: Scripts run with bash, and this one is for fishy'],
      ...[
        ...['*.example.org', '*', 'http://example.org', 'user:password@example.org', 'Example.org', 'example.org.'],
        ...['[::1]', '::1', '[::ffff:127.0.0.1]:80', '2130706433', '0x7f.1', '127.1', 'example.org:99999', 'a b', ''],
      ].map((host) => [{ hosts: [host] }, '`hosts`: '] as const),
      ...['localhost', 'localhost:8080', 'a.localhost', '127.0.0.1', '10.1.2.3:8080', '169.254.169.254', '0.0.0.0'].map(
        (host) => [{ hosts: [host] }, `\`hosts\`: ${host} is on the relay’s own machine`] as const,
      ),
    ];
    const turns = Array.from({ length: Math.ceil(odd.length / 8) }, (_, n) => odd.slice(8 * n, 8 * n + 8));
    const told = await hands.works(...turns.map((turn) => turn.flatMap(([input]) => register(input))));
    expect(told.map((text, n) => (text.includes(odd[n]?.[1] ?? '?') ? null : [odd[n], text])).filter(Boolean)).toEqual(
      [],
    );
    expect(told).toHaveLength(odd.length);
    expect(await hands.waiting()).toEqual([]);
  });
  /** The agent’s folder on the disk. */
  async function ownFolder(): Promise<string> {
    const { stdout } = spawnSync('find', [folder(), '-type', 'd', '-name', 'a1']);
    return String(stdout).trim().split('\n')[0] ?? '';
  }

  it('asks again when the script changes while its question waits', async () => {
    await hands.put('site.sh', 'echo good');
    await hands.works(register());
    const seen = (await only()).content?.pin ?? '';
    await writeFile(join(await ownFolder(), 'site.sh'), 'echo planted');
    expect((await yes({ seen })).status).toBe(409);
    expect(await scheduled()).toEqual([]);
    expect((await only()).content).toMatchObject({
      files: [{ text: 'echo planted' }],
      before: [{ text: 'echo good' }],
    });
  });

  it('takes the place of the one that its agent has under that name, and a newer question the place of an older', async () => {
    const first = await registered('echo one', { hosts: ['example.org'] });
    await hands.works(register({ cron: undefined, every: '2 hours' }));
    await hands.works(register({ cron: undefined, every: '3 hours', on_failure: 'wake_agent' }));
    expect(JSON.parse((await only()).input)).toMatchObject({ every: '3 hours' });
    await yes();
    await expect
      .poll(async () => (await scheduled())[0]?.schedule)
      .toMatchObject({
        ...{ timing: { kind: 'every', minutes: 180 }, on_failure: 'wake_agent' },
      });
    const [now, ...more] = await scheduled();
    expect(more).toEqual([]);
    expect(now?.scheduleId).toBe(first.scheduleId);
    expect(now?.schedule).not.toHaveProperty('hosts');
  });

  it('runs as it was accepted when its file says something else; the person is asked once, with both texts, and their yes holds', async () => {
    const one = await registered('echo as accepted');
    await hands.put('site.sh', 'echo rewritten');
    const requests = hands.model.requests.length;
    for (const time of [1, 2, 3])
      expect(await runs(one), String(time)).toMatchObject({
        ...{ state: 'done', said: 'as accepted\n', detail: expect.stringContaining('the new one waits for your yes') },
      });
    const question = await only();
    expect(question).toMatchObject({ tool: 'accept_script', agentId: 'a1', where: 'relay' });
    expect(question.content).toMatchObject({
      files: [{ path: 'site.sh', text: 'echo rewritten' }],
      before: [{ path: 'site.sh', text: 'echo as accepted' }],
    });
    expect((await yes()).status).toBe(200);
    await expect.poll(async () => (await hands.answered())[0]?.state).toBe('done');
    expect(await runs(one)).toMatchObject({ said: 'rewritten\n', detail: null });
    // Nobody is woken for it: that would cost.
    expect(hands.model.requests).toHaveLength(requests);
    expect(await hands.waiting()).toEqual([]);
  });

  it('does not ask again about a declined text, also after a restart, and asks about another', async () => {
    const one = await registered('echo as accepted');
    await hands.put('site.sh', 'echo declined');
    await runs(one);
    expect((await no()).status).toBe(200);
    expect(await runs(one)).toMatchObject({ said: 'as accepted\n', detail: expect.stringContaining('you declined') });
    expect(await hands.waiting()).toEqual([]);
    await hands.restart();
    expect(await runs(one)).toMatchObject({ said: 'as accepted\n', detail: expect.stringContaining('you declined') });
    expect(await hands.waiting()).toEqual([]);
    await hands.put('site.sh', 'echo another');
    expect(await runs(one)).toMatchObject({ said: 'as accepted\n' });
    expect((await only()).content?.files).toMatchObject([{ text: 'echo another' }]);
    // Back at what was accepted, nothing is to be asked.
    await hands.put('site.sh', 'echo as accepted');
    expect(await runs(one)).toMatchObject({ said: 'as accepted\n', detail: null });
    expect(await hands.waiting()).toEqual([]);
  });

  it('does not let the relay ask about a script that its agent proposed again and the person declined', async () => {
    const one = await registered('echo as accepted');
    await hands.put('site.sh', 'echo no');
    await hands.works(register());
    await no();
    expect(await runs(one)).toMatchObject({ said: 'as accepted\n', detail: expect.stringContaining('you declined') });
    expect(await hands.waiting()).toEqual([]);
  });

  it('keeps one question per script, about the newest text, however often the file changes', async () => {
    const one = await registered('echo as accepted');
    for (let n = 0; n < 1_000; n++) {
      await writeFile(join(await ownFolderOnce(), 'site.sh'), `echo ${n}`);
      if (n % 100 === 0) await runs(one);
    }
    expect(await runs(one)).toMatchObject({ said: 'as accepted\n' });
    expect((await only()).content?.files).toMatchObject([{ text: 'echo 999' }]);
  });
  let known: string | null = null;
  const ownFolderOnce = async () => (known ??= await ownFolder());

  it('runs as accepted when the file rewrites itself or is deleted', async () => {
    const one = await registered('echo "echo planted" > site.sh; echo "$0"; cat site.sh');
    const said = '/workspace/site.sh\necho planted\n';
    expect(await runs(one)).toMatchObject({ said });
    expect(await runs(one)).toMatchObject({ said, detail: expect.stringContaining('waits for your yes') });
    await no();
    await unlink(join(await ownFolder(), 'site.sh'));
    expect(await runs(one)).toMatchObject({ said, detail: expect.stringContaining('file is gone') });
    // It has written its file anew, with the text that was declined.
    expect(await runs(one)).toMatchObject({ said, detail: expect.stringContaining('declined') });
  });

  it('whose path leads out by now, or is no file, runs as it was accepted, and nothing out there is asked about', async () => {
    const one = await registered('echo as accepted');
    const file = join(await ownFolder(), 'site.sh');
    await unlink(file);
    const gone = { said: 'as accepted\n', detail: expect.stringContaining('file is gone') };
    expect(await runs(one)).toMatchObject(gone);
    await symlink(join(hands.relay().home, 'sealing.key'), file);
    expect(await runs(one)).toMatchObject(gone);
    await unlink(file);
    await mkdir(file);
    expect(await runs(one)).toMatchObject(gone);
    await rm(file, { recursive: true });
    expect(await hands.waiting()).toEqual([]);
  });

  it('treats saving on the page as the yes, and switching off and on as none', async () => {
    await hands.put('page.sh', 'echo saved');
    const script = {
      ...{ kind: 'script', agentId: 'a1', name: 'Mine', script: 'page.sh', on_failure: 'ignore' },
      timing: { kind: 'cron', cron: '0 3 1 1 *' },
    };
    const added = await hands.call('POST', '/v1/pulse-routines', script);
    expect(added.status, await added.clone().text()).toBe(201);
    const one = scheduledSchema.parse(await added.json());
    await hands.put('page.sh', 'echo changed');
    expect(await runs(one)).toMatchObject({ said: 'saved\n' });
    await only();
    for (const way of ['off', 'on'])
      expect((await hands.call('POST', `/v1/pulse-routines/${one.scheduleId}/toggle`)).status, way).toBe(200);
    expect(await runs(one)).toMatchObject({ said: 'saved\n' });
    // A copy of it runs what was accepted, too.
    const copied = await hands.call('POST', `/v1/pulse-routines/${one.scheduleId}/duplicate`);
    const copy = scheduledSchema.parse(await copied.json());
    await hands.call('POST', `/v1/pulse-routines/${copy.scheduleId}/toggle`);
    expect(await runs(copy)).toMatchObject({ said: 'saved\n' });
    await hands.call('DELETE', `/v1/pulse-routines/${copy.scheduleId}`);
    expect((await hands.call('PUT', `/v1/pulse-routines/${one.scheduleId}`, script)).status).toBe(200);
    expect(await hands.waiting()).toEqual([]);
    expect(await runs(one)).toMatchObject({ said: 'changed\n', detail: null });
  });

  it('whose question stands when it is taken away has none any more, and a late yes sets nothing', async () => {
    const one = await registered('echo as accepted');
    await hands.put('site.sh', 'echo another');
    await runs(one);
    const { callId } = await only();
    await hands.call('DELETE', `/v1/pulse-routines/${one.scheduleId}`);
    expect(await hands.waiting()).toEqual([]);
    const late = await hands.answer(callId, 'once');
    expect([late.status, problem.parse(await late.json()).detail]).toEqual([
      409,
      expect.stringContaining('no longer needs an answer'),
    ]);
  });

  it('reaches no host without one, and of the relay’s machine exactly what the person names on the card', async () => {
    const request = (host: string, at = port) =>
      `exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'GET http://${host}:${at}/${host} HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n' >&3 && cat <&3`;
    expect(await runs(await registered(`${request('127.0.0.1')}; true`))).toMatchObject({
      said: expect.not.stringContaining('up and well'),
    });
    // The card’s own field takes hosts by name, and no other writing of them.
    await hands.works(register({ hosts: ['example.org'] }));
    for (const host of ['*', '[::1]', 'a@localhost', 'http://localhost', '0x7f.1'])
      expect((await yes({ own_hosts: [host] })).status, host).toBe(400);
    expect((await yes({ own_hosts: [`localhost:${port}`] })).status).toBe(200);
    await expect.poll(async () => (await scheduled())[0]?.schedule).toMatchObject({ own_hosts: [`localhost:${port}`] });
    const [one] = await scheduled();
    if (!one) throw new Error('It is not there.');
    await hands.put(
      'site.sh',
      [request('localhost'), request('127.0.0.1'), request('localhost', hands.relay().port)].join('; '),
    );
    await hands.call('PUT', `/v1/pulse-routines/${one.scheduleId}`, { ...one.schedule, sha256: undefined });
    const { said } = await runs(one);
    expect(asked).toEqual(['/localhost']);
    expect(said).toContain(`127.0.0.1:${port} is not among the hosts`);
    expect(said).toContain(`localhost:${hands.relay().port} is not among the hosts`);
  });

  it("runs the guide's example: whether a site is up, by a host named on the card", async () => {
    const check = `curl --silent --fail --max-time 10 http://localhost:${port}/up | grep -q "up and well"`;
    const one = await registered(check, { on_failure: 'wake_agent' }, { own_hosts: [`localhost:${port}`] });
    expect(await runs(one)).toMatchObject({ state: 'done' });
    expect(asked).toEqual(['/up']);
    const requests = hands.model.requests.length;
    await new Promise((closed) => server.close(closed));
    expect(await runs(one)).toMatchObject({ state: 'failed' });
    const woken = () =>
      hands.model.requests
        .slice(requests)
        .map(({ first }) => first)
        .join('\n');
    await expect.poll(woken).toMatch(/[Ss]cript .*failed/);
    await new Promise<void>((listens) => server.listen(port, '127.0.0.1', listens));
  });

  it('waits for the end of its earlier run by default, and no more than one of it waits', async () => {
    const one = await registered('until [ -e go ]; do sleep 0.1; done; echo over');
    for (let n = 0; n < 4; n++)
      expect((await hands.call('POST', `/v1/pulse-routines/${one.scheduleId}/trigger`)).status).toBe(202);
    const states = async () => (await historyOf(one)).map(({ state, reason }) => `${state} ${reason ?? ''}`.trim());
    await expect.poll(states, { timeout: 20_000 }).toContain('skipped overlap');
    await hands.put('go', '');
    await expect
      .poll(async () => (await states()).filter((state) => state === 'done').length, { timeout: 30_000 })
      .toBe(2);
    await expect.poll(async () => (await historyOf(one)).every(({ endedAt }) => endedAt !== null)).toBe(true);
    expect((await states()).filter((state) => state === 'done')).toHaveLength(2);
  }, 60_000);
});

describe('Two relays on one Postgres', () => {
  it('ask once, at the same moment too, and only so many of one agent’s questions wait', async () => {
    const place = await createStorePlace('postgres');
    const stores = await Promise.all([place.open(), place.open()]);
    const home = randomUUID();
    const questions = stores.map(({ db }) => createQuestion({ db, home, rows: createCallRows({ db, home }) }));
    const call = (input: object, where: 'run' | 'relay' = 'run') => ({
      ...{ callId: randomUUID(), agentId: 'a1', sessionId: null, runId: null, place: where, tool: 'wake_script' },
      ...{ input, askedAt: 1 },
    });
    const ask = async (n: number, input: object, where?: 'run' | 'relay') =>
      await questions[n % 2]?.(call(input, where), JSON.stringify(input), { now: null, before: null });
    const same = await Promise.all(Array.from({ length: 12 }, (_, n) => ask(n, { name: 'Site' }, 'relay')));
    expect(new Set(same).size).toBe(1);
    const many = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n, { name: `Site ${n}` })));
    // What the relay asks by itself takes none of their room.
    expect(many.filter((callId) => callId !== null)).toHaveLength(20);
    for (const store of stores) await store.close();
    await place.remove();
  });
});
