/** Describes completely what a project would be: commands, agents, money and tasks. Pure. */
import { shownText } from '../../../shared/domain/names.ts';
import type { AskedField } from '../../../shared/protocol/project-records.ts';
import type { ProjectValue } from '../../../shared/protocol/projects.ts';
import type { AskedRecord } from '../../../shared/protocol/records.ts';
import { t } from '../../language/t.ts';
import type { ImportChange } from '../../state/exports.ts';
import { KIND_NAMES, PRIORITY_NAMES } from '../projects/words.ts';
import { money } from './money.ts';
import { plural } from './sizes.ts';
import { revealedLine } from './unseen.ts';
import { COMMANDS, nameOfValue } from './value-names.ts';

type ProjectChange = Extract<ImportChange, { kind: 'project' }>;
type NameOf = (id: string) => string;

const ofAgents = (ids: readonly string[], nameOf: NameOf) => ids.map((id) => shownText(nameOf(id))).join(', ');
/** Indented, so that no line of it passes for a part of its own. */
const block = (text: string) =>
  text
    .split('\n')
    .map((line) => `\n    ${revealedLine(line)}`)
    .join('');
const list = (texts: readonly string[]) => (texts.length === 0 ? t`none` : texts.map(block).join(''));
const limit = (microUsd: number | null) => (microUsd === null ? t`no limit` : money(microUsd));

/** Each part that a yes covers, with its label. */
const PARTS: { readonly [Field in AskedField]: (value: ProjectValue, nameOf: NameOf) => readonly [string, string] } = {
  kind: ({ kind }) => [t`Kind`, kind === 'git' ? t`A repository` : t`A shared folder`],
  repository: ({ repository }) => [t`Repository`, repository === '' ? t`none` : revealedLine(repository)],
  baseBranch: ({ baseBranch }) => [t`Base branch`, baseBranch === '' ? t`the default` : revealedLine(baseBranch)],
  agents: ({ agents }, nameOf) => [t`Agents`, ofAgents(agents, nameOf) || t`none`],
  reviewer: ({ reviewer }, nameOf) => [
    t`Automatic reviewer`,
    reviewer === null ? t`none` : ofAgents([reviewer], nameOf),
  ],
  taskMicroUsd: ({ taskMicroUsd }) => [t`Budget a task ($)`, limit(taskMicroUsd)],
  dayMicroUsd: ({ dayMicroUsd }) => [t`Budget a day ($)`, limit(dayMicroUsd)],
  setup: ({ setup }) => [t`Setup command`, setup === '' ? t`none` : block(setup)],
  checks: ({ checks }) => [t`Checks, one command a line`, list(checks)],
  copy: ({ copy }) => [t`Files outside git to copy into each checkout, one a line`, list(copy)],
  doneNeeds: ({ doneNeeds: { change, checks, criteria } }) => [
    t`A task is done if`,
    [
      ...(change ? [t`Something was changed`] : []),
      ...(checks ? [t`All checks passed`] : []),
      ...(criteria ? [t`Every criterion is met`] : []),
    ].join(', ') || t`nothing`,
  ],
  subtasksReady: ({ subtasksReady }) => [
    t`Other agents may take the parts into which an agent divides a task`,
    subtasksReady ? t`Yes` : t`No`,
  ],
  commands: ({ commands }) => [t`Agents may`, nameOfValue(COMMANDS, commands)],
  attemptsPerTask: ({ attemptsPerTask }) => [t`Attempts at one task`, String(attemptsPerTask)],
  executorsAtOnce: ({ executorsAtOnce }) => [t`Executors at the same time`, String(executorsAtOnce)],
  executorSeconds: ({ executorSeconds }) => [t`Seconds for an executor`, String(executorSeconds)],
  columns: ({ columns }) => [
    t`Columns`,
    columns.map(({ name, kind }) => `${shownText(name)} (${KIND_NAMES[kind]})`).join(', '),
  ],
  instructions: ({ instructions }) => [
    t`Instructions for agents (optional)`,
    instructions === '' ? t`none` : block(instructions),
  ],
};

type AskedTask = Extract<AskedRecord, { type: 'project' }>['tasks'][number];

/** A task whole, as its agent would be told it. */
function taskText(task: AskedTask, { columns }: ProjectValue, nameOf: NameOf): string {
  const column = columns.find(({ columnId }) => columnId === task.columnId);
  const parts: readonly (readonly [string, string])[] = [
    [t`Column`, column ? shownText(column.name) : t`none`],
    [t`Priority`, PRIORITY_NAMES[task.priority]],
    [t`Agent`, task.assignee === null ? t`nobody` : ofAgents([task.assignee], nameOf)],
    ...(task.description === '' ? [] : [[t`Description`, block(task.description)] as const]),
    ...(task.criteria.length === 0 ? [] : [[t`Done when`, list(task.criteria)] as const]),
    ...(task.comments.length === 0 ? [] : [[t`Comments`, list(task.comments)] as const]),
    ...(task.notes.length === 0 ? [] : [[t`notes`, list(task.notes)] as const]),
  ];
  return [
    `${t`Task #${String(task.number)}`} ${shownText(task.title)}`,
    ...parts.map(([part, text]) => `  ${part}: ${text}`),
  ].join('\n');
}

export function projectDetails({ here, after, tasks, names }: ProjectChange): {
  readonly before: string;
  readonly after: string;
} {
  const nameOf: NameOf = (id) => names[id] ?? id;
  const text = (value: ProjectValue | null) =>
    value === null || value.removed
      ? []
      : Object.values(PARTS).map((part) => {
          const [label, shown] = part(value, nameOf);
          return `${label}: ${shown}`;
        });
  return {
    before: text(here).join('\n'),
    after: [...text(after), ...tasks.map((task) => taskText(task, after, nameOf))].join('\n'),
  };
}

export function projectText({ here, after, tasks }: ProjectChange): string {
  const what = t`The project “${shownText((here ?? after).name)}”`;
  if (after.removed) return t`${what} would be removed.`;
  const isSame = JSON.stringify(here) === JSON.stringify(after);
  const own = isSame ? '' : t`${what} would be worked on like this.`;
  if (tasks.length === 0) return own;
  const taken = t`Agents could take ${plural(tasks.length, 'task')} of it.`;
  return isSame ? `${what}: ${taken}` : `${own} ${taken}`;
}
