/** What a relay says of routines and of what became of them. */
import type { Timeline } from '../../../../src/shared/protocol/endpoints/schedules.ts';
import type { Occurrence, Proposal, Scheduled } from '../../../../src/shared/protocol/schedules.ts';
import { routine } from '../../../support/schedules.ts';
import { NOW } from './household.ts';
import { configAnswer, EFFECTIVE, type MemoryReach } from './reach.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const scheduled = (n: number, more: Partial<Scheduled> = {}): Scheduled => ({
  scheduleId: `schedule-${n}`,
  version: 1,
  schedule: routine({
    agentId: 'agent-1',
    name: 'Morning round',
    timing: { kind: 'weekly', days: [1, 2, 3, 4, 5], time: '07:30', zone: null },
  }),
  nextAt: NOW + 47 * HOUR - 25 * MINUTE,
  offset: null,
  pausedWhy: null,
  warning: null,
  skippedInARow: 0,
  failedInARow: 0,
  position: n,
  created_at: NOW - 48 * HOUR,
  updated_at: NOW - 24 * HOUR,
  running: 0,
  elsewhere: null,
  ...more,
});

export const occurrence = (n: number, more: Partial<Occurrence> = {}): Occurrence => ({
  scheduleId: 'schedule-1',
  agentId: 'agent-1',
  name: 'Morning round',
  kind: 'routine',
  dueAt: NOW - n * HOUR,
  state: 'done',
  reason: null,
  late: false,
  runId: `run-${n}`,
  startedAt: NOW - n * HOUR,
  endedAt: NOW - n * HOUR + 14_000,
  said: 'The bridge holds. The mayor asks for the drawing; **I left it for you**.',
  detail: null,
  continuedBy: null,
  tokens: 1_240,
  costMicroUsd: 12_300,
  estimated: false,
  ...more,
});

const nothing = {
  runId: null,
  startedAt: null,
  said: null,
  tokens: null,
  costMicroUsd: null,
  estimated: false,
} as const;

/** Three agents, one night: what went well, what failed, what was skipped, and what is to come. */
export const SCHEDULED: readonly Scheduled[] = [
  scheduled(1),
  scheduled(2, {
    schedule: routine({
      agentId: 'agent-1',
      name: 'Mail',
      when: 'something_waits',
      timing: { kind: 'every', minutes: 60, offset: null },
    }),
    offset: 0,
    nextAt: NOW + 5 * MINUTE,
    running: 1,
  }),
  scheduled(3, {
    schedule: routine({
      agentId: 'agent-2',
      name: 'Look at the river',
      timing: { kind: 'every', minutes: 120, offset: null },
    }),
    nextAt: null,
    offset: 1,
    pausedWhy: 'It failed 5 times in a row.',
    failedInARow: 5,
  }),
  scheduled(4, {
    schedule: {
      kind: 'reminder',
      agentId: 'agent-3',
      name: 'dentist',
      message: 'Remind Marcus of the dentist.',
      timing: { kind: 'once', at: NOW + 24 * HOUR + 5 * MINUTE },
      context: 'none',
    },
    nextAt: NOW + 24 * HOUR + 5 * MINUTE,
  }),
  scheduled(5, {
    schedule: {
      kind: 'script',
      agentId: 'agent-3',
      name: 'site up',
      script: 'checks/site.sh',
      timing: { kind: 'every', minutes: 10, offset: null },
      on_failure: 'wake_agent',
      overlap: 'skip',
      timeoutMs: 60_000,
      context: 'none',
      enabled: false,
    },
    nextAt: null,
  }),
];
export const OCCURRENCES: readonly Occurrence[] = [
  occurrence(1.5),
  occurrence(3, { ...nothing, name: 'Mail', scheduleId: 'schedule-2', state: 'skipped', reason: 'nothing-waits' }),
  occurrence(4, {
    name: 'Look at the river',
    scheduleId: 'schedule-3',
    agentId: 'agent-2',
    state: 'failed',
    said: null,
    detail: 'The model’s server is overloaded.',
  }),
  occurrence(6, {
    ...nothing,
    name: 'Look at the river',
    scheduleId: 'schedule-3',
    agentId: 'agent-2',
    state: 'skipped',
    reason: 'blackout',
  }),
];

export const proposal = (n: number, name: string): Proposal => ({
  proposalId: `proposal-${n}`,
  agentId: 'agent-2',
  why: 'The **river** rises at night.',
  routine: routine({ agentId: 'agent-2', name, timing: { kind: 'weekly', days: [], time: '03:00', zone: null } }),
  madeAt: NOW,
});

export const timeline = (more: Partial<Timeline> = {}): Timeline => ({
  from: NOW - 24 * HOUR,
  to: NOW + 24 * HOUR,
  moments: Array.from({ length: 24 }, (_, n) => ({
    scheduleId: 'schedule-2',
    agentId: 'agent-1',
    at: NOW + 5 * MINUTE + n * HOUR,
    dark: n > 13 && n < 21 ? 'Night' : null,
  })).concat([{ scheduleId: 'schedule-4', agentId: 'agent-3', at: NOW + 23 * HOUR + 5 * MINUTE, dark: null }]),
  occurrences: [...OCCURRENCES],
  blackouts: [{ agentId: 'agent-1', from: NOW + 13 * HOUR + 5 * MINUTE, to: NOW + 21 * HOUR, label: 'Night' }],
  clashes: [
    {
      from: NOW + 23 * HOUR + 5 * MINUTE,
      to: NOW + 23 * HOUR + 5 * MINUTE,
      agentIds: ['agent-1', 'agent-3'],
      critical: false,
    },
  ],
  most: { runs: 17, microUsd: 209_100 },
  ...more,
});

/** A relay on which these are due. */
export function answerSchedules(
  reach: MemoryReach,
  {
    schedules = SCHEDULED,
    line = timeline(),
    scripts = true,
  }: { schedules?: readonly Scheduled[]; line?: Timeline; scripts?: boolean } = {},
): void {
  // The household's zone is that of whoever looks, so that times are what is written here.
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  reach.on('GET /v1/config', configAnswer({}, { ...EFFECTIVE, time_zone: timeZone }));
  reach.on('GET /v1/pulse-routines', { schedules, scripts });
  reach.on('GET /v1/pulses/timeline', line);
  for (const { scheduleId } of schedules)
    reach.on(`GET /v1/pulse-routines/${scheduleId}/history`, {
      occurrences: line.occurrences.filter((one) => one.scheduleId === scheduleId),
    });
  reach.on('GET /v1/runs', { runs: [] });
  reach.on('GET /api/agent-snapshots', {
    withdrawn: ['agent-2'],
    snapshots: schedules.some(({ schedule }) => schedule.agentId === 'agent-1')
      ? [
          {
            agentId: 'agent-1',
            leftAt: NOW - 20 * MINUTE,
            version: 'v1',
            bytes: 21_400,
            soulChars: 1_812,
            transcriptChars: 18_220,
          },
        ]
      : [],
  });
}
