/**
 * Names of the values of a choice, for forms, approvals and the log of changes. Pure.
 */
import type { DreamChoice } from '../../../shared/domain/dreams.ts';
import type { Grant } from '../../../shared/domain/toolsets.ts';
import type { CommandGrant } from '../../../shared/protocol/attempts.ts';
import type { Schedule } from '../../../shared/protocol/schedules.ts';
import { t } from '../../language/t.ts';
import { asBeginning } from './sizes.ts';

/** In display order. */
export type Choices<Value extends string> = readonly (readonly [Value, string])[];

type Of<Kind extends Schedule['kind']> = Extract<Schedule, { readonly kind: Kind }>;

/** The context that an agent receives. */
export const CONTEXTS: Choices<Schedule['context']> = [
  ['none', asBeginning(t`nothing`)],
  ['last_session', t`Its last conversation`],
  ['own_runs', t`The last words of its last three runs`],
];
export const CATCH_UPS: Choices<Of<'routine'>['catch_up']> = [
  ['once', t`Make up for the newest one`],
  ['skip', t`Make up for none`],
  ['each', t`Make up for each`],
];
export const ON_FAILURE: Choices<Of<'script'>['on_failure']> = [
  ['wake_agent', t`Wake the agent with its output`],
  ['ignore', t`Only record it`],
];
export const OVERLAPS: Choices<Of<'script'>['overlap']> = [
  ['skip', t`Skip that time`],
  ['wait', t`Run it after this one`],
];
export const GRANTS: Choices<Grant> = [
  ['off', asBeginning(t`off`)],
  ['ask', asBeginning(t`asks you`)],
  ['allow', asBeginning(t`without asking`)],
];
export const DREAMS: Choices<DreamChoice> = [
  ['off', asBeginning(t`off`)],
  ['propose', t`Propose changes`],
  ['adopt', t`Adopt at once`],
];
/** Hosts that the person names are a list, and have no name here. */
export const NETWORKS: Choices<'none' | 'all'> = [
  ['none', asBeginning(t`nothing`)],
  ['all', t`All that is public`],
];
/** What agents may do while they have a task. */
export const COMMANDS: Choices<CommandGrant> = [
  ['sandbox', t`edit, and run commands in a sandbox`],
  ['ask', t`edit, and ask me before each command`],
  ['none', t`only edit: Roost commits for them`],
  ['own', t`what their own settings say`],
];

/** A value of a newer Roost has no name. It is shown as it is. */
export const nameOfValue = (choices: Choices<string>, value: string): string =>
  choices.find(([one]) => one === value)?.[1] ?? value;
