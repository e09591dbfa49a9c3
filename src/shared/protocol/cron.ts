/**
 * Cron texts: five fields, minute to weekday, in a time zone. Only the arithmetic is croner's;
 * nothing of it runs here.
 */
import { Cron } from 'croner';
import type { CronClock } from '../domain/schedule/timing.ts';

/** Parsed ones that are remembered: parsing takes longer than asking. */
const REMEMBERED = 1_000;

/** Null where it is a cron text; else what is wrong with it. */
export function cronProblem(cron: string): string | null {
  try {
    if (cron.trim().split(/\s+/).length !== 5) return 'it needs five fields: minute, hour, day, month and weekday';
    const next = parse(cron, 'UTC').nextRun(new Date(0));
    return next === null ? 'is never due' : null;
  } catch (error) {
    // The library says what is wrong, behind the name of its class.
    if (error instanceof Error) return error.message.replace(/^Cron\w+: /, '');
    throw error;
  }
}

const parse = (cron: string, zone: string) =>
  new Cron(cron, { timezone: zone, mode: '5-part', domAndDow: false, paused: true });

/**
 * On days without the time that a text names, as where clocks go forward, it is due at the first
 * moment after; where a time comes twice, once. Texts with wildcards or steps in minute or hour go
 * on by the clock instead.
 */
export function createCronClock(): CronClock {
  const parsed = new Map<string, Cron>();
  return {
    next(cron, zone, after) {
      const key = `${zone} ${cron}`;
      let job = parsed.get(key);
      if (!job) {
        job = parse(cron, zone);
        if (parsed.size >= REMEMBERED) parsed.clear();
        parsed.set(key, job);
      }
      return job.nextRun(new Date(after))?.getTime() ?? null;
    },
  };
}
