/** A routine as it stands in the fields of its editor: texts, until the relay has taken it. Pure. */
import type { AgentId } from '../../domain/ids.ts';
import { slotsBetween, type Timing } from '../../domain/schedule/timing.ts';
import { createCronClock, cronProblem } from '../../protocol/cron.ts';
import type { ScheduleOf } from '../../protocol/schedules.ts';
import { SCHEDULE_BOUNDS } from '../../protocol/schedules.ts';

export type Routine = ScheduleOf<'routine'>;

export interface Draft {
  readonly agentId: AgentId;
  readonly name: string;
  readonly instructions: string;
  readonly timing: Timing['kind'];
  readonly minutes: string;
  /** Minutes after the full interval; empty: kept apart from the others' by the relay. */
  readonly offset: string;
  readonly days: readonly number[];
  readonly time: string;
  readonly cron: string;
  /** As `datetime-local` has it, in the reader's own zone. */
  readonly at: string;
  readonly onlyWaiting: boolean;
  /** Minutes that a run may take. */
  readonly most: string;
  readonly model: string;
  /** Empty: as `model`. */
  readonly planningModel: string;
  readonly executorModel: string;
  /** Names; null: all that its agent has. */
  readonly tools: readonly string[] | null;
  /** Runs of it at once. */
  readonly maxConcurrent: string;
  readonly context: Routine['context'];
  readonly catch_up: Routine['catch_up'];
  /** `#rrggbb`; empty: its agent's. */
  readonly color: string;
}

const MINUTE = 60_000;
const two = (value: number) => String(value).padStart(2, '0');
/** `2026-11-23T07:30` */
export function localText(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

export const emptyDraft = (agentId: AgentId): Draft => ({
  agentId,
  name: '',
  instructions: '',
  timing: 'weekly',
  minutes: '30',
  offset: '',
  days: [1, 2, 3, 4, 5],
  time: '07:30',
  cron: '',
  at: '',
  onlyWaiting: false,
  most: String(SCHEDULE_BOUNDS.timeoutMs.otherwise / MINUTE),
  model: '',
  planningModel: '',
  executorModel: '',
  tools: null,
  maxConcurrent: String(SCHEDULE_BOUNDS.maxConcurrent.otherwise),
  context: 'none',
  catch_up: 'once',
  color: '',
});

export function draftOf(routine: Routine): Draft {
  const { timing } = routine;
  return {
    ...emptyDraft(routine.agentId),
    name: routine.name,
    instructions: routine.instructions,
    timing: timing.kind,
    ...(timing.kind === 'every' ? { minutes: String(timing.minutes), offset: String(timing.offset ?? '') } : {}),
    ...(timing.kind === 'weekly' ? { days: timing.days, time: timing.time } : {}),
    ...(timing.kind === 'cron' ? { cron: timing.cron } : {}),
    ...(timing.kind === 'once' ? { at: localText(timing.at) } : {}),
    onlyWaiting: routine.when === 'something_waits',
    most: String(routine.timeoutMs / MINUTE),
    model: routine.model ?? '',
    planningModel: routine.planningModel ?? '',
    executorModel: routine.executorModel ?? '',
    tools: routine.tools,
    maxConcurrent: String(routine.maxConcurrent),
    context: routine.context,
    catch_up: routine.catch_up,
    color: routine.color ?? '',
  };
}

/** Where the relay names a field that stands here under another name, or has none of its own. */
const STANDS_AT: Readonly<Record<string, string>> = {
  timeoutMs: 'most',
  when: 'onlyWaiting',
  tools: 'tools',
};
export type Wrong = Readonly<Record<string, string>>;

/** What the relay found wrong, by the field of the editor at which it is shown; `rest` has no field here. */
export function wrongAt(
  fields: Wrong,
  { timing }: Pick<Draft, 'timing'>,
): { readonly at: Wrong; readonly rest: readonly string[] } {
  const at: Record<string, string> = {};
  const rest: string[] = [];
  const own = { every: 'minutes', weekly: 'time', cron: 'cron', once: 'at' }[timing];
  for (const [field, message] of Object.entries(fields)) {
    const last = field.replace(/^timing\.(days)(\.\d+)?$/, '$1').replace(/^timing\./, '');
    const place = STANDS_AT[field.replace(/\.\d+$/, '')] ?? (field === 'timing' ? own : last);
    if (FIELDS.has(place)) at[place] = message;
    else rest.push(`${field}: ${message}`);
  }
  return { at, rest };
}
const FIELDS = new Set([...Object.keys(emptyDraft(''))]);

/** What is wrong before anybody is asked: what cannot be said to the relay at all. */
export function wrongIn(draft: Draft): Wrong {
  const wrong: Record<string, string> = {};
  const { timeoutMs } = SCHEDULE_BOUNDS;
  const most = Number(draft.most) * MINUTE;
  if (draft.name.trim() === '') wrong['name'] = 'Give it a name.';
  if (draft.instructions.trim() === '') wrong['instructions'] = 'Say what it is to do.';
  // What is pasted is not cut off unseen.
  const [long, room] = [draft.instructions.length, SCHEDULE_BOUNDS.instructions];
  if (long > room)
    wrong['instructions'] =
      `It has ${long.toLocaleString('en')} characters, and there is room for ${room.toLocaleString('en')}.`;
  if (draft.timing === 'every' && !/^\d+$/.test(draft.minutes.trim())) wrong['minutes'] = 'A whole number of minutes.';
  if (draft.timing === 'every' && !/^\d*$/.test(draft.offset.trim()))
    wrong['offset'] = 'A whole number of minutes, or nothing.';
  if (draft.timing === 'weekly' && draft.time === '') wrong['time'] = 'Choose a time.';
  const cron = draft.timing === 'cron' ? cronProblem(draft.cron) : null;
  if (cron !== null)
    wrong['cron'] =
      draft.cron.trim() === ''
        ? 'Five fields, as in “30 7 * * 1-5”.'
        : `${cron.charAt(0).toUpperCase()}${cron.slice(1)}.`;
  if (draft.timing === 'once' && !Number.isFinite(Date.parse(draft.at))) wrong['at'] = 'Choose a day and a time.';
  if (!(most >= timeoutMs.min && most <= timeoutMs.max))
    wrong['most'] = `At most ${timeoutMs.max / MINUTE} minutes, and more than none.`;
  const { maxConcurrent } = SCHEDULE_BOUNDS;
  const atOnce = Number(draft.maxConcurrent);
  if (!Number.isInteger(atOnce) || atOnce < maxConcurrent.min || atOnce > maxConcurrent.max)
    wrong['maxConcurrent'] = `A whole number from ${maxConcurrent.min} to ${maxConcurrent.max}.`;
  return wrong;
}

/** When it would be due. Null: that cannot be said yet. */
function timingOf(draft: Draft, before: Timing | null = null): Timing | null {
  switch (draft.timing) {
    case 'every': {
      const minutes = Number(draft.minutes);
      if (!Number.isInteger(minutes) || minutes < 1) return null;
      const offset = draft.offset.trim() === '' ? null : Number(draft.offset);
      // One that does not fit is told by whoever saves it; until then it is taken round the interval.
      return offset !== null && !Number.isInteger(offset) ? null : { kind: 'every', minutes, offset };
    }
    case 'weekly':
      return draft.time === ''
        ? null
        : {
            kind: 'weekly',
            days: [...draft.days],
            time: draft.time,
            zone: before?.kind === 'weekly' ? before.zone : null,
          };
    case 'cron':
      return draft.cron.trim() === ''
        ? null
        : { kind: 'cron', cron: draft.cron.trim(), zone: before?.kind === 'cron' ? before.zone : null };
    case 'once': {
      const at = Date.parse(draft.at);
      // The very moment that was set stays it, seconds and all.
      if (before?.kind === 'once' && draft.at === localText(before.at)) return before;
      return Number.isFinite(at) ? { kind: 'once', at } : null;
    }
    default:
      return draft.timing satisfies never;
  }
}

const orNull = (text: string) => (text.trim() === '' ? null : text.trim());

/** The whole of it as the relay takes it; what stands in no field stays as it was. Null while `wrongIn` finds something. */
export function routineOf(draft: Draft, before: Routine | null): Routine | null {
  const timing = timingOf(draft, before?.timing ?? null);
  if (!timing || Object.keys(wrongIn(draft)).length > 0) return null;
  return {
    columns: [],
    enabled: true,
    ...before,
    kind: 'routine',
    agentId: draft.agentId,
    name: draft.name.trim(),
    instructions: draft.instructions,
    timing: timing.kind === 'weekly' ? { ...timing, days: [...timing.days] } : timing,
    timeoutMs: Math.round(Number(draft.most) * MINUTE),
    model: orNull(draft.model),
    planningModel: orNull(draft.planningModel),
    executorModel: orNull(draft.executorModel),
    tools: draft.tools && [...draft.tools],
    maxConcurrent: Number(draft.maxConcurrent),
    context: draft.context,
    catch_up: draft.catch_up,
    color: draft.color === '' ? null : draft.color,
    when: draft.onlyWaiting ? 'something_waits' : 'always',
  };
}

const FIELDS_OF_ROUTINE = [
  'agentId',
  'name',
  'instructions',
  'timing',
  'timeoutMs',
  'model',
  'planningModel',
  'executorModel',
  'tools',
  'maxConcurrent',
  'context',
  'catch_up',
  'color',
  'when',
] as const satisfies readonly (keyof Routine)[];

/**
 * What was changed here, put into what the relay has by now: another page may have changed it meanwhile. `clashes`: fields
 * that both changed, each in another way; they stand in `routine` as here.
 */
export function mergedInto(
  latest: Routine,
  before: Routine,
  mine: Routine,
): { readonly routine: Routine; readonly clashes: readonly (keyof Routine)[] } {
  const differs = (one: Routine, other: Routine, field: keyof Routine) =>
    JSON.stringify(one[field]) !== JSON.stringify(other[field]);
  const changed = FIELDS_OF_ROUTINE.filter((field) => differs(mine, before, field));
  const clashes = changed.filter((field) => differs(latest, before, field) && differs(latest, mine, field));
  const own = Object.fromEntries(changed.map((field) => [field, mine[field]]));
  return { routine: { ...latest, ...own }, clashes };
}

/** The next moments at which it is due, at most `most`; none: never, as it stands. `zone`: of the household; `offset`: minutes, that an interval was given. */
export function nextOf(
  draft: Draft,
  before: Timing | null,
  household: { readonly zone: string; readonly offset: number },
  now: number,
  most: number,
): readonly number[] {
  const timing = timingOf(draft, before);
  if (!timing || (timing.kind === 'cron' && cronProblem(timing.cron) !== null)) return [];
  return slotsBetween(timing, now, Infinity, { ...household, cron: CRON }, most);
}
const CRON = createCronClock();

export interface Example {
  readonly title: string;
  readonly draft: Omit<Draft, 'agentId'>;
}
const example = (draft: Partial<Draft> & { readonly name: string; readonly instructions: string }) => ({
  ...emptyDraft(''),
  ...draft,
});
/** Ready to be taken as they are. */
export const EXAMPLES: readonly Example[] = [
  {
    title: 'Every weekday at 7:30: read the inbox and tell me what matters',
    draft: example({
      name: 'Morning round',
      instructions: 'Read your inbox. Tell me in a few sentences what matters today, and what waits for me.',
    }),
  },
  {
    title: 'Every hour, when something waits: answer your mail',
    draft: example({
      name: 'Mail',
      instructions: 'Read your inbox and answer what you can answer. Say what you left for me, and why.',
      timing: 'every',
      minutes: '60',
      onlyWaiting: true,
    }),
  },
  {
    title: 'Fridays at 16:00: look back at the week',
    draft: example({
      name: 'The week',
      instructions: 'Look back at the week: what was done, what stuck, and what you would do first on Monday.',
      days: [5],
      time: '16:00',
      context: 'last_session',
    }),
  },
];
