/**
 * Drafts of routines, reminders and scripts in the fields of an editor: validation, and conversion
 * from and to schedules. Pure.
 */
import { localText } from '../text/time.ts';
import { slotsBetween, type Timing } from '../../../shared/domain/schedule/timing.ts';
import { createCronClock, cronProblem } from '../../../shared/protocol/timing-arguments.ts';
import { type Schedule, SCHEDULE_BOUNDS, type ScheduleOf } from '../../../shared/protocol/schedules.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { NUMBERS } from '../../../shared/domain/setting-table.ts';
import { DEFAULT_INTERVAL, PROJECT_INSTRUCTIONS } from '../../../shared/domain/schedule/default-routine.ts';
import { spoken, t } from '../../language/t.ts';
import { hostsIn, wrongInHosts } from '../text/hosts.ts';
import { asBeginning } from '../text/sizes.ts';

// Editor drafts of timings, and how a draft and the relay's answer fit together. Pure.

export interface TimingDraft {
  readonly timing: Timing['kind'];
  readonly minutes: string;
  /** Minutes after the full interval; empty: the relay spaces schedules apart. */
  readonly offset: string;
  readonly days: readonly number[];
  readonly time: string;
  readonly cron: string;
  /** Value of `datetime-local`, in the reader's time zone. */
  readonly at: string;
}

/** Defaults of empty fields. */
const emptyTiming: TimingDraft = {
  timing: 'weekly',
  minutes: '30',
  offset: '',
  days: [1, 2, 3, 4, 5],
  time: '07:30',
  cron: '',
  at: '',
};

const timingDraftOf = (timing: Timing): TimingDraft => ({
  ...emptyTiming,
  timing: timing.kind,
  ...(timing.kind === 'every' ? { minutes: String(timing.minutes), offset: String(timing.offset ?? '') } : {}),
  ...(timing.kind === 'weekly' ? { days: timing.days, time: timing.time } : {}),
  ...(timing.kind === 'cron' ? { cron: timing.cron } : {}),
  ...(timing.kind === 'once' ? { at: localText(timing.at) } : {}),
});

/** Errors by field. */
export type Wrong = Readonly<Record<string, string>>;

function wrongInTiming(draft: TimingDraft): Record<string, string> {
  const wrong: Record<string, string> = {};
  if (draft.timing === 'every' && !/^\d+$/.test(draft.minutes.trim())) wrong['minutes'] = t`Write a whole number.`;
  if (draft.timing === 'every' && !/^\d*$/.test(draft.offset.trim())) wrong['offset'] = t`Write a whole number.`;
  if (draft.timing === 'weekly' && draft.time === '') wrong['time'] = t`Choose a date and a time.`;
  const cron = draft.timing === 'cron' ? cronProblem(draft.cron) : null;
  if (cron !== null) wrong['cron'] = draft.cron.trim() === '' ? t`Fill this in.` : `${asBeginning(cron)}.`;
  if (draft.timing === 'once' && !Number.isFinite(Date.parse(draft.at))) wrong['at'] = t`Choose a date and a time.`;
  return wrong;
}

/** The timing of the draft; null: incomplete. */
function timingOf(draft: TimingDraft, before: Timing | null = null): ScheduleOf<'routine'>['timing'] | null {
  switch (draft.timing) {
    case 'every': {
      const minutes = Number(draft.minutes);
      if (!Number.isInteger(minutes) || minutes < 1) return null;
      const offset = draft.offset.trim() === '' ? null : Number(draft.offset);
      // An invalid offset is reported on saving. Until then it is taken modulo the interval.
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
      // An unchanged moment keeps its exact value, including seconds.
      if (before?.kind === 'once' && draft.at === localText(before.at)) return before;
      return Number.isFinite(at) ? { kind: 'once', at } : null;
    }
    default:
      return draft.timing satisfies never;
  }
}

/** The timing of a draft; null while it cannot be read. */
export function readTiming(draft: TimingDraft, before: Timing | null): Timing | null {
  const timing = timingOf(draft, before);
  return timing?.kind === 'cron' && cronProblem(timing.cron) !== null ? null : timing;
}

/**
 * The next due moments, at most `most`; empty: never. `zone`: of the household. `offset`: minutes
 * that the relay gave an interval.
 */
export function nextOf(
  draft: TimingDraft,
  before: Timing | null,
  household: { readonly zone: string; readonly offset: number },
  now: number,
  most: number,
): readonly number[] {
  const timing = readTiming(draft, before);
  if (!timing) return [];
  return slotsBetween(timing, now, Infinity, { ...household, cron: CRON }, most);
}
const CRON = createCronClock();

/**
 * Maps the relay's errors to fields of the editor; `rest` holds those without a field. `fields`: of
 * the editor. `standsAt`: fields that the editor shows under another name.
 */
export function wrongAt(
  found: Wrong,
  { timing }: Pick<TimingDraft, 'timing'>,
  fields: readonly string[],
  standsAt: Wrong,
): { readonly at: Wrong; readonly rest: readonly string[] } {
  const at: Record<string, string> = {};
  const rest: string[] = [];
  const own = { every: 'minutes', weekly: 'time', cron: 'cron', once: 'at' }[timing];
  for (const [field, message] of Object.entries(found)) {
    const last = field.replace(/^timing\.(days)(\.\d+)?$/, '$1').replace(/^timing\./, '');
    const place = standsAt[field.replace(/\.\d+$/, '')] ?? (field === 'timing' ? own : last);
    if (fields.includes(place)) at[place] = message;
    else rest.push(`${field}: ${message}`);
  }
  return { at, rest };
}

export interface Merged<S> {
  readonly merged: S;
  readonly clashes: readonly string[];
}

/**
 * Merges the changes made here into the relay's current version, which another page may have
 * changed. `clashes`: fields that both changed differently; `merged` has the values from here.
 */
export function mergedInto<S extends Schedule>(
  latest: S,
  before: S,
  mine: S,
  fields: readonly (keyof S & string)[],
): Merged<S> {
  const differs = (one: S, other: S, field: keyof S) => JSON.stringify(one[field]) !== JSON.stringify(other[field]);
  const changed = fields.filter((field) => differs(mine, before, field));
  const clashes = changed.filter((field) => differs(latest, before, field) && differs(latest, mine, field));
  const own = Object.fromEntries(changed.map((field) => [field, mine[field]]));
  return { merged: { ...latest, ...own }, clashes };
}

// The draft of a reminder, as texts, until the relay has accepted it. Pure.

export type Reminder = ScheduleOf<'reminder'>;

export interface ReminderDraft extends TimingDraft {
  readonly agentId: AgentId;
  readonly name: string;
  readonly message: string;
  readonly context: Reminder['context'];
}

export const reminderDraftOf = ({ agentId, name, message, timing, context }: Reminder): ReminderDraft => ({
  ...timingDraftOf(timing),
  agentId,
  name,
  message,
  context,
});

/** The fields that the editor writes. */
export const FIELDS_OF_REMINDER = [
  'agentId',
  'name',
  'message',
  'timing',
  'context',
] as const satisfies readonly (keyof Reminder)[];

/** Errors that are found without asking the relay. */
export function wrongInReminder(draft: ReminderDraft): Wrong {
  const wrong = wrongInTiming(draft);
  if (draft.name.trim() === '') wrong['name'] = t`It needs a name.`;
  if (draft.message.trim() === '') wrong['message'] = t`Fill this in.`;
  return wrong;
}

/** The complete reminder for the relay. null while `wrongInReminder` finds errors. */
export function reminderOf(draft: ReminderDraft, before: Reminder | null): Reminder | null {
  const timing = timingOf(draft, before?.timing ?? null);
  if (!timing || Object.keys(wrongInReminder(draft)).length > 0) return null;
  return {
    kind: 'reminder',
    agentId: draft.agentId,
    name: draft.name.trim(),
    message: draft.message,
    timing,
    context: draft.context,
  };
}

// The draft of a script, as texts, until the relay has accepted it. Pure.

export type Script = ScheduleOf<'script'>;

export interface ScriptDraft extends TimingDraft {
  readonly agentId: AgentId;
  readonly name: string;
  /** Path in its agent's folder. */
  readonly script: string;
  readonly on_failure: Script['on_failure'];
  readonly overlap: Script['overlap'];
  /** One per line. */
  readonly hosts: string;
  readonly own_hosts: string;
  /** Longest duration, in seconds. */
  readonly most: string;
  readonly context: Script['context'];
}

const SECOND = 1_000;

export const emptyScript = (agentId: AgentId): ScriptDraft => ({
  agentId,
  name: '',
  script: '',
  ...emptyTiming,
  timing: 'every',
  minutes: '10',
  on_failure: 'wake_agent',
  overlap: 'wait',
  hosts: '',
  own_hosts: '',
  most: String(SCHEDULE_BOUNDS.scriptMs.otherwise / SECOND),
  context: 'none',
});

export const scriptDraftOf = (script: Script): ScriptDraft => ({
  ...timingDraftOf(script.timing),
  agentId: script.agentId,
  name: script.name,
  script: script.script,
  on_failure: script.on_failure,
  overlap: script.overlap,
  hosts: (script.hosts ?? []).join('\n'),
  own_hosts: (script.own_hosts ?? []).join('\n'),
  most: String(script.timeoutMs / SECOND),
  context: script.context,
});

export const SCRIPT_STANDS_AT: Wrong = { timeoutMs: 'most', hosts: 'hosts', own_hosts: 'own_hosts' };
/** The fields that the editor writes. */
export const FIELDS_OF_SCRIPT = [
  'agentId',
  'name',
  'script',
  'timing',
  'on_failure',
  'overlap',
  'hosts',
  'own_hosts',
  'timeoutMs',
  'context',
] as const satisfies readonly (keyof Script)[];

/** Errors that are found without asking the relay. */
export function wrongInScript(draft: ScriptDraft): Wrong {
  const wrong = wrongInTiming(draft);
  const { min, max } = SCHEDULE_BOUNDS.scriptMs;
  const most = Number(draft.most) * SECOND;
  if (draft.name.trim() === '') wrong['name'] = t`It needs a name.`;
  if (draft.script.trim() === '') wrong['script'] = t`Fill this in.`;
  for (const field of ['hosts', 'own_hosts'] as const) {
    const odd = wrongInHosts(hostsIn(draft[field]));
    if (odd !== null) wrong[field] = odd;
  }
  if (!(most >= min && most <= max)) wrong['most'] = t`From ${min / SECOND} to ${max / SECOND}.`;
  return wrong;
}

/** The complete script for the relay. null while `wrongInScript` finds errors. */
export function scriptOf(draft: ScriptDraft, before: Script | null): Script | null {
  const timing = timingOf(draft, before?.timing ?? null);
  if (!timing || Object.keys(wrongInScript(draft)).length > 0) return null;
  const rest = { ...before };
  delete rest.hosts;
  delete rest.own_hosts;
  const [hosts, ownHosts] = [hostsIn(draft.hosts), hostsIn(draft.own_hosts)];
  return {
    enabled: true,
    ...rest,
    ...(hosts.length > 0 ? { hosts } : {}),
    ...(ownHosts.length > 0 ? { own_hosts: ownHosts } : {}),
    kind: 'script',
    agentId: draft.agentId,
    name: draft.name.trim(),
    script: draft.script.trim(),
    timing,
    on_failure: draft.on_failure,
    overlap: draft.overlap,
    timeoutMs: Math.round(Number(draft.most) * SECOND),
    context: draft.context,
  };
}

/** Without the text that was approved before: the file's current text counts. */
export function withoutText(script: Script): Script {
  const rest = { ...script };
  delete rest.sha256;
  return rest;
}

// The draft of a routine, as texts, until the relay has accepted it. Pure.

export type Routine = ScheduleOf<'routine'>;

export interface Draft extends TimingDraft {
  readonly agentId: AgentId;
  readonly name: string;
  readonly instructions: string;
  readonly onlyWaiting: boolean;
  /** Longest duration of a run, in minutes. */
  readonly most: string;
  readonly model: string;
  /** Empty: as `model`. */
  readonly planningModel: string;
  readonly executorModel: string;
  /** Names; null: all tools of its agent. */
  readonly tools: readonly string[] | null;
  /** Columns by id, name or kind; null: not set; empty: none. */
  readonly columns: readonly string[] | null;
  /** Concurrent runs. */
  readonly maxConcurrent: string;
  /** Model requests per run; empty: as for its agent's runs. */
  readonly maxTurns: string;
  readonly context: Routine['context'];
  readonly catch_up: Routine['catch_up'];
  /** `#rrggbb`; empty: its agent's. */
  readonly color: string;
}

const MINUTE = 60_000;

export const emptyDraft = (agentId: AgentId): Draft => ({
  agentId,
  name: '',
  instructions: '',
  ...emptyTiming,
  onlyWaiting: false,
  most: '',
  model: '',
  planningModel: '',
  executorModel: '',
  tools: null,
  columns: null,
  maxConcurrent: String(SCHEDULE_BOUNDS.maxConcurrent.otherwise),
  maxTurns: '',
  context: 'none',
  catch_up: 'once',
  color: '',
});

export function draftOf(routine: Routine): Draft {
  return {
    ...emptyDraft(routine.agentId),
    name: routine.name,
    instructions: routine.instructions,
    ...timingDraftOf(routine.timing),
    onlyWaiting: routine.when === 'something_waits',
    most: routine.timeoutMs === null ? '' : String(routine.timeoutMs / MINUTE),
    model: routine.model ?? '',
    planningModel: routine.planningModel ?? '',
    executorModel: routine.executorModel ?? '',
    tools: routine.tools,
    columns: routine.pulse_columns,
    maxConcurrent: String(routine.maxConcurrent),
    maxTurns: routine.maxTurns === null ? '' : String(routine.maxTurns),
    context: routine.context,
    catch_up: routine.catch_up,
    color: routine.color ?? '',
  };
}

/** Fields of the relay that the editor shows under another name, or not at all. */
export const STANDS_AT: Wrong = {
  timeoutMs: 'most',
  when: 'onlyWaiting',
  tools: 'tools',
  pulse_columns: 'columns',
};
/** Errors that are found without asking the relay, because the value cannot even be sent. */
export function wrongIn(draft: Draft): Wrong {
  const wrong: Record<string, string> = wrongInTiming(draft);
  const { timeoutMs } = SCHEDULE_BOUNDS;
  const most = Number(draft.most) * MINUTE;
  if (draft.name.trim() === '') wrong['name'] = t`It needs a name.`;
  if (draft.instructions.trim() === '') wrong['instructions'] = t`Fill this in.`;
  // A pasted text is never cut silently.
  const [long, room] = [draft.instructions.length, SCHEDULE_BOUNDS.instructions];
  if (long > room)
    wrong['instructions'] =
      t`It has ${long.toLocaleString(spoken.locale)} characters, and there is room for ${room.toLocaleString(spoken.locale)}.`;
  if (draft.most.trim() !== '' && !(most >= timeoutMs.min && most <= timeoutMs.max))
    wrong['most'] = t`From ${timeoutMs.min / MINUTE} to ${timeoutMs.max / MINUTE}.`;
  const { maxConcurrent } = SCHEDULE_BOUNDS;
  const atOnce = Number(draft.maxConcurrent);
  if (!Number.isInteger(atOnce) || atOnce < maxConcurrent.min || atOnce > maxConcurrent.max)
    wrong['maxConcurrent'] = t`From ${maxConcurrent.min} to ${maxConcurrent.max}.`;
  const turns = NUMBERS.pulse_max_turns;
  const asked = draft.maxTurns.trim() === '' ? turns.min : Number(draft.maxTurns);
  if (!Number.isInteger(asked) || asked < turns.min || asked > turns.max)
    wrong['maxTurns'] = t`From ${turns.min} to ${turns.max}.`;
  return wrong;
}

const orNull = (text: string) => (text.trim() === '' ? null : text.trim());

/**
 * The complete routine for the relay; values without a field stay as they were. null while
 * `wrongIn` finds errors.
 */
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
    timing,
    timeoutMs: draft.most.trim() === '' ? null : Math.round(Number(draft.most) * MINUTE),
    model: orNull(draft.model),
    planningModel: orNull(draft.planningModel),
    executorModel: orNull(draft.executorModel),
    tools: draft.tools && [...draft.tools],
    pulse_columns: draft.columns && [...draft.columns],
    maxConcurrent: Number(draft.maxConcurrent),
    maxTurns: draft.maxTurns.trim() === '' ? null : Number(draft.maxTurns),
    context: draft.context,
    catch_up: draft.catch_up,
    color: draft.color === '' ? null : draft.color,
    when: draft.onlyWaiting ? 'something_waits' : 'always',
  };
}

/** The fields that the editor writes. */
export const FIELDS_OF_ROUTINE = [
  'agentId',
  'name',
  'instructions',
  'timing',
  'timeoutMs',
  'model',
  'planningModel',
  'executorModel',
  'tools',
  'pulse_columns',
  'maxConcurrent',
  'maxTurns',
  'context',
  'catch_up',
  'color',
  'when',
] as const satisfies readonly (keyof Routine)[];

const example = (draft: Partial<Draft> & { readonly name: string; readonly instructions: string }) => ({
  ...emptyDraft(''),
  ...draft,
});
const MORNING = t`Read your inbox. Tell me in a few sentences what matters today, and what waits for me.`;
/** Work on projects: it begins only where a task is ready, or a message waits. */
const PROJECT_DRAFT = example({
  name: t`Work on projects`,
  instructions: PROJECT_INSTRUCTIONS,
  timing: 'every',
  minutes: String(DEFAULT_INTERVAL),
  onlyWaiting: true,
  most: '15',
});
/** Ready to be used as they are. */
export const EXAMPLES: readonly Omit<Draft, 'agentId'>[] = [
  example({ name: t`Morning round`, instructions: MORNING }),
  example({
    name: t`Messages`,
    instructions: t`Read your inbox and answer what you can answer. Say what you left for me, and why.`,
    timing: 'every',
    minutes: '60',
    onlyWaiting: true,
  }),
  PROJECT_DRAFT,
  example({
    name: t`The week`,
    instructions: t`Look back at the week: what was done, what stuck, and what you would do first on Monday.`,
    days: [5],
    time: '16:00',
    context: 'last_session',
  }),
];
