/** Gates for tests, on one store and one clock. */
import { createConfigs, createGate, type GateDeps, type OpenConfigs } from '../../server/team/gate/index.ts';
import type { Gate, WakeRequest } from '../../server/team/gate/contract.ts';
import type { Store } from '../../server/store/index.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';
import { createManualTimers, type ManualTimers } from './manual-timers.ts';

export interface TestClock {
  now(): number;
  set(time: number): void;
  pass(ms: number): void;
}

export function createTestClock(start: number): TestClock {
  let time = start;
  return {
    now: () => time,
    set: (to) => void (time = to),
    pass: (ms) => void (time += ms),
  };
}

export interface TestGate {
  readonly gate: Gate;
  readonly configs: OpenConfigs;
  readonly told: RoostEvent[];
  readonly timers: ManualTimers;
  readonly errors: unknown[];
}

let relays = 0;
/** A household that nobody else has. */
export const newRelay = () => `relay-${++relays}`;

export function createTestGate(
  { db, kind }: Pick<Store, 'db' | 'kind'>,
  clock: TestClock,
  {
    home = newRelay(),
    timeZone = 'Europe/Berlin',
    alone = kind === 'sqlite',
    ...over
  }: Partial<GateDeps> & { readonly timeZone?: string } = {},
): TestGate & { readonly home: string } {
  const told: RoostEvent[] = [];
  const errors: unknown[] = [];
  const timers = createManualTimers();
  const deps = {
    db,
    home,
    now: clock.now,
    tell: (event: RoostEvent) => void told.push(event),
  };
  const configs = createConfigs({ ...deps, alone, timeZone });
  const gate = createGate({
    ...deps,
    configs,
    newId: () => crypto.randomUUID(),
    alone,
    timers,
    onHeartbeatError: (error) => void errors.push(error),
    ...over,
  });
  return { gate, configs, told, timers, errors, home };
}

/** A request of Lyra's for Orin, by `wake_agent`, who is free. */
export const request = (over: Partial<WakeRequest> = {}): WakeRequest => ({
  target: 'orin',
  source: { kind: 'agent', agentId: 'lyra' },
  way: 'wake_agent',
  reason: 'blocker',
  messageId: null,
  callerSession: 'session-1',
  state: 'idle',
  ...over,
});
