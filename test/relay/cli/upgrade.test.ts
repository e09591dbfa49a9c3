/** `roost upgrade --rehearse`: what agents remember is there after the migration. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { upgradeExam } from '../../../server/cli/upgrade-exam.ts';
import { examsSchema } from '../../../src/shared/protocol/exams.ts';
import { createHome, runRelayCommand, startRelay } from '../../support/relay.ts';
import { SNAPSHOT } from '../../support/schedules.ts';
import type { SignIn } from '../../support/sign-in.ts';
import { longTests } from '../../support/long-tests.ts';

const itLong = longTests('relay/cli/upgrade.test.ts');

vi.setConfig({ testTimeout: 60_000 });

describe('a rehearsal of an upgrade', () => {
  let home: string;
  let signIn: SignIn;
  beforeAll(async () => {
    home = await createHome({ store: 'sqlite' });
    const relay = await startRelay({ home });
    const agents = [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }];
    const put = async (path: string, json: object) =>
      expect((await relay.fetch(path, { method: 'PUT', json })).status).toBe(204);
    await put('/api/team', { agents });
    const soul = 'I am Lyra, and I keep the door of the house by the lake.';
    await put('/api/agent-snapshots/a1', { version: 'v1', snapshot: { ...SNAPSHOT, soul } });
    signIn = await relay.signIn();
    await relay.stop();
  });
  afterAll(() => rm(home, { recursive: true }));

  it('asks what agents remember, and says that all was answered as before', async () => {
    const { code, stdout } = await runRelayCommand(['upgrade', '--rehearse', '--home', home]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[1-9]\d* questions about what 1 of its agents remember were answered as before\.$/m);
  });

  itLong('leaves a certificate with each agent once the home is upgraded, and one for each version', async () => {
    for (let i = 0; i < 2; i += 1)
      expect(await runRelayCommand(['upgrade', '--home', home])).toMatchObject({ code: 0 });
    const relay = await startRelay({ home, signIn });
    const { exams } = examsSchema.parse(await (await relay.fetch('/api/exams?agentId=a1')).json());
    await relay.stop();
    expect(exams).toMatchObject([{ cause: 'upgrade', state: 'kept', before: '', costMicroUsd: 0, tokens: null }]);
    expect(exams[0]?.after).toMatch(/^\d+\.\d+/);
    const answers = exams[0]?.items.map(({ before, after }) => [before.text, after.text, after.isRight]);
    expect(answers?.[0]).toEqual(['door of the house by the lake.', 'door of the house by the lake.', true]);
  });
});

describe('the exam of an upgrade', () => {
  const LYRA = {
    ...{ home: 'h', agentId: 'a1' },
    name: 'Lyra',
    soul: 'I am Lyra, and I keep the door of the house by the lake.',
    memory: '- Ada’s birthday is on the third of May.\n- The boat is called Heron, and it leaks at the stern.',
    conversation: 'Ada (2026-11-21 08:52 UTC):\nPlease remind me on Friday to call the harbour office.',
  };

  it('finds nothing lost where everything is as it was', () => {
    expect(upgradeExam(new Map([['h a1', LYRA]]), new Map([['h a1', LYRA]]))).toMatchObject({ agents: 1, lost: [] });
  });

  it('finds nothing lost where two lines begin alike', () => {
    const memory = '- We met on Friday and talked about the harbour.\n- We met on Friday and talked about the lake.';
    const twice = new Map([['h a1', { ...LYRA, memory }]]);
    expect(upgradeExam(twice, twice).lost).toEqual([]);
  });

  it.each([
    ['a changed line', new Map([['h a1', { ...LYRA, memory: LYRA.memory.replace('Heron', 'Swan') }]]), 1],
    ['an empty soul', new Map([['h a1', { ...LYRA, soul: '' }]]), 1],
    ['an agent that is gone', new Map(), 4],
  ])('names who lost what with %s', (_what, after, count) => {
    expect(upgradeExam(new Map([['h a1', LYRA]]), after).lost).toEqual([{ name: 'Lyra', count }]);
  });
});
