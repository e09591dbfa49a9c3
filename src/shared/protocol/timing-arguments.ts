/**
 * The timing of a schedule in an agent's tool call: one of `cron`, `every` and `at`. The relay and
 * the page parse it alike.
 */
import { Cron } from 'croner';
import { type CronClock, INTERVAL_BOUNDS, MINUTE_MS, parseMoment, type Timing } from '../domain/schedule/timing.ts';

// Cron expressions: five fields, minute to weekday, in a time zone. Only croner's date arithmetic
// is used, and none of its timers.

/** Number of cached parsed expressions. Parsing takes longer than evaluating. */
const REMEMBERED = 1_000;

/** Null: a valid cron expression. Otherwise what is wrong with it. */
export function cronProblem(cron: string): string | null {
  try {
    if (cron.trim().split(/\s+/).length !== 5) return 'it needs five fields: minute, hour, day, month and weekday';
    const next = parse(cron, 'UTC').nextRun(new Date(0));
    return next === null ? 'is never due' : null;
  } catch (error) {
    // The library's message follows its class name.
    if (error instanceof Error) return error.message.replace(/^Cron\w+: /, '');
    throw error;
  }
}

const parse = (cron: string, zone: string) =>
  new Cron(cron, { timezone: zone, mode: '5-part', domAndDow: false, paused: true });

/**
 * If a day skips the time of an expression because clocks go forward, it is due at the first moment
 * after. If a time occurs twice, it is due once. Expressions with wildcards or steps in minute or
 * hour follow the clock instead.
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

const DAY_MS = 24 * 60 * MINUTE_MS;
/** ms. How far ahead an agent's schedule may be. */
const FURTHEST_MS = 366 * DAY_MS;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: 60 * MINUTE_MS, d: DAY_MS };
const SPAN = /^(\d{1,6}(?:\.\d{1,3})?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)$/;

/** ms of `90 minutes`, `2h`, `1 day`. Null: the text is not a duration. */
export function parseSpan(text: string): number | null {
  const [, count = '', unit = ''] = SPAN.exec(text.trim().toLowerCase()) ?? [];
  const size = UNITS[unit.charAt(0)];
  return size === undefined || count === '' ? null : Number(count) * size;
}

export interface TimingArguments {
  readonly cron?: string | undefined;
  readonly every?: string | undefined;
  readonly at?: string | undefined;
}
type Read = { readonly ok: true; readonly timing: Timing } | { readonly ok: false; readonly reason: string };

const wrong = (reason: string): Read => ({ ok: false, reason });

function everyOf(said: string): Read {
  const ms = parseSpan(said);
  if (ms === null) return wrong('`every` must be a span such as `30 minutes`, `2 hours` or `1 day`.');
  const minutes = ms / MINUTE_MS;
  if (minutes < INTERVAL_BOUNDS.min) return wrong('`every` is too short: the least is 1 minute.');
  if (minutes > INTERVAL_BOUNDS.max) return wrong('`every` is too long: the most is 7 days. Use `cron` instead.');
  return Number.isInteger(minutes)
    ? { ok: true, timing: { kind: 'every', minutes, offset: null } }
    : wrong('`every` must be a whole number of minutes.');
}

/** Why nothing can be due at `at`, as a sentence. Null: it can. Both in ms since the epoch. */
export function momentProblem(at: number, now: number): string | null {
  if (at <= now) return 'That time is in the past.';
  return at > now + FURTHEST_MS ? 'That is more than a year ahead.' : null;
}
export const NO_MOMENT = '`at` must be a date and time such as 2026-12-24T09:00, `tomorrow 09:00` or `friday 09:00`.';

/**
 * A moment in the format of `at`, from ms since the epoch. Unlike `tomorrow`, it means the same
 * whenever it is read.
 */
export const utcText = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** Parses a timing. `reason` is a sentence for the agent that names the argument. */
export function parseTiming({ cron, every, at }: TimingArguments, zone: string, now: number): Read {
  if ([cron, every, at].filter((said) => said !== undefined).length !== 1)
    return wrong('Give exactly one of `cron`, `every` and `at`.');
  if (every !== undefined) return everyOf(every);
  if (cron !== undefined) {
    const problem = cronProblem(cron);
    return problem === null
      ? { ok: true, timing: { kind: 'cron', cron: cron.trim(), zone: null } }
      : wrong(`\`cron\` is not a valid cron expression: ${problem}.`);
  }
  const moment = parseMoment(at ?? '', zone, now);
  if (moment === null) return wrong(NO_MOMENT);
  const problem = momentProblem(moment, now);
  return problem === null ? { ok: true, timing: { kind: 'once', at: moment } } : wrong(`\`at\`: ${problem}`);
}
