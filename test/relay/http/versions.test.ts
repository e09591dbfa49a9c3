/** Records that are changed from two places at once, by HTTP, through a whole relay. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../support/open-relay.ts';

const versioned = z.looseObject({ version: z.number() });
type Versioned = z.infer<typeof versioned>;

const ROUTINE = {
  kind: 'routine',
  agentId: 'a1',
  name: 'Morning round',
  instructions: 'Look around.',
  timing: { kind: 'weekly', days: [1], time: '07:30' },
};
const PRICE = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };

interface Kind {
  readonly what: string;
  /** Makes one, and says where it is read and changed. */
  begin(): Promise<{
    readonly read: () => Promise<Versioned>;
    readonly path: string;
    readonly method?: 'POST';
    readonly same?: object;
  }>;
  /** Bodies of changes: of one page, and of another. */
  readonly one: object;
  readonly other: object;
}

describe('a record that two pages change', () => {
  let relay: OpenRelay;
  let page: Browser;
  let nth = 0;
  beforeAll(async () => {
    relay = await openTestRelay({ args: ['--rate', '100000', '--burst', '1000000'] });
    page = await relay.signIn();
    const agents = ['a1', 'a2', 'a3'].map((agentId, position) => ({
      agentId,
      name: agentId,
      position,
      retired: false,
    }));
    expect((await call('PUT', '/api/team', { agents })).ok).toBe(true);
  });
  afterAll(() => relay.close());

  const call = (method: string, path: string, json?: object) =>
    page.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  async function good(method: string, path: string, json?: object): Promise<Versioned> {
    const answer = await call(method, path, json);
    const text = await answer.text();
    expect(answer.ok, `${method} ${path}: ${answer.status} ${text}`).toBe(true);
    return versioned.parse(JSON.parse(text));
  }
  const at = (path: string) => ({ path, read: () => good('GET', path) });
  const listed = async (path: string, list: string, isIt: (one: Versioned) => boolean) => {
    const answer = z.record(z.string(), z.unknown()).parse(await (await call('GET', path)).json());
    const found = z.array(versioned).parse(answer[list]).find(isIt);
    if (!found) throw new Error(`It is not among ${list}.`);
    return found;
  };
  const idOf = (record: Versioned, name: string) => z.string().parse(record[name]);

  const KINDS: readonly Kind[] = [
    {
      what: 'the limits of the household',
      begin: () => Promise.resolve(at('/v1/config')),
      one: { coordination: { wakes_enabled: false } },
      other: { coordination: { wakes_enabled: true } },
    },
    {
      what: 'the limits of an agent',
      begin: () => Promise.resolve(at('/v1/agents/a1/config')),
      one: { coordination: { daily_budget_usd: 3 } },
      other: { coordination: { daily_budget_usd: 4 } },
    },
    {
      what: 'the table of prices',
      begin: () => Promise.resolve(at('/api/prices')),
      one: { prices: [{ model: 'one', ...PRICE }] },
      other: { prices: [{ model: 'other', ...PRICE }] },
    },
    {
      what: 'a routine',
      async begin() {
        const same = { ...ROUTINE, name: `Round ${++nth}` };
        const made = await good('POST', '/v1/pulse-routines', same);
        return { ...at(`/v1/pulse-routines/${idOf(made, 'scheduleId')}`), same };
      },
      one: { instructions: 'Look at the sea.' },
      other: { instructions: 'Look at the sky.' },
    },
    {
      what: 'a connected MCP server',
      async begin() {
        const attachment = { kind: 'address', url: 'http://127.0.0.1:9/mcp', headers: {} };
        const serverId = idOf(
          await good('POST', '/api/mcp-servers', { name: `server-${++nth}`, attachment }),
          'serverId',
        );
        return {
          path: `/api/mcp-servers/${serverId}`,
          read: () => listed('/api/mcp-servers', 'servers', (one) => one['serverId'] === serverId),
        };
      },
      one: { agents: ['a1'] },
      other: { agents: ['a2'] },
    },
    {
      what: 'a thread',
      async begin() {
        const threadId = idOf(await good('POST', '/api/threads', { title: 'Tides', participants: ['a1'] }), 'threadId');
        return {
          path: `/api/threads/${threadId}/participants`,
          method: 'POST',
          read: () => listed('/api/threads', 'threads', (one) => one['threadId'] === threadId),
        };
      },
      one: { agentId: 'a2' },
      other: { agentId: 'a3' },
    },
  ];

  it.each(KINDS)('refuses the later of two changes with the present record: $what', async ({ begin, one, other }) => {
    const { read, path, method = 'PUT', same } = await begin();
    const { version } = await read();
    const first = await good(method, path, { ...same, ...one, version });
    expect(first.version).toBeGreaterThan(version);
    const late = await call(method, path, { ...same, ...other, version });
    expect(late.status).toBe(409);
    const { type, current } = problemSchema.parse(await late.json());
    expect(type).toBe('about:roost/changed-elsewhere');
    const now = await read();
    expect(now.version).toBe(first.version);
    expect(current).toMatchObject({ version: now.version });
    expect({ ...current, ...now }).toEqual(current);
    // With the version of what it was told, the change is made.
    const second = await good(method, path, { ...same, ...other, version: now.version });
    expect(second.version).toBeGreaterThan(now.version);
    // A version that was never there is refused as well.
    expect((await call(method, path, { ...same, ...one, version: second.version + 100 })).status).toBe(409);
  });

  it.each(KINDS)('accepts one of several simultaneous changes: $what', async ({ begin, one, other }) => {
    const { read, path, method = 'PUT', same } = await begin();
    const { version } = await read();
    const answers = await Promise.all(
      [one, other, one, other].map((change) => call(method, path, { ...same, ...change, version })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  });

  it.each(KINDS)('overwrites a record by a change without a version: $what', async ({ begin, one, other }) => {
    const { read, path, method = 'PUT', same } = await begin();
    await good(method, path, { ...same, ...one });
    const { version } = await read();
    await good(method, path, { ...same, ...other });
    expect((await read()).version).toBeGreaterThan(version);
    expect((await call(method, path, { ...same, ...one, version: 'none' })).status).toBe(400);
  });

  it('keeps its version over a restart of the relay', async () => {
    const before = await good('PUT', '/v1/config', { coordination: { wakes_enabled: true } });
    await relay.restart();
    expect((await good('GET', '/v1/config')).version).toBe(before.version);
    expect((await call('PUT', '/v1/config', { version: before.version - 1 })).status).toBe(409);
  });
});
