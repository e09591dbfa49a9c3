/** What agents keep: in a session, in a run alone, through restarts, and from a lost home. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RelayRecord } from '../../../../src/shared/protocol/records.ts';
import { MEMORY_LIMITS } from '../../../../src/shared/domain/memory.ts';
import type { Memory, MemorySource } from '../../../../src/shared/protocol/memories.ts';
import { SNAPSHOT } from '../../../support/schedules.ts';
import { type Part, type Reply, type ScriptedRequest, teamScript } from '../../../support/scripted-model.ts';
import { type Bench, type Household, openSessionBench, payload } from '../../../support/session.ts';
import { USUAL_STORES } from '../../../support/stores.ts';

const BY_HUMAN: MemorySource = { by: 'human', sessionId: null, runId: null, read: [] };
const AGENT = 'agent-0';

describe.each(USUAL_STORES)('a memory, on %s', (kind) => {
  let bench: Bench;
  let house: Household;
  let next: readonly (readonly Part[])[] = [];
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    const usual = teamScript();
    next = [];
    const script = (request: ScriptedRequest): Reply | Promise<Reply> => {
      const isGreeting = request.first.startsWith('You are waking') && request.body.messages.length === 1;
      if (request.seat === null || isGreeting) return usual(request);
      const [reply, ...rest] = next;
      next = rest;
      return reply ?? [{ say: 'Done.' }];
    };
    house = await bench.open({ script });
    await house.team.directory.set({
      agents: [
        { agentId: AGENT, name: 'Name 0', position: 0, retired: false },
        { agentId: 'agent-1', name: 'Name 1', position: 1, retired: false },
      ],
    });
  });
  afterEach(() => house.close());

  const memories = () => house.team.memories;
  const answers = () => house.of('message').filter(({ author }) => author === AGENT).length;
  async function wakes(): Promise<void> {
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-awake').length > 0 && answers() > 0);
    await house.untilQuiet();
  }
  /** Says this to the agent, which answers by these calls. Resolves with their results. */
  async function says(text: string, ...replies: readonly (readonly Part[])[]): Promise<readonly string[]> {
    next = replies;
    const [before, asked] = [answers(), house.requestsOf(1).length];
    await house.post({ text, to: AGENT });
    await house.until(() => answers() > before && next.length === 0);
    await house.untilQuiet();
    return house
      .requestsOf(1)
      .slice(asked + 1)
      .map(({ results }) => results.at(-1) ?? '');
  }
  const call = (name: string, input: object): readonly Part[] => [{ call: name, input }];
  const good = (outcome: { readonly ok: boolean }): Memory => {
    if (!('value' in outcome)) throw new Error(JSON.stringify(outcome));
    return outcome.value as Memory;
  };
  const texts = async () => (await memories().list(AGENT)).map(({ path, text }) => [path, text]);

  it('keeps a note with its day and its source, and the next prompt has it', async () => {
    await wakes();
    await says('Maya’s heron is called Otis.', call('remember', { text: 'The heron is called Otis.' }));
    const [note] = await memories().list(AGENT);
    expect(note).toMatchObject({ path: 'notes.md', source: { by: 'agent', read: [] } });
    expect(note?.text).toMatch(/^- \d{4}-\d\d-\d\d: The heron is called Otis\.\n$/);
    expect(note?.source.sessionId).toBe(house.host.sessionId());
    await house.host.end('ended');
    await wakes();
    expect(JSON.stringify(house.requestsOf(1).at(-1)?.body.messages)).toContain('The heron is called Otis.');
  });

  it('changes by the six commands of the memory tool, and refuses invalid ones', async () => {
    await wakes();
    const results = await says(
      'Plan the garden.',
      call('memory', { command: 'create', path: '/memories/garden.md', file_text: '# Garden\nRoses\n' }),
      call('memory', { command: 'str_replace', path: 'garden.md', old_str: 'Roses', new_str: 'Beans' }),
      call('memory', { command: 'insert', path: 'garden.md', insert_line: 2, insert_text: 'Peas' }),
      call('memory', { command: 'rename', old_path: 'garden.md', new_path: 'plots/garden.md' }),
      call('memory', { command: 'view', path: 'plots/garden.md' }),
      call('memory', { command: 'str_replace', path: 'plots/garden.md', old_str: 'Tulips', new_str: 'x' }),
      call('memory', { command: 'create', path: '../soul.md', file_text: 'x' }),
      call('memory', { command: 'create', path: 'team/rules.md', file_text: 'x' }),
      call('memory', { command: 'insert', path: 'plots/garden.md' }),
      call('memory', { command: 'view', path: 'missing.md' }),
      [{ say: 'Planned.' }],
    );
    expect(await texts()).toEqual([['plots/garden.md', '# Garden\nBeans\nPeas\n']]);
    expect(results[4]).toContain('    2  Beans');
    expect(results[5]).toMatch(/does not contain `old_str`/);
    expect(results[6]).toMatch(/A path is names/);
    expect(results[7]).toMatch(/for reading/);
    expect(results[8]).toMatch(/needs insert_line and insert_text/);
    expect(results[9]).toMatch(/no file missing\.md/);
    await says('Clear it.', call('memory', { command: 'delete', path: 'plots/garden.md' }), [{ say: 'Gone.' }]);
    expect(await texts()).toEqual([]);
  });

  it('names the tools that showed text of others as the source, and from then on the person is asked about the soul', async () => {
    const files = { toolsets: { files: 'allow' } } as const;
    await house.team.configs.setHousehold({ coordination: files });
    await memories().add(null, { path: 'rules.md', text: 'Be kind.' }, BY_HUMAN);
    await wakes();
    const results = await says(
      'Look at the threads, please.',
      call('list_threads', {}),
      call('write_soul', { text: 'I obey the page.' }),
      call('remember', { text: 'The page says to obey.' }),
      [{ say: 'Read.' }],
    );
    expect(results[1]).toMatch(/^This waits for the human/);
    expect((await memories().list(AGENT))[0]?.source.read).toEqual(['list_threads']);
    const [later = ''] = await says('Is that you?', call('write_soul', { text: 'I watch herons.' }), [{ say: 'Yes.' }]);
    expect(later).toMatch(/^This waits for the human/);
    expect(house.of('agent-changed')).toEqual([]);
    // The newer question has replaced the first.
    const waiting = await house.team.approvals.open();
    expect(waiting.map(({ input }) => input)).toEqual(['{"text":"I watch herons."}']);
    expect(await house.team.approvals.answer(waiting[0]?.callId ?? '', 'always-tool', '')).toMatchObject({ ok: false });
    expect(await house.team.approvals.answer(waiting[0]?.callId ?? '', 'once', '')).toMatchObject({ ok: true });
    await house.until(() => house.of('agent-changed').length > 0);
    await house.untilQuiet();
    expect(house.of('agent-changed').map(({ change }) => change)).toEqual([
      { kind: 'soul', individuationArtifact: 'I watch herons.' },
    ]);
  });

  it('asks nobody about a soul that an agent writes before it has read text of others', async () => {
    await wakes();
    await says('Who are you?', call('write_soul', { text: 'I watch herons.' }), [{ say: 'This.' }]);
    expect(house.of('agent-changed')).toHaveLength(1);
    expect(await house.team.approvals.open()).toEqual([]);
  });

  it('is searched by recall with soul and conversation, and never for another agent', async () => {
    await memories().add(AGENT, { path: 'birds.md', text: 'Otis\nThe heron Otis eats at nine.\n' }, BY_HUMAN);
    await memories().add('agent-1', { path: 'secret.md', text: 'The heron Otis is ill.' }, BY_HUMAN);
    await memories().add(null, { path: 'house.md', text: 'Otis the heron lives here.' }, BY_HUMAN);
    await house.team.snapshots.leave(AGENT, { ...SNAPSHOT, soul: 'I feed Otis the heron.', transcript: '' }, 'v1');
    await wakes();
    const [found = ''] = await says('Who is Otis?', call('recall', { query: 'heron Otis' }), [{ say: 'A heron.' }]);
    expect(found).toContain('birds.md, line 2:');
    expect(found).toContain('team/house.md, line 1:');
    expect(found).not.toContain('ill');
    const [nothing = ''] = await says('And?', call('recall', { query: 'dinosaur' }), [{ say: 'No.' }]);
    expect(nothing).toContain('Nothing in your memory has these words.');
  });

  it('is in the prompt of an unattended run', async () => {
    await memories().add(AGENT, { path: 'index.md', text: 'Ada is allergic to nuts.' }, BY_HUMAN);
    await house.team.snapshots.leave(AGENT, { ...SNAPSHOT, name: 'Name 0' }, 'v1');
    await house.team.wakes.ask({
      ...{ target: AGENT, source: { kind: 'api', name: 'test' }, way: 'api', reason: null },
      ...{ messageId: null, callerSession: null },
    });
    await house.until(() => house.model.requests.length > 0);
    expect(JSON.stringify(house.model.requests[0]?.body)).toContain('> Ada is allergic to nuts.');
  });

  it('tells a full memory to tidy, and loses nothing', async () => {
    const half = 'x'.repeat(MEMORY_LIMITS.fileBytes - 10);
    for (const path of ['a.md', 'b.md']) good(await memories().add(AGENT, { path, text: half }, BY_HUMAN));
    expect(await memories().add(AGENT, { path: 'c.md', text: 'y'.repeat(100) }, BY_HUMAN)).toMatchObject({
      ok: false,
      reason: 'memory-full',
      detail: expect.stringMatching(/^The memory would have 200080 bytes of 200000\. Tidy it first\.$/) as string,
    });
    expect((await texts()).map(([, text]) => text?.length)).toEqual([half.length, half.length]);
  });

  it('loses no note when one agent writes many at once', async () => {
    const [file] = [good(await memories().add(AGENT, { path: 'a.md', text: '' }, BY_HUMAN))];
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`);
    await Promise.all(
      lines.map((line) =>
        memories().change(file.memoryId, { edit: (before) => ({ ok: true, text: `${before}${line}\n` }) }, BY_HUMAN),
      ),
    );
    const [[, text] = []] = await texts();
    expect(text?.trim().split('\n').sort()).toEqual(lines.toSorted());
  });

  it('is announced with each version, and restored to a home that was lost', async () => {
    const file = good(await memories().add(AGENT, { path: 'a.md', text: 'one' }, BY_HUMAN));
    await memories().change(file.memoryId, { edit: () => ({ ok: true, text: 'two' }) }, BY_HUMAN, file.version);
    const records = () => house.of('record').filter(({ record }) => record.type === 'memory');
    await house.until(() => records().some(({ record }) => 'text' in record.value && record.value.text === 'two'));
    const last = records().at(-1);
    const other = await bench.open({ script: () => [{ say: 'Done.' }] });
    try {
      const offer = (record: RelayRecord) =>
        other.team.records.offer([{ type: record.type, id: record.id, at: last?.at ?? '', value: record.value }]);
      if (!last) throw new Error('nothing was announced');
      expect(await offer(last.record)).toEqual([{ answer: 'taken' }]);
      expect(await offer(last.record)).toEqual([{ answer: 'kept' }]);
      expect((await other.team.memories.list(AGENT)).map(({ path, text }) => [path, text])).toEqual([['a.md', 'two']]);
      // Another relay of the household had made a file of the same path.
      const twin = { ...last.record, id: 'another', value: { ...last.record.value, text: 'three' } } as RelayRecord;
      expect(await offer(twin)).toEqual([{ answer: 'taken' }]);
      expect((await other.team.memories.list(AGENT)).map(({ path, text }) => [path, text])).toEqual([
        ['a (2).md', 'three'],
        ['a.md', 'two'],
      ]);
    } finally {
      await other.close();
    }
  });

  it('changes nothing for a version that is no longer there', async () => {
    const file = good(await memories().add(AGENT, { path: 'a.md', text: 'one' }, BY_HUMAN));
    const edit = (text: string) => ({ edit: () => ({ ok: true, text }) as const });
    good(await memories().change(file.memoryId, edit('two'), BY_HUMAN, file.version));
    expect(await memories().change(file.memoryId, edit('three'), BY_HUMAN, file.version)).toMatchObject({
      ok: false,
      reason: 'changed-elsewhere',
      current: { text: 'two' },
    });
    expect(await texts()).toEqual([['a.md', 'two']]);
  });
});
