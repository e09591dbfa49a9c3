/** Settings of a project that say how its tasks are worked on, checked and paid for. */
import { type ReactNode, useId, useState } from 'react';
import { ATTEMPT_LIMITS } from '../../../shared/protocol/attempts.ts';
import type { Project } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { CommandChoice } from './command-choice.tsx';
import { useTeammates } from '../use-somebody.ts';
import { parseUsd, usdOf } from '../text/money.ts';

const FIELDS = [
  ...([
    'baseBranch',
    'copy',
    'worktrees',
    'setup',
    'checks',
    'doneNeeds',
    'reviewer',
    'subtasksReady',
    'commands',
  ] as const),
  ...(['attemptsPerTask', 'executorsAtOnce', 'executorSeconds', 'taskMicroUsd', 'dayMicroUsd'] as const),
] as const;
export type WorkDraft = Pick<Project, (typeof FIELDS)[number]>;

export const workOf = (project: Project): WorkDraft =>
  Object.fromEntries(FIELDS.map((name) => [name, project[name]])) as unknown as WorkDraft;

/** Whole numbers, with what they may be. */
const NUMBERS = {
  attemptsPerTask: { least: 1, most: 50, label: t`Attempts at one task` },
  executorsAtOnce: { least: 1, most: 20, label: t`Executors at the same time` },
  executorSeconds: { least: 10, most: ATTEMPT_LIMITS.seconds, label: t`Seconds for an executor` },
} as const;
type NumberName = keyof typeof NUMBERS;
const MONEY = {
  taskMicroUsd: t`Budget a task ($)`,
  dayMicroUsd: t`Budget a day ($)`,
} as const;
type MoneyName = keyof typeof MONEY;
/** US dollars */
const MOST_USD = 100_000;
const MICRO = 1_000_000;

const isWhole = (name: NumberName, value: number) =>
  Number.isInteger(value) && value >= NUMBERS[name].least && value <= NUMBERS[name].most;
const wrongNumber = (name: NumberName) =>
  t`${NUMBERS[name].label}: give a whole number from ${String(NUMBERS[name].least)} to ${String(NUMBERS[name].most)}.`;
const wrongMoney = (name: MoneyName) =>
  `${MONEY[name]}: ${t`Give an amount from 0 to ${String(MOST_USD)}, or nothing.`}`;

/** Why these settings cannot be saved; null: they can. */
export function wrongWork(draft: WorkDraft): string | null {
  for (const name of Object.keys(NUMBERS) as NumberName[]) if (!isWhole(name, draft[name])) return wrongNumber(name);
  for (const name of Object.keys(MONEY) as MoneyName[]) if (Number.isNaN(draft[name])) return wrongMoney(name);
  if (draft.checks.length > ATTEMPT_LIMITS.checks)
    return t`Too many lines. The most is ${String(ATTEMPT_LIMITS.checks)}.`;
  return draft.copy.length > ATTEMPT_LIMITS.copied
    ? t`Too many lines. The most is ${String(ATTEMPT_LIMITS.copied)}.`
    : null;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly invalid?: boolean;
  readonly onChange: (text: string) => void;
}

interface SwitchProps {
  readonly label: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}

function Switch({ label, on, onChange }: SwitchProps) {
  return (
    <label className="tick-line">
      <input
        type="checkbox"
        role="switch"
        aria-checked={on}
        checked={on}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

function TextField({
  label,
  hint,
  value,
  placeholder,
  invalid = false,
  onChange,
  rows,
}: FieldProps & { rows?: number }) {
  const id = useId();
  const shared = {
    ...{ id, className: 'field code-text', dir: 'ltr' as const, autoComplete: 'off', spellCheck: false },
    ...{ value, placeholder, 'aria-invalid': invalid },
    ...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` }),
  };
  return (
    <div className="stack gap-3">
      <label className="ink-2 text-2" htmlFor={id}>
        {label}
      </label>
      {rows === undefined ? (
        <input {...shared} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <textarea {...shared} rows={rows} onChange={({ target }) => onChange(target.value)} />
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="setting-hint no-margin">
          {hint}
        </p>
      )}
    </div>
  );
}

export function BaseBranch({ value, onChange }: { value: string; onChange: (branch: string) => void }) {
  return (
    <TextField
      label={t`Base branch`}
      hint={t`Empty: the repository’s default.`}
      value={value}
      onChange={(typed) => onChange(typed.trim())}
    />
  );
}

/** One entry a line. What is typed stays as it is typed. */
function LinesField({
  lines,
  onChange,
  ...rest
}: Omit<FieldProps, 'value' | 'onChange'> & {
  readonly lines: readonly string[];
  readonly onChange: (lines: string[]) => void;
}) {
  const [text, setText] = useState(lines.join('\n'));
  return (
    <TextField
      {...rest}
      rows={Math.min(6, Math.max(2, text.split('\n').length))}
      value={text}
      onChange={(typed) => {
        setText(typed);
        onChange(
          typed
            .split('\n')
            .map((line) => line.trim())
            .filter(Boolean),
        );
      }}
    />
  );
}

/** A short number. A text that is none is reported as NaN. */
function AmountField({
  label,
  first,
  invalid,
  placeholder,
  onText,
}: {
  readonly label: string;
  readonly first: string;
  readonly invalid: boolean;
  readonly placeholder?: string;
  readonly onText: (text: string) => void;
}) {
  const [text, setText] = useState(first);
  return (
    <label className="work-amount stack middle gap-5">
      <span className="ink-2 text-2">{label}</span>
      <input
        className="field figures text-3 pad-block-2 min-40"
        inputMode="decimal"
        autoComplete="off"
        placeholder={placeholder}
        value={text}
        aria-invalid={invalid}
        onChange={({ target }) => {
          setText(target.value);
          onText(target.value);
        }}
      />
    </label>
  );
}

const numberOf = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : NaN);
function microOf(text: string): number | null {
  const usd = parseUsd(text, MOST_USD);
  return usd === undefined ? NaN : usd === null ? null : Math.round(usd * MICRO);
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="work-group stack gap-5 ruled">
      <legend className="ink-2 text-2 full bold">{title}</legend>
      {children}
    </fieldset>
  );
}

interface Props {
  readonly project: Project;
  readonly draft: WorkDraft;
  readonly onChange: (part: Partial<WorkDraft>) => void;
}

export function WorkSettings({ project: { kind, repository }, draft, onChange }: Props) {
  const isGit = kind === 'git';
  const team = useTeammates();
  const reviewers = team.all.filter(({ retired, agentId }) => !retired || agentId === draft.reviewer);
  const needs: readonly { readonly need: keyof WorkDraft['doneNeeds']; readonly text: string }[] = [
    { need: 'change', text: t`Something was changed` },
    { need: 'checks', text: t`All checks passed` },
    { need: 'criteria', text: t`Every criterion is met` },
  ];
  return (
    <>
      <Group title={t`How tasks are worked on`}>
        {isGit && (
          <>
            <p className="work-source text-2 break ink-2">
              <span>{t`Repository`}</span> <code dir="ltr">{repository}</code>
            </p>
            <BaseBranch value={draft.baseBranch} onChange={(baseBranch) => onChange({ baseBranch })} />
          </>
        )}
        {isGit && repository.startsWith('/') && (
          <LinesField
            label={t`Files outside git to copy into each checkout, one a line`}
            placeholder=".env"
            lines={draft.copy}
            onChange={(copy) => onChange({ copy })}
          />
        )}
        {isGit && (
          <Switch
            label={t`A separate checkout for each task`}
            on={draft.worktrees}
            onChange={(worktrees) => onChange({ worktrees })}
          />
        )}
        {isGit && <CommandChoice chosen={draft.commands} onChange={(commands) => onChange({ commands })} />}
        <Switch
          label={t`Other agents may take the parts into which an agent divides a task`}
          on={draft.subtasksReady}
          onChange={(subtasksReady) => onChange({ subtasksReady })}
        />
        <TextField
          label={t`Setup command`}
          placeholder="npm ci"
          value={draft.setup}
          onChange={(setup) => onChange({ setup })}
        />
        <LinesField
          label={t`Checks, one command a line`}
          hint={t`The relay runs them on the work of an agent, in the sandbox.`}
          placeholder="npm test"
          lines={draft.checks}
          onChange={(checks) => onChange({ checks })}
        />
      </Group>
      <Group title={t`A task is done if`}>
        {needs.map(({ need, text }) => (
          <Switch
            key={need}
            label={text}
            on={draft.doneNeeds[need]}
            onChange={(on) => onChange({ doneNeeds: { ...draft.doneNeeds, [need]: on } })}
          />
        ))}
        <label className="work-amount stack middle gap-5 work-reviewer">
          <span className="ink-2 text-2">{t`Automatic reviewer`}</span>
          <select
            className="field field-select figures text-3 pad-block-2"
            value={draft.reviewer ?? ''}
            onChange={({ target }) => onChange({ reviewer: target.value === '' ? null : target.value })}
          >
            <option value="">{t`nobody`}</option>
            {reviewers.map(({ agentId, name }) => (
              <option key={agentId} value={agentId}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </Group>
      <Group title={t`Limits`}>
        <div className="stack gap-4">
          {(Object.keys(NUMBERS) as NumberName[]).map((name) => (
            <AmountField
              key={name}
              label={NUMBERS[name].label}
              first={String(draft[name])}
              invalid={!isWhole(name, draft[name])}
              onText={(text) => onChange({ [name]: numberOf(text) })}
            />
          ))}
          {(Object.keys(MONEY) as MoneyName[]).map((name) => {
            const held = draft[name];
            return (
              <AmountField
                key={name}
                label={MONEY[name]}
                first={held === null ? '' : String(usdOf(held))}
                placeholder={t`no limit`}
                invalid={Number.isNaN(held)}
                onText={(text) => onChange({ [name]: microOf(text) })}
              />
            );
          })}
        </div>
      </Group>
    </>
  );
}
