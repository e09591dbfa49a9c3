/** Schedules as tests write them, and a clock that a test moves. */
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { AgentSnapshot } from '../../src/shared/protocol/snapshots.ts';
import { scheduleSchema } from '../../src/shared/protocol/schedules.ts';

export const SNAPSHOT: AgentSnapshot = {
  name: 'Lyra',
  color: '#c9b1e8',
  colorName: 'Violet Heaven',
  position: 0,
  soul: 'I chose Lyra because it sounds like rain.',
  transcript: 'Ada (2026-11-21 08:52 UTC):\n> My daughter is called Ida.',
  human: 'Ada',
  lead: 'Julian',
  model: '',
  maxAnswerTokens: 1_000,
  contextTokens: 0,
};

/** A routine with every default filled in. */
export function routine(more: Partial<ScheduleOf<'routine'>> = {}): ScheduleOf<'routine'> {
  const parsed = scheduleSchema.parse({
    kind: 'routine',
    agentId: 'agent-0',
    name: 'Morning round',
    instructions: 'Look around and say what you see, {{AGENT_NAME}}.',
    timing: { kind: 'every', minutes: 30 },
    ...more,
  });
  if (parsed.kind !== 'routine') throw new Error('It is no routine.');
  return parsed;
}

/** A clock that stands until a test moves it. */
export function createHandClock(start: number): {
  now(): number;
  /** ms */
  pass(ms: number): void;
} {
  let time = start;
  return {
    now: () => time,
    pass(ms) {
      time += ms;
    },
  };
}
