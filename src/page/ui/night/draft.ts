/**
 * A routine as it stands in the fields of its editor: texts, until the relay has taken it. Pure.
 */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { PULSE_BOUNDS } from '../../../shared/domain/guardrails.ts';
import { spoken } from '../../language/catalogue.ts';
import { t } from '../../language/t.ts';
import type { ScheduleOf } from '../../../shared/protocol/schedules.ts';
import { SCHEDULE_BOUNDS } from '../../../shared/protocol/schedules.ts';
import { emptyTiming, timingDraftOf, timingOf, wrongInTiming, type TimingDraft, type Wrong } from './timing-draft.ts';

export type Routine = ScheduleOf<'routine'>;

export interface Draft extends TimingDraft {
  readonly agentId: AgentId;
  readonly name: string;
  readonly instructions: string;
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
  /** Model requests of one run; empty: as its agent's runs. */
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
    maxConcurrent: String(routine.maxConcurrent),
    maxTurns: routine.maxTurns === null ? '' : String(routine.maxTurns),
    context: routine.context,
    catch_up: routine.catch_up,
    color: routine.color ?? '',
  };
}

/** Where the relay names a field that stands here under another name, or has none of its own. */
export const STANDS_AT: Wrong = {
  timeoutMs: 'most',
  when: 'onlyWaiting',
  tools: 'tools',
};
/** What is wrong before anybody is asked: what cannot be said to the relay at all. */
export function wrongIn(draft: Draft): Wrong {
  const wrong: Record<string, string> = wrongInTiming(draft);
  const { timeoutMs } = SCHEDULE_BOUNDS;
  const most = Number(draft.most) * MINUTE;
  if (draft.name.trim() === '') wrong['name'] = t`Give it a name.`;
  if (draft.instructions.trim() === '') wrong['instructions'] = t`Say what it is to do.`;
  // What is pasted is not cut off unseen.
  const [long, room] = [draft.instructions.length, SCHEDULE_BOUNDS.instructions];
  if (long > room)
    wrong['instructions'] =
      t`It has ${long.toLocaleString(spoken.locale)} characters, and there is room for ${room.toLocaleString(spoken.locale)}.`;
  if (draft.most.trim() !== '' && !(most >= timeoutMs.min && most <= timeoutMs.max))
    wrong['most'] = t`At most ${timeoutMs.max / MINUTE} minutes, and more than none.`;
  const { maxConcurrent } = SCHEDULE_BOUNDS;
  const atOnce = Number(draft.maxConcurrent);
  if (!Number.isInteger(atOnce) || atOnce < maxConcurrent.min || atOnce > maxConcurrent.max)
    wrong['maxConcurrent'] = t`A whole number from ${maxConcurrent.min} to ${maxConcurrent.max}.`;
  const turns = PULSE_BOUNDS.pulse_max_turns;
  const asked = draft.maxTurns.trim() === '' ? turns.min : Number(draft.maxTurns);
  if (!Number.isInteger(asked) || asked < turns.min || asked > turns.max)
    wrong['maxTurns'] = t`A whole number from ${turns.min} to ${turns.max}.`;
  return wrong;
}

const orNull = (text: string) => (text.trim() === '' ? null : text.trim());

/**
 * The whole of it as the relay takes it; what stands in no field stays as it was. Null while
 * `wrongIn` finds something.
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
    maxConcurrent: Number(draft.maxConcurrent),
    maxTurns: draft.maxTurns.trim() === '' ? null : Number(draft.maxTurns),
    context: draft.context,
    catch_up: draft.catch_up,
    color: draft.color === '' ? null : draft.color,
    when: draft.onlyWaiting ? 'something_waits' : 'always',
  };
}

/** Its fields that the editor writes. */
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
  'maxConcurrent',
  'maxTurns',
  'context',
  'catch_up',
  'color',
  'when',
] as const satisfies readonly (keyof Routine)[];

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
    title: t`Every weekday at 7:30: read the inbox and tell me what matters`,
    draft: example({
      name: t`Morning round`,
      instructions: t`Read your inbox. Tell me in a few sentences what matters today, and what waits for me.`,
    }),
  },
  {
    title: t`Every hour, when something waits: answer your messages`,
    draft: example({
      name: t`Messages`,
      instructions: t`Read your inbox and answer what you can answer. Say what you left for me, and why.`,
      timing: 'every',
      minutes: '60',
      onlyWaiting: true,
    }),
  },
  {
    title: t`Fridays at 16:00: look back at the week`,
    draft: example({
      name: t`The week`,
      instructions: t`Look back at the week: what was done, what stuck, and what you would do first on Monday.`,
      days: [5],
      time: '16:00',
      context: 'last_session',
    }),
  },
];
