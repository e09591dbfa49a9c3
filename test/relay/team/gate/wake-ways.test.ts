import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WAKE_WAYS, type WakeWay } from '../../../../src/shared/domain/guardrails.ts';
import type { WakeSource } from '../../../../src/shared/protocol/wakes.ts';
import { createGate, openSessionBench, payload, type Bench, type Household } from '../../../support/session.ts';
import { teamScript, type Script } from '../../../support/scripted-model.ts';

const LYRA = payload(0, { name: 'Lyra' });
const SAGE = payload(1, { name: 'Sage' });
const byLyra = { agentId: LYRA.id, sessionId: null };
const SERVER = new URL('../../../../server/', import.meta.url);

const ask = (house: Household, way: WakeWay, source: WakeSource) =>
  house.team.wakes.ask({ target: SAGE.id, source, way, reason: null, messageId: null, callerSession: null });

/** Each way as it is really gone, where this relay goes it. Who adds a way says here how. */
const ROADS: Readonly<Record<WakeWay, (house: Household) => Promise<unknown>>> = {
  answer: (house) => ask(house, 'answer', { kind: 'person' }),
  person: (house) => ask(house, 'person', { kind: 'person' }),
  wake_agent: (house) => house.team.wakes.wake(byLyra, { to: 'Sage', text: 'now', reason: 'blocker' }),
  urgent_message: (house) => house.team.wakes.message(byLyra, { to: 'Sage', text: 'soon', priority: 'high' }),
  async thread_mention(house) {
    const thread = await house.team.threads.create(LYRA.id, { title: 'A thread', participantRefs: ['Sage'] });
    if (!thread.ok) throw new Error(thread.detail);
    await house.team.threads.send(LYRA.id, thread.thread.threadId, {
      text: 'look, Sage',
      mentionRefs: ['Sage'],
      clientId: null,
    });
  },
  async thread_added(house) {
    await house.team.configs.setAgent(SAGE.id, { coordination: { wake_events: ['added_to_any_thread'] } });
    await house.team.pauses.set(house.team.host.sessionId() ?? '', SAGE.id, true, 'human');
    await house.team.threads.create(LYRA.id, { title: 'Another', participantRefs: ['Sage'] });
  },
  async deferred(house) {
    const gate = createGate();
    house.model.follow(({ last }) =>
      last === 'think' ? [{ say: 'Hm.' }, { until: gate.passed }] : [{ say: 'Done.' }],
    );
    await house.team.configs.setHousehold({ coordination: {} });
    await house.post({ text: 'think', to: SAGE.id });
    await house.until(() => house.team.host.stateOf(SAGE.id) === 'busy' && house.requestsOf(2).length > 1);
    await house.team.wakes.message(byLyra, { to: 'Sage', text: 'when you are done', priority: 'urgent' });
    await house.team.configs.setHousehold({ coordination: {}, wakes_enabled: false });
    gate.open();
  },
  schedule: (house) => ask(house, 'schedule', { kind: 'schedule', name: 'morning' }),
  reminder: (house) => ask(house, 'reminder', { kind: 'schedule', name: 'tea' }),
  script_failure: (house) => ask(house, 'script_failure', { kind: 'script', name: 'tests' }),
  api: (house) => ask(house, 'api', { kind: 'api', name: 'a tool' }),
};

describe('every way to ask for a wake', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it.each(WAKE_WAYS)('checks at the gate: %s', async (way) => {
    const script: Script = teamScript();
    const house = await bench.open({ script });
    await house.team.directory.set({
      agents: [LYRA, SAGE].map(({ id, name, position }) => ({ agentId: id, name, position, retired: false })),
    });
    await house.start();
    await house.wake([LYRA, SAGE]);
    await house.until(() => house.of('agent-awake').length === 2);
    await house.untilQuiet();
    await house.team.configs.setHousehold({ coordination: {}, wakes_enabled: false });
    const before = house.requestsOf(2).length;
    await ROADS[way](house);
    const rows = async () =>
      (await house.team.gate.feed({ before: null, limit: 50, agentId: SAGE.id })).wakes.filter(
        (wake) => wake.way === way,
      );
    const { decision: probe } = await ask(house, 'api', { kind: 'api', name: 'probe' });
    expect(probe).toMatchObject({ outcome: 'suppressed', check: 'disabled' });
    let found = await rows();
    for (let tries = 0; found.length === 0 && tries < 200; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      found = await rows();
    }
    await house.untilQuiet();
    // The person is never refused; everybody else is, by the switch, and no mind was asked for
    // them.
    expect(found[0]).toMatchObject(
      way === 'person' || way === 'answer' ? { outcome: 'granted' } : { outcome: 'suppressed', check: 'disabled' },
    );
    expect(house.requestsOf(2).length).toBe(way === 'deferred' ? before + 1 : before);
  });

  it('comes to the gate in one place, and nothing else wakes anybody', () => {
    const files = readdirSync(SERVER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const using = (what: RegExp) =>
      files.filter((file) => what.test(readFileSync(new URL(file, SERVER), 'utf8'))).toSorted();
    expect(using(/gate\.ask\(/)).toEqual(['agents/wakes/ask.ts']);
    // What the person has answered is told in a turn for which the gate gave a permit.
    expect(using(/host\.rouse\(/)).toEqual(['agents/wakes/ask.ts', 'approvals/requests/notify-agent.ts']);
    expect(using(/pauses\.set\(\s*[^)]*?,\s*false\b/)).toEqual(['agents/wakes/ask.ts']);
  });
});
