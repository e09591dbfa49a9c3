import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SleepEvent, WakeEvent } from '../../../../src/shared/domain/guardrails.ts';
import { PERSON } from '../../../../src/shared/domain/threads.ts';
import { teamScript, type Reply, type ScriptedRequest } from '../../../support/scripted-model.ts';
import { openSessionBench, payload, type Bench, type Household } from '../../../support/session.ts';
import { good } from '../../../support/threads.ts';

const LYRA = payload(0, { name: 'Lyra' });
const SAGE = payload(1, { name: 'Sage' });
const SAGES_SEAT = 2;

describe('threads in a session', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  /** Lyra and Sage are awake and quiet; Sage's lists are these. */
  async function withTeam(
    sageDoes: (request: ScriptedRequest) => Reply | null = () => null,
    lists: { sleep?: SleepEvent[]; wake?: WakeEvent[] } = {},
  ): Promise<Household> {
    const usual = teamScript();
    const house = await bench.open({
      script: (request) =>
        request.seat === SAGES_SEAT && request.body.messages.length > 1
          ? (sageDoes(request) ?? usual(request))
          : usual(request),
    });
    const { team } = house;
    await team.directory.set({
      agents: [LYRA, SAGE].map(({ id, name, position }) => ({ agentId: id, name, position, retired: false })),
    });
    // Two happenings in one test are two wakes.
    await team.configs.setAgent(SAGE.id, {
      coordination: {
        sleep_events: lists.sleep ?? [],
        wake_events: lists.wake ?? [],
        wake_guardrails: { cooldown_seconds: 0 },
      },
    });
    await house.start();
    await house.wake([LYRA, SAGE]);
    await house.until(() => house.of('agent-awake').length === 2);
    await house.untilQuiet();
    return house;
  }
  const putToSleep = (house: Household) =>
    house.team.pauses.set(house.team.host.sessionId() ?? '', SAGE.id, true, 'human');
  const open = async (house: Household, by = LYRA.id) =>
    good(await house.team.threads.create(by, { title: 'Tides', participantRefs: ['Sage'] })).thread.threadId;
  const heard = (house: Household, words: string) =>
    house.requestsOf(SAGES_SEAT).filter(({ last }) => last.includes(words)).length;
  const flags = (house: Household) => house.of('pause-flag').map(({ paused, by }) => `${paused} ${by}`);

  it('wake a sleeping agent that is put into a new one, where its list says so, and tell it', async () => {
    const house = await withTeam(() => null, { wake: ['added_to_any_thread'] });
    await putToSleep(house);
    await open(house);
    await house.until(() => heard(house, 'You were added to the thread “Tides”') === 1);
    expect(house.team.pauses.isPaused(SAGE.id)).toBe(false);
    expect(flags(house)).toEqual(['true human', `false ${LYRA.id}`]);
  });

  it('let an agent sleep whose list does not say so; what it is told waits', async () => {
    const house = await withTeam(() => null, { wake: ['mentioned'] });
    await putToSleep(house);
    const threadId = await open(house);
    expect(house.team.pauses.isPaused(SAGE.id)).toBe(true);
    expect(await house.inbox.waiting(SAGE.id)).toMatchObject([{ from: LYRA.id, threadId }]);
    const { notes } = good(
      await house.team.threads.send(LYRA.id, threadId, {
        text: 'When is high water?',
        mentionRefs: ['Sage'],
        clientId: null,
      }),
    );
    expect(notes).toEqual([expect.stringContaining('Granted: Sage')]);
    await house.until(() => heard(house, 'When is high water?') === 1);
    expect(heard(house, 'You were added')).toBe(1);
    await house.untilQuiet();
    expect(await house.inbox.waiting(SAGE.id)).toEqual([]);
  });

  it('wake for the first thread of the session only, where that is what the list says', async () => {
    const house = await withTeam(() => null, { wake: ['added_to_thread_first_time'] });
    await putToSleep(house);
    const threadId = await open(house);
    await house.until(() => !house.team.pauses.isPaused(SAGE.id));
    await house.untilQuiet();
    await putToSleep(house);
    good(await house.team.threads.remove(LYRA.id, threadId, 'Sage'));
    good(await house.team.threads.add(LYRA.id, threadId, 'Sage'));
    await open(house);
    expect(house.team.pauses.isPaused(SAGE.id)).toBe(true);
    // Another session has a first thread of its own, whatever was before it.
    await house.team.host.end('ended');
    await house.start();
    await house.wake([LYRA, SAGE]);
    await house.until(() => house.of('agent-awake').length === 4);
    await house.untilQuiet();
    await putToSleep(house);
    good(await house.team.threads.remove(LYRA.id, threadId, 'Sage'));
    good(await house.team.threads.add(LYRA.id, threadId, 'Sage'));
    await house.until(() => !house.team.pauses.isPaused(SAGE.id));
    await house.untilQuiet();
  });

  it('put an agent to sleep that has no open one any more, by the list that it has', async () => {
    const removed = await withTeam(() => null, { sleep: ['removed_from_last_thread'] });
    good(await removed.team.threads.close(LYRA.id, await open(removed), ''));
    expect(removed.team.pauses.isPaused(SAGE.id)).toBe(false);
    good(await removed.team.threads.remove(LYRA.id, await open(removed), 'Sage'));
    expect(flags(removed)).toEqual(['true removed_from_last_thread']);

    const closed = await withTeam(() => null, { sleep: ['last_thread_closed'] });
    const [first, second] = [await open(closed), await open(closed)];
    good(await closed.team.threads.close(LYRA.id, first, ''));
    expect(closed.team.pauses.isPaused(SAGE.id)).toBe(false);
    good(await closed.team.threads.close(LYRA.id, second, ''));
    expect(flags(closed)).toEqual(['true last_thread_closed']);
    await closed.untilQuiet();
  });

  it('bring what the person says in one before the agent that is mentioned, and into its conversation', async () => {
    const house = await withTeam();
    const threadId = await open(house, PERSON);
    good(
      await house.team.threads.send(PERSON, threadId, {
        text: 'Sage, read the log.',
        mentionRefs: ['Sage'],
        clientId: 'c',
      }),
    );
    await house.until(() => heard(house, 'Sage, read the log.') === 1);
    await house.untilQuiet();
    const [request] = house.requestsOf(SAGES_SEAT).filter(({ last }) => last.includes('Sage, read the log.'));
    expect(request?.last).toContain(
      `[Message from the relay, in thread ${threadId}, high]\n> The human mentions you in the thread “Tides”`,
    );
    const written = house
      .of('message')
      .filter(
        (message) =>
          message.agentId === SAGE.id &&
          message.blocks.some((block) => block.kind === 'text' && block.text.includes('Sage, read the log.')),
      );
    expect(written).toMatchObject([{ author: 'relay', role: 'user', waiting: false }, { author: SAGE.id }]);
    expect(house.of('message-read')).toEqual([]);
  });

  it('does not repeat a mention that the agent has read in the thread itself', async () => {
    const house = await withTeam(({ last, results }) =>
      results.length > 0
        ? [{ say: 'Read.' }]
        : last.endsWith('wait')
          ? [{ call: 'wait_for_mention', input: {} }]
          : null,
    );
    const threadId = await open(house);
    await house.post({ text: 'wait', to: SAGE.id });
    await house.until(() =>
      house.of('tool').some(({ block }) => block.kind === 'tool' && block.name === 'wait_for_mention'),
    );
    const { notes } = good(
      await house.team.threads.send(LYRA.id, threadId, {
        text: 'High water at six.',
        mentionRefs: ['Sage'],
        clientId: null,
      }),
    );
    expect(notes).toEqual([expect.stringContaining('Deferred')]);
    await house.until(() =>
      house
        .of('message')
        .some(
          ({ author, blocks }) =>
            author === SAGE.id &&
            blocks.some((block) => block.kind === 'tool' && block.result?.includes('High water at six.') === true),
        ),
    );
    await house.untilQuiet();
    await house.post({ text: 'and now?', to: SAGE.id });
    await house.until(() => heard(house, 'and now?') === 1);
    await house.untilQuiet();
    expect(heard(house, 'High water at six.'), 'only as what the tool gave').toBe(0);
    expect((await house.inbox.list(SAGE.id, { before: null, limit: 1 })).messages).toMatchObject([
      { threadId, read: { run: expect.any(String) } },
    ]);
  });
});
