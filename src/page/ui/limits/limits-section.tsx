import { type ReactNode, useId, useState } from 'react';
import { BUDGET_BOUNDS, PULSE_BOUNDS } from '../../../shared/domain/guardrails.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import {
  DEFAULT_COORDINATION,
  OF_PROJECTS,
  type AgentConfig,
  type EffectiveConfig,
  type HouseholdConfig,
} from '../../../shared/protocol/config.ts';
import { withCoordination, type HouseholdLimits } from '../../state/limits.ts';
import { reachQueries } from '../../state/reach-queries.ts';
import { useRoost } from '../context.tsx';
import { AgentSelect } from '../parts/agent-select.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { PATHS } from '../routes.ts';
import { useNames } from '../use-names.ts';
import { StopSwitch } from '../wakes/stop-switch.tsx';
import { BlackoutFields } from './blackouts.tsx';
import { SleepAndWake, Tick } from './choices.tsx';
import { HandPresets, SandboxNote, SingleGrants, ToolsetGrant } from './grants.tsx';
import {
  baseName,
  changeAgent,
  changeCoordination,
  changeHousehold,
  inheritedText,
  ShownLimits,
  useLimits,
  type Shown,
} from './context.tsx';
import { GuardrailFields } from './guardrails.tsx';
import { HandLimit } from './hand-limits.tsx';
import { MindChoice } from './mind-choice.tsx';
import { HouseholdFigures } from './household-figures.tsx';
import { NetworkField } from './network.tsx';
import { Presets } from './presets.tsx';
import { TimeZone } from './time-zone.tsx';
import { Yaml } from './yaml.tsx';
import './limits.css';
import { budgetText, parseUsd } from '../text/money.ts';
import { NumberLimit, SettingFrame, useSaved } from './setting.tsx';
import { keyOf } from '../parts/keys.ts';

interface Props {
  readonly label: string;
  readonly hint: string;
  readonly own: number | null | undefined;
  readonly effective: number | null;
  readonly baseText: string;
  readonly max: number;
  readonly save: (value: number | null | undefined) => Promise<string | null>;
}

/** US dollars a day; empty: no limit. Saved when one leaves the field, or on Enter. */
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
  /** What would hold if nothing were set here. */
  readonly base: number;
  /** Null where it was taken, else why not. */
  readonly save: (value: number | undefined) => Promise<string | null>;
}

/** What a household and an agent both have. `turns`: model requests of a run. */
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
          hint={t`What it asks for stands under Night; nothing of it runs before you have said yes.`}
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

/** What only a household has. */
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
          <Yaml agentId={null} limits={limits} />
        </ShownLimits>
      )}
    </QueryView>
  );
}

const shownValue = (value: string | readonly string[]) => (typeof value === 'string' ? value : value.join(', '));

/** What was set for work on projects; nothing where nothing was. */
function ForProjects({ own }: { own: AgentConfig }) {
  const set = OF_PROJECTS.flatMap((key) => {
    const value = own[key];
    return value === undefined || value === null || value.length === 0 ? [] : [{ key, value: shownValue(value) }];
  });
  if (set.length === 0) return null;
  return (
    <Block title={t`For projects`}>
      <p className="setting-hint">{t`Used once this agent has a project.`}</p>
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

/** What waking may cost: the household's limits, and those of each agent over them. */
export function LimitsSection({ agentId }: { agentId: AgentId | null }) {
  return (
    <div className="limits">
      <AgentSelect label={t`Limits of`} everybody={t`the household`} agentId={agentId} path={PATHS.limits} />
      {agentId === null ? <HouseholdSection /> : <AgentSection agentId={agentId} />}
    </div>
  );
}
