/** Why somebody sleeps again, or was not born, in sentences for people. */
import type { EndReason } from '../../../src/shared/protocol/documents.ts';
import type { AsleepReason } from '../../../src/shared/protocol/events.ts';
import type { RunOutcome } from '../../../src/shared/protocol/runs.ts';
import type { MindError, MindErrorKind } from '../minds/index.ts';
import type { AnswerEnd } from '../runs/speaker.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';

const seconds = (ms: number) => (ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`);

/** It ended its answer by itself, in words or in silence. */
export const endedItself = ({ status, unfinished }: AnswerEnd): boolean =>
  status === 'complete' || unfinished === 'silent' || unfinished === 'after-failure';

/** Null where the answer ended by itself. */
export function failedReason(end: AnswerEnd): AsleepReason | null {
  if (endedItself(end) || end.error === null) return null;
  return { code: 'failed', message: end.error };
}

/** `afterMs`: the time it was given; without it, it answered and said nothing. */
export function silentReason(afterMs?: number): AsleepReason {
  return {
    code: 'silent',
    message:
      afterMs === undefined
        ? sentence`It answered, but said nothing.`
        : sentence`It said nothing for ${seconds(afterMs)}.`,
  };
}

export const unnamedReason = (afterMs: number): AsleepReason => ({
  code: 'unnamed',
  message: sentence`It found no name within ${seconds(afterMs)}. The seat is free again.`,
});
export const namelessReason: AsleepReason = {
  code: 'unnamed',
  message: sentence`Its model uses no tools, and did not say a name in words. The seat is free again. Choose another model, or try again.`,
};
export const putToSleep: AsleepReason = { code: 'put-to-sleep', message: sentence`You put it to sleep.` };
export const stoppedBefore: AsleepReason = {
  code: 'put-to-sleep',
  message: sentence`You stopped it before its first words.`,
};
export const cancelled: AsleepReason = {
  code: 'cancelled',
  message: sentence`You gave up this egg. The seat is free again.`,
};
export const leadSilent = (afterMs: number): string => sentence`The lead said nothing for ${seconds(afterMs)}.`;

/** How a seat's run ended, by why it is empty, or its agent asleep. */
export function outcomeOf({ code }: AsleepReason): RunOutcome {
  switch (code) {
    case 'failed':
      return 'failed';
    case 'silent':
    case 'unnamed':
      return 'timed-out';
    case 'put-to-sleep':
    case 'cancelled':
      return 'stopped';
    default:
      return code satisfies never;
  }
}

/** The same of whoever is in a session until its end. */
export function outcomeAtEnd(reason: EndReason): RunOutcome {
  switch (reason) {
    case 'ended':
    case 'idle':
      return 'done';
    case 'shutdown':
      return 'stopped';
    case 'crash':
      return 'crashed';
    default:
      return reason satisfies never;
  }
}

/**
 * Failures that may pass by themselves; a key, an account, a model's name or a request does not
 * mend itself.
 */
const PASSING: ReadonlySet<MindErrorKind> = new Set([
  'overloaded',
  'rate-limited',
  'unreachable',
  'stream-cut',
  'upstream-broken',
]);
export const mayPass = (failure: MindError | null): boolean =>
  failure !== null && failure.lasting !== true && PASSING.has(failure.kind);
