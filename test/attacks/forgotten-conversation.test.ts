/**
 * A conversation is forgotten: its words are looked for in every row and file of the relay's home,
 * and then everything tries to bring them back.
 */
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../server/store/index.ts';
import { sourceHash } from '../../src/shared/domain/forgetting.ts';
import { lineId, linesOf } from '../../src/shared/domain/memory-lines.ts';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import { documentsOf } from '../../src/shared/protocol/intake.ts';
import type { FinalForget } from '../../src/shared/protocol/forgets.ts';
import { memoriesSchema } from '../../src/shared/protocol/memories.ts';
import { eventSchema } from '../../src/shared/protocol/events.ts';
import { isCovered } from '../../src/shared/protocol/documents/kinds.ts';
import { eventsOf } from '../support/homes.ts';
import { openScheduleRelay, type ScheduleRelay } from '../support/schedule-relay.ts';
import { searchFor } from '../support/planted-words.ts';
import { databaseOf } from '../support/relay.ts';
import { SNAPSHOT } from '../support/schedules.ts';
import { USUAL_STORES } from '../support/stores.ts';
import type { Reply } from '../support/scripted-model.ts';

const GONE = 'The otter files seven purple invoices';
const STAYS = 'A goat conducts the harbour orchestra';

describe.each(USUAL_STORES)('a forgotten conversation, on %s', (kind) => {
  let scheduleRelay: ScheduleRelay;
  let script: () => Reply = () => [{ say: 'Done.' }];
  beforeAll(async () => {
    scheduleRelay = await openScheduleRelay(['a1', 'a2'], () => script(), { store: kind });
  });
  afterAll(() => scheduleRelay.close());
  const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);

  async function placesOf(words: string): Promise<readonly string[]> {
    const search = searchFor([words]);
    const { home } = scheduleRelay.relay;
    const copy = await mkdtemp(join(tmpdir(), 'roost-forgotten-'));
    const databaseUrl = databaseOf(home) ?? null;
    if (databaseUrl === null) await cp(join(home, 'store'), join(copy, 'store'), { recursive: true });
    const store = await openStore({ folder: join(copy, 'store'), databaseUrl });
    try {
      const found = [...(await search.inDatabase(store.db)), ...(await search.inFolder(home))];
      return found.map(({ where, form }) => `${where} (${form})`);
    } finally {
      await store.close();
      await rm(copy, { recursive: true, force: true });
    }
  }
  const notesOf = async (agentId: string) =>
    memoriesSchema.parse(await good('GET', `/api/memories?agentId=${agentId}`)).memories;
  const forgetNow = (agentId: string): FinalForget => ({
    forgetId: `forget:${randomUUID()}`,
    at: formatStamp({ time: Date.now(), counter: 999_999, node: 'page' }),
    target: { kind: 'conversation', agentId },
  });

  it("leaves no word at the relay or in the agent's notes, and keeps others' words", async () => {
    await good('PUT', '/api/agent-snapshots/a1', { version: 'v2', snapshot: { ...SNAPSHOT, transcript: GONE } });
    await scheduleRelay.tool('a1', 'remember', { text: GONE });
    await scheduleRelay.tool('a2', 'remember', { text: STAYS });
    const timing = { kind: 'weekly', days: [1], time: '07:30' };
    const routine = { kind: 'routine', agentId: 'a1', name: 'Routine', instructions: 'Work.', timing };
    const { scheduleId } = (await good('POST', '/v1/pulse-routines', routine)) as { scheduleId: string };
    script = () => [{ say: GONE }];
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await expect.poll(async () => JSON.stringify(await scheduleRelay.history('a1'))).toContain(GONE);
    script = () => [{ say: 'Done.' }];
    const lead = { name: 'Sol', soul: 'I am.', transcript: null };
    await good('POST', '/api/sessions', { human: { name: 'Noa' }, lead });
    await good('POST', '/api/messages', { to: 'a1', text: GONE, clientId: 'c1' });
    await good('POST', '/api/messages', { to: 'a2', text: STAYS, clientId: 'c2' });
    await good('DELETE', '/api/sessions/current');
    // The person rewords what the agent noted, and adds a line.
    const edits = [(text: string) => text.replace('seven', 'seven and more'), (text: string) => `${text}Mine.\n`];
    for (const edit of edits) {
      const [note] = await notesOf('a1');
      const body = { text: edit(note?.text ?? ''), version: note?.version };
      await good('PUT', `/api/memories/${note?.memoryId ?? ''}`, body);
    }
    const before = (await placesOf(GONE.slice(0, 16))).join('\n');
    for (const table of ['inbox', 'memories', 'events', 'occurrences', 'tool_calls'])
      expect(before, table).toContain(`roost.${table},`);
    const events = (await eventsOf(scheduleRelay.browser)).map((message) => JSON.stringify(message));
    expect(events.join()).toContain(GONE);

    const forget = forgetNow('a1');
    await good('POST', '/api/forgets', { forgets: [forget] });
    expect(await placesOf(GONE.slice(0, 16))).toEqual([]);
    expect((await notesOf('a1')).map((file) => file.text)).toEqual(['Mine.\n']);
    expect((await notesOf('a2'))[0]?.text).toContain(STAYS);
    expect(await placesOf(STAYS)).not.toEqual([]);
    expect(await good('GET', '/api/forgets')).toEqual({ forgetIds: [forget.forgetId] });
  });

  it('keeps a forgotten conversation out of an earlier memory version that a page restores', async () => {
    await scheduleRelay.tool('a1', 'remember', { text: GONE });
    const [file] = await notesOf('a1');
    if (!file) throw new Error('nothing was noted');
    await good('PUT', `/api/memories/${file.memoryId}`, { text: `${file.text}Mine.\n`, version: file.version });
    const { memoryId, version, ...value } = (await notesOf('a1'))[0] ?? file;
    expect(version).toBeGreaterThan(0);
    await good('POST', '/api/forgets', { forgets: [forgetNow('a1')] });
    const at = formatStamp({ time: Date.now() + 1_000, counter: 0, node: 'relay' });
    const record = { type: 'memory', id: memoryId, at, value: { ...value, removed: false } };
    await good('POST', '/api/records', { records: [record] });
    expect((await notesOf('a1')).map(({ text }) => text).join()).toContain('Mine.');
    expect(await placesOf(GONE)).toEqual([]);
  });

  it('keeps a forgotten conversation out of a snapshot of a page that has not heard of it', async () => {
    const forget = forgetNow('a1');
    await good('POST', '/api/forgets', { forgets: [forget] });
    const { forgetIds } = (await good('GET', '/api/forgets')) as { forgetIds: string[] };
    const body = { version: 'v9', snapshot: { ...SNAPSHOT, transcript: GONE } };
    const old = await scheduleRelay.ask('PUT', '/api/agent-snapshots/a1', { ...body, forgets: forgetIds.slice(1) });
    expect(old).toMatchObject({ status: 409, body: { type: 'about:roost/older-snapshot' } });
    expect((await scheduleRelay.ask('PUT', '/api/agent-snapshots/a1', { ...body, forgets: forgetIds })).status).toBe(
      204,
    );
  });

  it('finds a kept sentence in rows, snapshots and files, and no forgotten one', async () => {
    const words = 'The newt signs eleven maps';
    await scheduleRelay.tool('a2', 'remember', { text: `${words} "today"` });
    const { forgetIds } = (await good('GET', '/api/forgets')) as { forgetIds: string[] };
    const snapshot = { ...SNAPSHOT, transcript: words.toUpperCase() };
    await good('PUT', '/api/agent-snapshots/a2', { version: 'v9', snapshot, forgets: forgetIds });
    const headers = { 'content-type': 'application/octet-stream' };
    await scheduleRelay.raw('PUT', '/api/workspaces/a2/file?path=maps.md', { body: words, headers });
    const found = async () => {
      const { places } = (await good('POST', '/api/sentences', { text: words })) as { places: { kind: string }[] };
      return places.map((place) => ('table' in place ? String(place.table) : place.kind)).sort();
    };
    expect(await found()).toEqual(['events', 'file', 'memories', 'snapshot', 'tool_calls']);
    await good('POST', '/api/forgets', { forgets: [forgetNow('a2')] });
    expect(await found()).toEqual(['file']);
  });

  it('forgets line by line and row by row what mentions a name, for good', async () => {
    const words = 'Bartholomew of Quince Lane';
    await scheduleRelay.tool('a2', 'remember', { text: `${words} likes tea.` });
    await scheduleRelay.tool('a2', 'remember', { text: 'The kettle is blue.' });
    const [file] = await notesOf('a2');
    if (!file) throw new Error('nothing was noted');
    const before = (await good('POST', '/api/sentences', { text: words })) as { ids: string[]; places: unknown[] };
    expect(before.ids).toEqual([expect.stringMatching(/^call:/)]);
    const lines = linesOf(file).filter(({ text }) => text.includes(words));
    const ids = [...before.ids, ...lines.map((line) => lineId(file.memoryId, line))];
    const at = formatStamp({ time: Date.now(), counter: 999_999, node: 'page' });
    const target = { kind: 'items', what: 'words', agentId: null, sources: ids.map(sourceHash) } as const;
    const forget = { forgetId: `forget:${randomUUID()}`, at, target };
    await good('POST', '/api/forgets', { forgets: [forget] });
    const texts = async () => (await notesOf('a2')).map(({ text }) => text).join('');
    expect(await texts()).toContain('The kettle is blue.');
    expect(await placesOf(words)).toEqual([]);
    // A page gives the earlier version back.
    const { memoryId, version, ...value } = file;
    expect(version).toBeGreaterThan(0);
    const later = formatStamp({ time: Date.now() + 1_000, counter: 0, node: 'relay' });
    const record = { type: 'memory', id: memoryId, at: later, value: { ...value, removed: false } };
    await good('POST', '/api/records', { records: [record] });
    expect(await texts()).toContain('The kettle is blue.');
    expect(await placesOf(words)).toEqual([]);
    const doc = { _id: `memory:${memoryId}:${later}`, type: 'memory', at: later, recordId: memoryId, value };
    expect(isCovered(doc, forget)).toBe(true);
  });

  it('leaves no event from which a browser would store it', async () => {
    await scheduleRelay.tool('a2', 'remember', { text: GONE });
    const forget = forgetNow('a2');
    await good('POST', '/api/forgets', { forgets: [forget] });
    const left = (await eventsOf(scheduleRelay.browser)).flatMap(({ data, id }) => {
      const event = eventSchema.safeParse(data);
      return event.success ? documentsOf({ id: Number(id), event: event.data }) : [];
    });
    expect(left.filter((doc) => isCovered(doc, forget))).toEqual([]);
    // Also after what only the next start would write.
    await scheduleRelay.restart();
    expect(await placesOf(GONE.slice(0, 16))).toEqual([]);
  });
});
