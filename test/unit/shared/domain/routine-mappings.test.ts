/** Which columns, tools and models a run of a routine has. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_COLUMNS } from '../../../../src/shared/domain/projects.ts';
import {
  resolveColumns,
  resolveRun,
  runsOfMappings,
  type RunRules,
  takenColumns,
} from '../../../../src/shared/domain/routine-mappings.ts';
import { DEFAULT_INSTRUCTIONS, PROJECT_INSTRUCTIONS } from '../../../../src/shared/domain/schedule/default-routine.ts';
import { TOOLSETS } from '../../../../src/shared/domain/toolsets.ts';

const BOARD = { columns: [...DEFAULT_COLUMNS, { columnId: 'x7', name: 'Ready: code', kind: 'ready' as const }] };
const ALL = BOARD.columns.map(({ columnId }) => columnId);
const NOTHING = { pulse_columns: null, tools: null, model: null, planningModel: null, executorModel: null };
const rules = (more: Partial<RunRules['routine']> = {}, agent: object = {}, household: object = {}): RunRules => ({
  routine: { ...NOTHING, ...more },
  agent: { tools: ['a', 'b', 'c'], ...agent },
  household,
});

describe('the columns of a run', () => {
  it.each([
    ['all of the project, where nothing is set', null, null, ALL],
    ['those of the routine', null, ['ready'], ['ready', 'x7']],
    ['those of the routine, by name in any case', null, [' ready: CODE ', 'Backlog'], ['backlog', 'x7']],
    ['those of the mapping, before the routine’s', ['x7'], ['backlog'], ['x7']],
    ['none, where the mapping says none', [], ['backlog'], []],
    ['none, where the routine says none', null, [], []],
    ['none, where the routine names columns that the project does not have', null, ['Doing'], []],
    ['not replaced by others when they are deleted', ['gone'], null, []],
  ])('works on these columns: %s', (_what, columnIds, pulse_columns, columns) => {
    expect(resolveColumns(BOARD, { columnIds }, { pulse_columns })).toEqual(columns);
  });
});

describe('the columns from which a run takes tasks', () => {
  it.each([
    ['the ready ones, where nothing is set', null, null, ['ready', 'x7']],
    ['those of the routine, of any kind', null, ['Backlog', 'ready'], ['backlog', 'ready', 'x7']],
    ['those of the mapping, of any kind', ['review'], ['ready'], ['review']],
    ['never those of finished tasks', ['done', 'blocked'], null, ['blocked']],
    ['none, where the mapping says none', [], ['backlog'], []],
  ])('takes tasks from these columns: %s', (_what, columnIds, pulse_columns, columns) => {
    expect(takenColumns(BOARD, { columnIds }, { pulse_columns })).toEqual(columns);
  });
});

describe('the tools of a run', () => {
  it.each([
    ['the agent’s, where nothing is set', null, [null], ['a', 'b', 'c']],
    ['the routine’s', ['b'], [null], ['b']],
    ['the mapping’s, before the routine’s', ['b'], [['a', 'c']], ['a', 'c']],
    ['none that the agent does not have', ['b', 'z'], [['a', 'z']], ['a']],
    ['none, where the mapping says none', ['b'], [[]], []],
    ['none, where the routine says none', [], [null], []],
    ['those that all projects of the run allow', ['b', 'c'], [null, ['a', 'b']], ['b']],
    ['the routine’s, where it works on no project', ['b'], [], ['b']],
  ])('has these tools: %s', (_what, tools, overrides, expected) => {
    const mappings = overrides.map((toolOverrides) => ({ toolOverrides }));
    expect(resolveRun(rules({ tools }), mappings).tools).toEqual(expected);
  });
});

describe('the models of a run', () => {
  const agent = { planning_model: 'agent-plans', executor_model: null };
  const household = { planning_model: 'home-plans', executor_model: 'home-works' };
  it.each([
    ['the agent’s own', {}, {}, {}, [null, null]],
    ['the household’s', {}, {}, household, ['home-plans', 'home-works']],
    ['the agent’s before the household’s', {}, agent, household, ['agent-plans', 'home-works']],
    ['the routine’s before both', { model: 'm' }, agent, household, ['m', 'm']],
    ['each the routine’s own', { model: 'm', planningModel: 'p' }, agent, household, ['p', 'm']],
  ])('uses these models: %s', (_what, routine, ofAgent, ofHousehold, expected) => {
    const { planningModel, executorModel } = resolveRun(rules(routine, ofAgent, ofHousehold), [
      { toolOverrides: null },
    ]);
    expect([planningModel, executorModel]).toEqual(expected);
  });
});

it('One run is about all projects that have none of their own', () => {
  const of = (separate: boolean, id: number) => ({ separate, id });
  const ids = (mappings: readonly { readonly separate: boolean; readonly id: number }[]) =>
    runsOfMappings(mappings).map((run) => run.map(({ id }) => id));
  expect(ids([of(true, 1), of(false, 2), of(false, 3), of(true, 4)])).toEqual([[2, 3], [1], [4]]);
  expect(ids([of(true, 1)])).toEqual([[1]]);
  expect(ids([])).toEqual([]);
});

it('The instructions name tools that exist', () => {
  const tools = new Set<string>(Object.values(TOOLSETS).flat());
  for (const text of [PROJECT_INSTRUCTIONS, DEFAULT_INSTRUCTIONS])
    for (const [, name = ''] of text.matchAll(/`([^`]+)`/g)) expect(tools, name).toContain(name);
  expect(PROJECT_INSTRUCTIONS.match(/^\d\. /gm)).toHaveLength(9);
});
