/** The note before sleep: when an agent is asked for one, what bounds it, and a kill in it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Reply, type ScriptedRequest, teamScript } from '../../../support/scripted-model.ts';
import { type Bench, createGate, type Household, openSessionBench, payload } from '../../../support/session.ts';

const AGENT = 'agent-0';
const LEAST = 6;
const isNote = ({ last }: ScriptedRequest) => last.includes('This conversation is about to end');

describe('a note before sleep', () => {
  let bench: Bench;
  let house: Household;
  let noting: () => Reply | Promise<Reply>;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    const usual = teamScript();
    noting = () => [{ call: 'remember', input: { text: 'Ada moved to Paris.' } }];
    house = await bench.open({
      script(request) {
        if (isNote(request)) return noting();
        return request.results.some((result) => result.includes('Noted in')) ? [{ say: 'Noted.' }] : usual(request);
      },
    });
    await house.team.directory.set({ agents: [{ agentId: AGENT, name: 'Name 0', position: 0, retired: false }] });
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-awake').length > 0);
    await house.untilQuiet();
  });
  afterEach(() => house.close());

  const notes = async () => (await house.team.memories.list(AGENT)).map(({ text }) => text).join('');
  const asked = () => house.model.requests.filter(isNote);
  async function talks(messages: number): Promise<void> {
    for (let i = 0; i < messages; i++) await says(`Sentence ${i}.`);
  }
  const answers = () => house.of('message').filter(({ author }) => author === AGENT).length;
  async function says(text: string): Promise<void> {
    const before = answers();
    await house.post({ text, to: AGENT });
    await house.until(() => answers() > before);
    await house.untilQuiet();
  }
  const ended = () => house.of('session-ended').map(({ reason }) => reason);

  it('is written before the session ends, by an agent with enough new messages', async () => {
    await talks(LEAST);
    await house.host.end('ended');
    expect(await notes()).toContain('Ada moved to Paris.');
    // The lead was told less.
    expect(asked()).toHaveLength(1);
    expect(ended()).toEqual(['ended']);
    const [file] = await house.team.memories.list(AGENT);
    expect(file?.source).toMatchObject({ by: 'agent', sessionId: house.of('session-ended')[0]?.sessionId });
  });

  it('is written when a single agent is put to sleep', async () => {
    await talks(LEAST);
    await house.host.sleep(AGENT);
    expect(await notes()).toContain('Ada moved to Paris.');
    expect(house.of('agent-asleep')).toHaveLength(1);
  });

  it('is not requested after fewer messages, when it is off, or when the relay stops', async () => {
    await talks(LEAST - 1);
    await house.host.sleep(AGENT);
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-awake').length > 1);
    await house.untilQuiet();
    await talks(LEAST);
    await house.team.configs.setAgent(AGENT, { coordination: { note_before_sleep: false } });
    await house.host.sleep(AGENT);
    await house.team.configs.setAgent(AGENT, { coordination: {} });
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-awake').length > 2);
    await house.untilQuiet();
    await talks(LEAST);
    await house.host.end('shutdown');
    expect(asked()).toEqual([]);
  });

  it('is not requested when it may cost more than allowed, and says so', async () => {
    await house.team.configs.setAgent(AGENT, { coordination: { note_cents: 1 } });
    await talks(LEAST);
    await says('x'.repeat(20_000));
    await house.host.end('ended');
    expect(asked()).toEqual([]);
    expect(house.of('message').at(-1)).toMatchObject({ error: expect.stringContaining('It may cost up to') as string });
    expect(ended()).toEqual(['ended']);
  });

  it('delays the end of the session for 20 seconds at most', async () => {
    await talks(LEAST);
    noting = () => 'silent';
    const end = house.host.end('ended');
    await house.until(() => asked().length === 1);
    expect(ended()).toEqual([]);
    house.hurry(19_000);
    expect(ended()).toEqual([]);
    house.hurry(1_000);
    await end;
    expect(ended()).toEqual(['ended']);
    expect(await notes()).toBe('');
  });

  it('leaves nothing half written when the relay is killed in it, and the session ends', async () => {
    await talks(LEAST);
    const gate = createGate();
    noting = async () => {
      await gate.passed;
      return [{ call: 'remember', input: { text: 'Half.' } }];
    };
    void house.host.end('ended');
    await house.until(() => asked().length === 1);
    await house.restart();
    gate.open();
    expect(ended()).toEqual(['crash']);
    expect(house.host.sessionId()).toBeNull();
    expect(house.log.snapshot().answering).toEqual([]);
    expect(await notes()).not.toContain('Half.');
  });
});
