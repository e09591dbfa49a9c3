/**
 * A wake that was granted, and whose relay ends before its run begins: through relays that die at a
 * statement, on one store.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openScheduleHouse, STATEMENTS, type ScheduleHouse } from '../../../faults/schedules.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAKE_SETTINGS } from '../../../../server/agents/wakes/settings.ts';
import type { Store } from '../../../../server/store/index.ts';
import { createStorePlace, type StorePlace } from '../../../support/stores.ts';

const [ASKS, WOKEN] = ['agent-0', 'agent-1'];
const SAYS = 'The well is dry.';
/**
 * Until the relay that comes after asks again: it leaves the others of its store time to say that
 * they live.
 */
const PATIENT = { timeout: 20_000 };
const TAKEN_UP_MS = WAKE_SETTINGS.takenUpMs + 1_000;

describe('a granted wake', () => {
  let place: StorePlace;
  let store: Store;
  beforeAll(async () => {
    place = await createStorePlace();
    store = await place.open();
  });
  afterAll(async () => {
    await store.close();
    await place.remove();
  });

  let house: ScheduleHouse;
  beforeEach(async () => {
    house = await openScheduleHouse({ start: Date.UTC(2027, 5, 1, 12), agents: 2, shared: store });
  });
  afterEach(() => house.close());
  const team = () => house.relay().team;
  /** Requests that bring the message. The news of the yes quotes it too, inside the call's JSON. */
  const woken = () => house.model.requests.filter(({ last }) => last.includes(`> ${SAYS}`));
  const wake = () =>
    team().wakes.wake({ agentId: ASKS, sessionId: null }, { to: WOKEN, text: SAYS, reason: 'blocker' });
  /** The agent asks, and the person says yes. */
  async function askAndAgree(): Promise<void> {
    await team().configs.setAgent(ASKS, { coordination: { tools: { wake_agent: 'ask' } } });
    const tool = team().tools.find(({ name }) => name === 'wake_agent');
    const caller = {
      agentId: ASKS,
      sessionId: null,
      run: 'r1',
      kind: 'run',
      signal: new AbortController().signal,
    } as const;
    await tool?.run({ to: WOKEN, message: SAYS, reason: 'blocker' }, caller);
    const [question] = await team().approvals.open();
    expect((await team().approvals.answer(question?.callId ?? '', 'once', '')).ok).toBe(true);
  }
  async function comesOnce(): Promise<void> {
    await expect.poll(() => woken().length, PATIENT).toBe(1);
    await expect.poll(() => team().inbox.count(WOKEN)).toBe(0);
    // It was counted when it was granted.
    expect((await team().gate.stats(WOKEN)).wakesToday).toBe(1);
    await expect
      .poll(async () =>
        (await team().schedules.runs({ agentId: WOKEN, before: house.clock.now() + 1, most: 10 })).map(
          ({ state }) => state,
        ),
      )
      .toContain('done');
    expect(woken()).toHaveLength(1);
  }

  const ADDED = /insert into .*"occurrences"/i;
  it.each([
    ['before its run stands in the account', ADDED, false],
    ['once its run stands in the account', ADDED, true],
    ['as its run is about to begin', STATEMENTS['while it begins'], false],
    ['as its run has begun, and has read nothing', STATEMENTS['while it begins'], true],
  ])('comes once after a yes when the relay dies %s', PATIENT, async (_when, statement, sent) => {
    house.relay().dieAt(statement, sent);
    void askAndAgree().catch(() => undefined);
    await house.relay().dead;
    expect(woken()).toEqual([]);
    await house.restart();
    await comesOnce();
  });

  it('waits until it is permitted when it no longer is', { timeout: 40_000 }, async () => {
    house.relay().dieAt(STATEMENTS['while it begins'], false);
    void wake().catch(() => undefined);
    await house.relay().dead;
    await house.restart();
    await team().configs.setHousehold({ coordination: {}, wakes_enabled: false });
    await sleep(TAKEN_UP_MS);
    expect(woken()).toEqual([]);
    await team().configs.setHousehold({ coordination: {}, wakes_enabled: true });
    await expect.poll(() => woken().length, PATIENT).toBe(1);
  });

  it('does not come again after its message was read', PATIENT, async () => {
    await wake();
    await expect.poll(() => woken().length).toBe(1);
    await expect.poll(async () => (await team().gate.stats(WOKEN)).running).toBe(0);
    house.relay().die();
    await house.restart();
    await sleep(TAKEN_UP_MS);
    expect(woken()).toHaveLength(1);
  });
});
