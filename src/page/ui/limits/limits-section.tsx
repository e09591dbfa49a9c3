/**
 * Settings section: what waking may cost and what agents may do, for the household or for one
 * agent.
 */
import { Link } from 'wouter';
import { type ReactNode, useId, useState } from 'react';
import {
  BUDGET_BOUNDS,
  COORDINATION_BOUNDS,
  DEFAULT_LIMITS,
  DEFAULT_SLEEP_WAIT_SECONDS,
  HAND_BOUNDS,
  isTimeZone,
  PRESETS,
  PULSE_BOUNDS,
} from '../../../shared/domain/guardrails.ts';
import {
  type AgentConfig,
  DEFAULT_COORDINATION,
  type EffectiveConfig,
  type HouseholdConfig,
  OF_PROJECTS,
} from '../../../shared/protocol/config.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { type Guardrails, type HouseholdLimits, withCoordination, withGuardrails } from '../../state/relay-info.ts';
import { programsOf } from '../../state/external.ts';
import { reachQueries } from '../../state/reach-queries.ts';
import { useRoost } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../hooks.ts';
import { keyOf } from '../design/keys.ts';
import { AgentSelect } from '../parts/choices.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { useNames } from '../use-somebody.ts';
import { StopSwitch } from '../wakes/stop-switch.tsx';
import { budgetText, parseUsd } from '../text/money.ts';
import {
  baseName,
  changeAgent,
  changeCoordination,
  changeHousehold,
  Inherited,
  inheritedText,
  NumberLimit,
  SettingFrame,
  type Shown,
  ShownLimits,
  SleepAndWake,
  Tick,
  useLimits,
  useSaved,
} from './setting.tsx';
import { BlackoutFields } from './blackouts.tsx';
import { HandPresets, NetworkField, SandboxNote, SingleGrants, ToolsetGrant } from './grants.tsx';
import { Yaml } from './yaml.tsx';
import './limits.css';

// Limits on space and time for an agent's work in its folder.

const FIGURES = {
  workspace_megabytes: {
    label: t`Room of its folder`,
    hint: t`All its files together; 1,000 MB are one GB. What lies there already stays.`,
    unit: 'MB',
  },
  command_seconds: {
    label: t`Time of a command`,
    hint: t`From the next one on: one that takes longer is ended, with all that it started. Those in the background have half an hour.`,
    unit: t`seconds`,
  },
} as const;

function HandLimit({ figure }: { readonly figure: keyof typeof FIGURES }) {
  const { own, effective, base, scope, change } = useLimits();
  const { min, max } = HAND_BOUNDS[figure];
  return (
    <NumberLimit
      {...FIGURES[figure]}
      {...{ min, max }}
      own={own[figure]}
      effective={effective[figure]}
      base={base[figure]}
      baseName={baseName(scope)}
      inherited={inheritedText(scope)}
      save={(value) => change((coordination) => withCoordination(coordination, figure, value))}
    />
  );
}

// The mind of an agent: the connected models, or an ACP agent on the relay's machine.

const MODELS = t`The connected models`;

function MindChoice() {
  const { own, effective, base, scope, change } = useLimits();
  const known = useQuery(programsOf(useRoost()).list);
  const programs = known.kind === 'ready' ? known.value.programs : [];
  const nameOf = (programId: string | null) =>
    programId === null
      ? MODELS
      : (programs.find((program) => program.programId === programId)?.name ?? t`A program that is not there any more`);
  return (
    <Inherited<string | null>
      label={scope === 'agent' ? t`Its mind` : t`The mind of agents`}
      hint={t`An ACP agent, such as Claude Code, works with its own tools; soul, memory, limits and questions stay Roost’s. It holds from its next turn on.`}
      own={own.mind}
      effective={effective.mind}
      base={base.mind}
      save={(value) => change((coordination) => withCoordination(coordination, 'mind', value))}
      wordOf={nameOf}
    >
      {({ id, describedBy, value, set }) => (
        <div className="setting-row">
          <label htmlFor={id}>{scope === 'agent' ? t`Its mind` : t`The mind of agents`}</label>
          <select
            id={id}
            className="field"
            aria-describedby={describedBy}
            value={value ?? ''}
            onChange={({ target }) => set(target.value === '' ? null : target.value)}
          >
            <option value="">{MODELS}</option>
            {value !== null && !programs.some(({ programId }) => programId === value) && (
              <option value={value}>{nameOf(value)}</option>
            )}
            {programs.map(({ programId, name }) => (
              <option key={programId} value={programId}>
                {name}
              </option>
            ))}
          </select>
          <Link href={PATHS.settings('programs')}>{t`ACP agents`}</Link>
        </div>
      )}
    </Inherited>
  );
}

/** The household's time zone, which decides when its days begin. */
function TimeZone({
  own,
  effective,
  save,
}: {
  own: string | undefined;
  effective: string;
  save: (value: string | undefined) => Promise<string | null>;
}) {
  const id = useId();
  const saved = useSaved<string>({ own, save });
  const [draft, setDraft] = useState<string | null>(null);
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const text = draft ?? effective;
  const fits = isTimeZone(text.trim());
  const commit = () => {
    if (draft === null || !fits) return;
    if (text.trim() === effective) setDraft(null);
    else void saved.set(text.trim()).then(() => setDraft(null));
  };
  return (
    <SettingFrame
      legend={t`Time zone`}
      hint={t`Days begin at its midnight, quiet hours go by its clock.`}
      saved={saved}
      wrong={fits ? null : t`Give the name of a time zone, such as Europe/Berlin.`}
      describedBy={id}
      inherited={{
        text: own === undefined ? t`As it was when the household began.` : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: t`Set back to how it began`,
      }}
    >
      <label htmlFor={id}>{t`Time zone`}</label>
      <div className="setting-row">
        <input
          id={id}
          className="field"
          list={`${id}-zones`}
          autoComplete="off"
          value={text}
          aria-invalid={!fits}
          aria-describedby={`${id}-hint ${id}-from ${id}-state`}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (keyOf(event) === 'Enter') commit();
            if (keyOf(event) === 'Escape') setDraft(null);
          }}
        />
        <datalist id={`${id}-zones`}>
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        {effective !== here && draft === null && (
          <button type="button" className="ghost" onClick={() => void saved.set(here)}>
            {t`Take ${here}`}
          </button>
        )}
      </div>
    </SettingFrame>
  );
}

interface Text {
  readonly label: string;
  readonly hint: string;
  readonly unit: string;
}

const GUARDRAILS: Record<keyof Guardrails, Text> = {
  max_wakes_per_day: {
    label: t`Wakes a day`,
    hint: t`Whoever asks. The day is the household’s, from midnight to midnight. 0 means never.`,
    unit: t`wakes`,
  },
  cooldown_seconds: {
    label: t`Pause between two wakes`,
    hint: t`Whoever asks. 300 seconds are five minutes.`,
    unit: t`seconds`,
  },
  max_wakes_per_pair_per_day: {
    label: t`Wakes a day by the same one`,
    hint: t`How often one agent may wake another: two that wake each other for ever stop here. 0 means never.`,
    unit: t`wakes`,
  },
  max_daily_session_minutes: {
    label: t`Minutes a day`,
    hint: t`All its sessions of a day together. 0 means never.`,
    unit: t`minutes`,
  },
  max_wakes_per_session: {
    label: t`Wakes of others in one session`,
    hint: t`How often it may have others woken in one session. 0 means never.`,
    unit: t`wakes`,
  },
};
const ORDER = [
  'max_wakes_per_day',
  'cooldown_seconds',
  'max_wakes_per_pair_per_day',
  'max_daily_session_minutes',
  'max_wakes_per_session',
] as const satisfies readonly (keyof Guardrails)[];

/** The limits that the gate enforces. */
function GuardrailFields() {
  const { own, effective, base, scope, change } = useLimits();
  return (
    <>
      {ORDER.map((key) => (
        <NumberLimit
          key={key}
          {...GUARDRAILS[key]}
          {...COORDINATION_BOUNDS[key]}
          own={own.wake_guardrails?.[key]}
          effective={effective.wake_guardrails[key]}
          base={base.wake_guardrails[key]}
          baseName={baseName(scope)}
          inherited={inheritedText(scope)}
          save={(value) => change((coordination) => withGuardrails(coordination, { [key]: value }))}
        />
      ))}
      <NumberLimit
        label={t`Sessions at once`}
        hint={t`How many sessions of it may run at the same time. 0 means never.`}
        unit={t`sessions`}
        {...COORDINATION_BOUNDS.max_concurrent_pulse_sessions}
        own={own.max_concurrent_pulse_sessions}
        effective={effective.max_concurrent_pulse_sessions}
        base={base.max_concurrent_pulse_sessions}
        baseName={baseName(scope)}
        inherited={inheritedText(scope)}
        save={(value) =>
          change((coordination) => withCoordination(coordination, 'max_concurrent_pulse_sessions', value))
        }
      />
    </>
  );
}

type PresetName = keyof typeof PRESETS;
const NAMES = ['careful', 'normal', 'brisk'] as const satisfies readonly PresetName[];
const TITLES: Record<PresetName, string> = { careful: t`Careful`, normal: t`Normal`, brisk: t`Brisk` };

const pause = (seconds: number) => (seconds >= 120 ? t`${Math.round(seconds / 60)} min` : `${seconds} s`);
const about = ({
  max_wakes_per_day,
  cooldown_seconds,
}: {
  readonly max_wakes_per_day: number;
  readonly cooldown_seconds: number;
}) => t`${max_wakes_per_day} a day, ${pause(cooldown_seconds)} apart`;

type Chosen = Pick<Guardrails, 'max_wakes_per_day' | 'cooldown_seconds'>;
const sameAs = (a: Chosen, b: Chosen) =>
  a.max_wakes_per_day === b.max_wakes_per_day && a.cooldown_seconds === b.cooldown_seconds;

/** Wakes per day and the pause between them, as one choice. */
function Presets() {
  const { own, effective, base, scope, change } = useLimits();
  const set: Chosen | undefined =
    own.wake_guardrails?.max_wakes_per_day === undefined && own.wake_guardrails?.cooldown_seconds === undefined
      ? undefined
      : {
          max_wakes_per_day: own.wake_guardrails.max_wakes_per_day,
          cooldown_seconds: own.wake_guardrails.cooldown_seconds,
        };
  const saved = useSaved<Chosen>({
    own: set,
    save: (value) =>
      change((coordination) =>
        withGuardrails(coordination, {
          max_wakes_per_day: value?.max_wakes_per_day,
          cooldown_seconds: value?.cooldown_seconds,
        }),
      ),
  });
  const { saving } = saved;
  const under = base.wake_guardrails;
  const held = saving
    ? {
        max_wakes_per_day: saving.value?.max_wakes_per_day ?? under.max_wakes_per_day,
        cooldown_seconds: saving.value?.cooldown_seconds ?? under.cooldown_seconds,
      }
    : effective.wake_guardrails;
  const inherits = scope === 'agent' && (saving ? saving.value : set) === undefined;
  const preset = NAMES.find((name) => sameAs(PRESETS[name], held));
  const choice = (key: string, title: string, text: string, checked: boolean, value: Chosen | undefined) => (
    <label key={key} className="preset" data-checked={checked}>
      <input type="radio" name="preset" checked={checked} onChange={() => void saved.set(value)} />
      <b>{title}</b>
      <small>{text}</small>
    </label>
  );
  return (
    <SettingFrame
      legend={t`How lively`}
      group
      saved={saved}
      describedBy="presets"
      inherited={{
        text:
          preset === undefined
            ? t`By figures of ${scope === 'agent' && inherits ? t`the household’s` : t`your`} own: ${about(held)}.`
            : '',
        back: null,
        backLabel: '',
      }}
    >
      <div className="presets">
        {scope === 'agent' && choice('inherit', t`As the household`, about(base.wake_guardrails), inherits, undefined)}
        {NAMES.map((name) =>
          choice(name, TITLES[name], about(PRESETS[name]), !inherits && preset === name, PRESETS[name]),
        )}
      </div>
    </SettingFrame>
  );
}

const BOUNDS = { ...COORDINATION_BOUNDS, ...HAND_BOUNDS };

interface Figure {
  readonly key: keyof typeof BOUNDS;
  readonly label: string;
  readonly hint: string;
  readonly unit: string;
  readonly base: number;
  readonly own: (config: HouseholdConfig) => number | undefined;
  readonly effective: (config: EffectiveConfig) => number;
  readonly set: (config: HouseholdConfig, value: number | undefined) => HouseholdConfig;
}

const HOUSEHOLD_FIGURES: readonly Figure[] = [
  {
    key: 'flood_max_wakes',
    label: t`Wakes at once in the household`,
    hint: t`Beyond this, wakes that you did not ask for are stopped, whoever asks for whom.`,
    unit: t`wakes`,
    base: DEFAULT_LIMITS.floodMaxWakes,
    own: (config) => config.flood_guard?.max_wakes,
    effective: (config) => config.flood_guard.max_wakes,
    set: (config, value) => ({ ...config, flood_guard: { ...config.flood_guard, max_wakes: value } }),
  },
  {
    key: 'flood_window_seconds',
    label: t`Counted over`,
    hint: t`The stretch of time that the limit above looks back on.`,
    unit: t`seconds`,
    base: DEFAULT_LIMITS.floodWindowSeconds,
    own: (config) => config.flood_guard?.window_seconds,
    effective: (config) => config.flood_guard.window_seconds,
    set: (config, value) => ({ ...config, flood_guard: { ...config.flood_guard, window_seconds: value } }),
  },
  {
    key: 'sleep_wait_seconds',
    label: t`How long a sleeping agent’s call is held`,
    hint: t`A program that drives an agent waits this long while the agent is set to sleep; then it is told to try again.`,
    unit: t`seconds`,
    base: DEFAULT_SLEEP_WAIT_SECONDS,
    own: (config) => config.sleep_wait_seconds,
    effective: (config) => config.sleep_wait_seconds,
    set: (config, value) => ({ ...config, sleep_wait_seconds: value }),
  },
  {
    key: 'programs_at_once',
    label: t`ACP agents that start at once`,
    hint: t`Where several agents wake whose minds are programs, such as Claude Code. The others wait for their turn; where memory is short, fewer start.`,
    unit: t`programs`,
    base: HAND_BOUNDS.programs_at_once.otherwise,
    own: (config) => config.programs_at_once,
    effective: (config) => config.programs_at_once,
    set: (config, value) => ({ ...config, programs_at_once: value }),
  },
];

interface HouseholdFiguresProps {
  readonly own: HouseholdConfig;
  readonly effective: EffectiveConfig;
  /** Returns null on success, otherwise the reason. */
  readonly change: (edit: (own: HouseholdConfig) => HouseholdConfig) => Promise<string | null>;
}

/** The limits on the whole household. */
function HouseholdFigures({ own, effective, change }: HouseholdFiguresProps) {
  return HOUSEHOLD_FIGURES.map(({ key, label, hint, unit, base, ...figure }) => (
    <NumberLimit
      key={key}
      label={label}
      hint={hint}
      unit={unit}
      min={BOUNDS[key].min}
      max={BOUNDS[key].max}
      own={figure.own(own)}
      effective={figure.effective(effective)}
      base={base}
      baseName={baseName('household')}
      inherited={inheritedText('household')}
      save={(value) => change((config) => figure.set(config, value))}
    />
  ));
}

interface Props {
  readonly label: string;
  readonly hint: string;
  readonly own: number | null | undefined;
  readonly effective: number | null;
  readonly baseText: string;
  readonly max: number;
  readonly save: (value: number | null | undefined) => Promise<string | null>;
}

/** US dollars a day; empty: no limit. Saved when the field loses the focus, or on Enter. */
function MoneyLimit({ label, hint, own, effective, baseText, max, save }: Props) {
  const id = useId();
  const saved = useSaved<number | null>({ own, save });
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? (effective === null ? '' : String(effective));
  const value = parseUsd(text, max);
  const commit = () => {
    if (draft === null || value === undefined) return;
    if (value === effective) setDraft(null);
    else void saved.set(value).then(() => setDraft(null));
  };
  return (
    <SettingFrame
      legend={label}
      hint={hint}
      saved={saved}
      wrong={value === undefined ? t`Give an amount from 0 to ${budgetText(max)}, or nothing for no limit.` : null}
      describedBy={id}
      inherited={{
        text: own === undefined ? baseText : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: t`Set back`,
      }}
    >
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">
        <input
          id={id}
          className="field field-number"
          inputMode="decimal"
          autoComplete="off"
          placeholder={t`No limit`}
          value={text}
          aria-invalid={value === undefined}
          aria-describedby={`${id}-hint ${id}-from ${id}-state`}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (keyOf(event) === 'Enter') commit();
            if (keyOf(event) === 'Escape') setDraft(null);
          }}
        />
        <span className="setting-unit">{t`US dollars a day, empty: no limit`}</span>
      </div>
    </SettingFrame>
  );
}

function Block({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="limits-block" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

interface Turns {
  readonly own: number | undefined;
  readonly effective: number;
  /** The inherited value. */
  readonly base: number;
  /** Returns null on success, otherwise the reason. */
  readonly save: (value: number | undefined) => Promise<string | null>;
}

/** The settings that households and agents share. `turns`: model requests per run. */
function Fields({ timeZone, turns }: { timeZone: string; turns: Turns }) {
  const { own, effective, base, scope, change } = useLimits();
  return (
    <>
      <Block title={t`Wakes`}>
        <Presets />
        <Tick
          setting="wakes_enabled"
          label={scope === 'agent' ? t`May be woken` : t`Agents may be woken`}
          hint={
            scope === 'agent'
              ? t`Off: nothing but you wakes it. What is written to it waits.`
              : t`For every agent that has nothing else set.`
          }
        />
        <GuardrailFields />
      </Block>
      <Block title={t`Quiet hours`}>
        <BlackoutFields timeZone={timeZone} />
      </Block>
      <Block title={t`At work alone`}>
        <NumberLimit
          label={t`Model requests in one run`}
          hint={t`Each use of tools takes one more. A run that has made so many is ended. A routine may have a number of its own.`}
          unit={t`requests`}
          {...PULSE_BOUNDS.pulse_max_turns}
          {...turns}
          baseName={baseName(scope)}
          inherited={inheritedText(scope)}
        />
      </Block>
      <Block title={t`Sleep inside a session`}>
        <SleepAndWake />
        <Tick
          setting="may_put_others_to_sleep"
          label={t`May put others to sleep`}
          hint={t`It has the tools that put other agents to sleep and wake them.`}
        />
      </Block>
      <Block title={t`Besides talk`}>
        <MindChoice />
        <HandPresets />
        <ToolsetGrant
          toolset="files"
          label={t`Works with files in its own folder`}
          hint={t`The folder lies on the relay’s machine and leads nowhere else. Off: it has no such tools; what lies there stays.`}
        />
        <HandLimit figure="workspace_megabytes" />
        <ToolsetGrant
          toolset="shell"
          label={t`Runs commands`}
          hint={t`In a sandbox on the relay’s machine that sees its own folder and nothing else.`}
        />
        <SandboxNote />
        <HandLimit figure="command_seconds" />
        <NetworkField />
        <ToolsetGrant
          toolset="web"
          label={t`Reads pages of the web`}
          hint={t`What a page says, as text: nobody is signed in, and nothing of your own network is reached. A page can try to talk an agent into something. Where you allow it, a model whose provider searches the web by itself does that too, for about a cent a search; nobody can be asked before each of those, so with “Asks me” there are none.`}
        />
        <ToolsetGrant
          toolset="attached"
          label={t`Uses MCP servers that you connected`}
          hint={t`Tools of MCP servers, as far as you have seen them.`}
        />
        <ToolsetGrant
          toolset="mind"
          label={t`Does what its own program asks for`}
          hint={t`Only where its mind is an ACP agent: what that wants to do by itself, such as changing a file or running a command. No sandbox of Roost’s is around it.`}
        />
        <SingleGrants />
        <Tick
          setting="may_propose_routines"
          label={t`May ask for routines`}
          hint={t`Its proposals wait in your inbox. Nothing runs before your yes.`}
        />
      </Block>
      {scope === 'agent' && (
        <Block title={t`Money`}>
          <MoneyLimit
            label={t`For its model requests`}
            hint={t`Over this, its requests are stopped before they are sent. The household’s own limit holds beside it.`}
            own={own.daily_budget_usd}
            effective={effective.daily_budget_usd}
            baseText={
              base.daily_budget_usd === null
                ? t`Default: none of its own.`
                : t`Default: as the household has it for each agent.`
            }
            max={BUDGET_BOUNDS.agent.max}
            save={(value) => change((coordination) => withCoordination(coordination, 'daily_budget_usd', value))}
          />
        </Block>
      )}
    </>
  );
}

/** The settings that only a household has. */
function HouseholdOnly({
  answer: { own, effective },
  limits,
}: {
  answer: { readonly own: HouseholdConfig; readonly effective: EffectiveConfig };
  limits: HouseholdLimits;
}) {
  const { own: coordination, effective: shown, change } = useLimits();
  const set = (edit: (own: HouseholdConfig) => HouseholdConfig) => changeHousehold(limits, edit);
  return (
    <>
      <Block title={t`Everybody together`}>
        <HouseholdFigures own={own} effective={effective} change={set} />
        <TimeZone
          own={own.time_zone}
          effective={effective.time_zone}
          save={(value) => set((config) => ({ ...config, time_zone: value }))}
        />
      </Block>
      <Block title={t`Money`}>
        <MoneyLimit
          label={t`For all model requests together`}
          hint={t`Over this, requests are stopped before they are sent, and you are told.`}
          own={own.daily_budget_usd}
          effective={effective.daily_budget_usd}
          baseText={t`Default: no limit.`}
          max={BUDGET_BOUNDS.household.max}
          save={(value) => set((config) => ({ ...config, daily_budget_usd: value }))}
        />
        <MoneyLimit
          label={t`For each agent`}
          hint={t`Unless an agent has a limit of its own.`}
          own={coordination.daily_budget_usd}
          effective={shown.daily_budget_usd}
          baseText={t`Default: no limit.`}
          max={BUDGET_BOUNDS.agent.max}
          save={(value) => change((held) => withCoordination(held, 'daily_budget_usd', value))}
        />
      </Block>
    </>
  );
}

function HouseholdSection() {
  const { limits } = useRoost();
  return (
    <QueryView query={limits.query} what={t`The limits`}>
      {(answer) => (
        <ShownLimits
          value={{
            scope: 'household',
            own: answer.own.coordination,
            effective: answer.effective.coordination,
            base: DEFAULT_COORDINATION,
            change: (edit) => changeCoordination(limits, edit),
          }}
        >
          <StopSwitch />
          <p className="settings-note">{t`What holds for every agent that has nothing of its own. A change holds at once.`}</p>
          <Fields
            timeZone={answer.effective.time_zone}
            turns={{
              own: answer.own.pulse_max_turns,
              effective: answer.effective.pulse_max_turns,
              base: PULSE_BOUNDS.pulse_max_turns.otherwise,
              save: (value) => changeHousehold(limits, (own) => ({ ...own, pulse_max_turns: value })),
            }}
          />
          <HouseholdOnly answer={answer} limits={limits} />
          <ForProjects own={answer.own} />
          <Yaml agentId={null} limits={limits} />
        </ShownLimits>
      )}
    </QueryView>
  );
}

const shownValue = (value: string | readonly string[]) => (typeof value === 'string' ? value : value.join(', '));

/** The settings for work on projects; nothing if there are none. */
function ForProjects({ own }: { own: Pick<AgentConfig, (typeof OF_PROJECTS)[number]> }) {
  const set = OF_PROJECTS.flatMap((key) => {
    const value = own[key];
    return value === undefined || value === null || value.length === 0 ? [] : [{ key, value: shownValue(value) }];
  });
  if (set.length === 0) return null;
  return (
    <Block title={t`For projects`}>
      <p className="setting-hint">{t`They apply to work on projects. You change them as YAML, below.`}</p>
      <dl className="for-projects">
        {set.map(({ key, value }) => (
          <div key={key}>
            <dt>
              <code>{key}</code>
            </dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
      </dl>
    </Block>
  );
}

function AgentSection({ agentId }: { agentId: AgentId }) {
  const roost = useRoost();
  const name = useNames()(agentId);
  const limits = reachQueries(roost).limits(agentId);
  return (
    <QueryView query={roost.limits.query} what={t`The household’s limits`}>
      {(household) => (
        <QueryView query={limits.query} what={t`The limits of ${name}`}>
          {({ own, effective }) => {
            const shown: Shown = {
              scope: 'agent',
              own: own.coordination,
              effective: effective.coordination,
              base: household.effective.coordination,
              change: (edit) => changeCoordination(limits, edit),
            };
            return (
              <ShownLimits value={shown}>
                {!effective.wakes_enabled && <StopSwitch />}
                <p className="settings-note">{t`What is not set for ${name} is as the household has it. A change holds at once.`}</p>
                <Fields
                  timeZone={effective.time_zone}
                  turns={{
                    own: own.pulse_max_turns,
                    effective: effective.pulse_max_turns,
                    base: household.effective.pulse_max_turns,
                    save: (value) => changeAgent(limits, (config) => ({ ...config, pulse_max_turns: value })),
                  }}
                />
                <ForProjects own={own} />
                <Yaml agentId={agentId} limits={limits} />
              </ShownLimits>
            );
          }}
        </QueryView>
      )}
    </QueryView>
  );
}

/** Limits on the cost of wakes: the household's, and those of one agent, which override them. */
export function LimitsSection({ agentId }: { agentId: AgentId | null }) {
  return (
    <div className="limits">
      <AgentSelect label={t`Limits of`} everybody={t`the household`} agentId={agentId} path={PATHS.limits} />
      {agentId === null ? <HouseholdSection /> : <AgentSection agentId={agentId} />}
    </div>
  );
}
