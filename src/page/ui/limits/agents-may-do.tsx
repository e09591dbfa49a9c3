/** Settings: how far agents may go, how lively they are, quiet hours and budget. */
import { Link } from 'wouter';
import { useId } from 'react';
import { BUDGET_BOUNDS, isTimeZone, PRESETS as PACES } from '../../../shared/domain/guardrails.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { presetOf, PRESETS, singlesBeside } from '../../../shared/domain/toolsets.ts';
import type { EffectiveConfig, HouseholdConfig } from '../../../shared/protocol/config.ts';
import { retold, t } from '../../language/t.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { wakeQueries } from '../../state/wakes.ts';
import { withCoordination, withGuardrails } from '../../state/relay-info.ts';
import type { Done } from '../../state/actions/parts.ts';
import { useRoost } from '../context.tsx';
import { Field, useDraft } from '../design/field.tsx';
import { ChoiceCards } from '../design/one-of.tsx';
import { useQuery } from '../hooks.ts';
import { AgentSelect } from '../parts/choices.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { useTold } from '../settings/told.ts';
import { budgetText, parseUsd } from '../text/money.ts';
import { StopSwitch } from '../wakes/stop-switch.tsx';
import { BlackoutFields } from './blackouts.tsx';
import { changeCoordination, changeLimits, ShownLimits, useChangeLimits, useLimits } from './limits.ts';
import './limits.css';

const REACHES = {
  talks: [t`Talks only`, t`No files, no commands`],
  folder: [t`Works in its folder`, t`Reads and writes files there`],
  asks: [t`Asks before commands`, t`Files freely, each command with your yes`],
  sandbox: [t`Works freely in its sandbox`, t`Files and commands, without asking`],
} as const;
type Reach = keyof typeof REACHES;
const isReach = (id: string): id is Reach => Object.hasOwn(REACHES, id);

/** Files and commands as one choice. */
function HowFar() {
  const { effective } = useLimits();
  const change = useChangeLimits();
  const held = presetOf(effective)?.id ?? '';
  const label = t`How far it may go`;
  return (
    <ChoiceCards<Reach>
      legend={label}
      options={PRESETS.flatMap(({ id }) =>
        isReach(id) ? [{ value: id, title: REACHES[id][0], about: REACHES[id][1] }] : [],
      )}
      value={isReach(held) ? held : undefined}
      onChange={(id) =>
        void change(label, (own) => {
          const { files, shell } = PRESETS.find((preset) => preset.id === id)?.toolsets ?? {};
          const tools = singlesBeside(own.tools, ['files', 'shell']);
          return withCoordination(withCoordination(own, 'tools', tools), 'toolsets', { ...own.toolsets, files, shell });
        })
      }
    >
      <SandboxNote />
    </ChoiceCards>
  );
}

const NO_SANDBOX = t`Its commands can read, change and delete everything that the relay’s user can, and reach any network. That includes keys, the relay’s store and other agents’ folders. Let it ask for each command.`;

/** Why there is no sandbox, and what it does not restrict where there is one. */
function SandboxNote() {
  const state = useQuery(approvalsOf(useRoost()).approvals);
  const { agentId, own, effective } = useLimits();
  const change = useChangeLimits();
  const { why = null, insist = false, watched } = state.kind === 'ready' ? state.value.sandbox : {};
  if (why === null) return watched === undefined ? null : <p className="setting-hint">{retold(watched)}</p>;
  const way = insist
    ? t`To run commands without a sandbox, choose an agent above.`
    : t`To run commands without a sandbox, start the relay with --scripts.`;
  const label = t`Runs commands without a sandbox`;
  return (
    <>
      <p className="setting-hint">{agentId !== null && insist ? retold(why) : `${retold(why)} ${way}`}</p>
      {agentId !== null && (insist || own.shell_without_sandbox === true) && (
        <label className="tick-line">
          <input
            type="checkbox"
            checked={effective.shell_without_sandbox}
            onChange={({ target: { checked } }) =>
              void change(label, (before) => withCoordination(before, 'shell_without_sandbox', checked))
            }
          />
          <span>
            {label}
            <small>{NO_SANDBOX}</small>
          </span>
        </label>
      )}
    </>
  );
}

type Pace = keyof typeof PACES | 'inherit';
const PACE_TITLES: readonly (readonly [keyof typeof PACES, string])[] = [
  ['careful', t`Careful`],
  ['normal', t`Normal`],
  ['brisk', t`Brisk`],
];
const pause = (seconds: number) => (seconds >= 120 ? t`${Math.round(seconds / 60)} min` : `${seconds} s`);
const about = ({
  max_wakes_per_day: most,
  cooldown_seconds: apart,
}: {
  max_wakes_per_day: number;
  cooldown_seconds: number;
}) => t`${most} wakes a day, ${pause(apart)} apart`;

/** Wakes per day and the pause between them, as one choice. */
function HowLively({ household }: { household: EffectiveConfig['coordination'] }) {
  const { agentId, own, effective } = useLimits();
  const change = useChangeLimits();
  const label = t`How lively`;
  const guardrails = effective.wake_guardrails;
  const { max_wakes_per_day: ownMost, cooldown_seconds: ownPause } = own.wake_guardrails ?? {};
  const inherits = agentId !== null && ownMost === undefined && ownPause === undefined;
  const pace = PACE_TITLES.find(
    ([name]) =>
      PACES[name].max_wakes_per_day === guardrails.max_wakes_per_day &&
      PACES[name].cooldown_seconds === guardrails.cooldown_seconds,
  )?.[0];
  const paces = PACE_TITLES.map(([value, title]) => ({ value, title, about: about(PACES[value]) }));
  return (
    <ChoiceCards<Pace>
      legend={label}
      options={[
        ...(agentId === null
          ? []
          : [{ value: 'inherit' as const, title: t`As everybody`, about: about(household.wake_guardrails) }]),
        ...paces,
      ]}
      value={inherits ? 'inherit' : pace}
      onChange={(name) => {
        const figures =
          name === 'inherit' ? { max_wakes_per_day: undefined, cooldown_seconds: undefined } : PACES[name];
        void change(label, (before) => withGuardrails(before, figures));
      }}
    >
      {pace === undefined && !inherits && <p className="setting-hint">{t`Now: ${about(guardrails)}.`}</p>}
    </ChoiceCards>
  );
}

interface MoneyProps {
  readonly label: string;
  /** Null: no limit. Undefined: nothing is set here. */
  readonly own: number | null | undefined;
  /** Applies while nothing is set; null: no limit. */
  readonly under: number | null;
  readonly max: number;
  readonly save: (usd: number | null | undefined) => Promise<Done>;
}

/** US dollars a day; empty: no limit of its own. */
function MoneyField({ label, own, under, max, save }: MoneyProps) {
  const told = useTold();
  const { props, isWrong } = useDraft({
    text: own === null || own === undefined ? '' : String(own),
    parse: (text) => parseUsd(text, max),
    onSave: (usd) => told({ label, save: () => save(usd ?? undefined), undo: () => save(own) }),
  });
  return (
    <Field label={label} wrong={isWrong ? t`Give an amount from 0 to ${budgetText(max)}, or nothing.` : null}>
      {(given) => (
        <div className="setting-row">
          <span className="setting-unit" aria-hidden="true">
            $
          </span>
          <input
            {...props}
            {...given}
            className="field field-number"
            inputMode="decimal"
            placeholder={under === null ? t`no limit` : String(under)}
          />
        </div>
      )}
    </Field>
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
  save: (zone: string | undefined) => Promise<Done>;
}) {
  const told = useTold();
  const list = useId();
  const label = t`Time zone`;
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const set = (zone: string) => told({ label, save: () => save(zone), undo: () => save(own) });
  const { props, isWrong, isChanged } = useDraft({
    text: effective,
    parse: (text) => (isTimeZone(text.trim()) ? text.trim() : undefined),
    onSave: set,
  });
  return (
    <Field label={label} wrong={isWrong ? t`Give the name of a time zone, such as Europe/Berlin.` : null}>
      {(given) => (
        <div className="setting-row">
          <input {...props} {...given} className="field" list={list} />
          <datalist id={list}>
            {Intl.supportedValuesOf('timeZone').map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          {effective !== here && !isChanged && (
            <button type="button" className="ghost" onClick={() => void set(here)}>
              {t`Take ${here}`}
            </button>
          )}
        </div>
      )}
    </Field>
  );
}

function HouseholdPage() {
  const { limits } = useRoost();
  const set = (edit: (own: HouseholdConfig) => HouseholdConfig) => changeLimits(limits, edit);
  return (
    <QueryView query={limits.query}>
      {({ own, effective }) => (
        <ShownLimits
          value={{
            agentId: null,
            own: own.coordination,
            effective: effective.coordination,
            change: (edit) => changeCoordination(limits, edit),
          }}
        >
          <HowFar />
          <HowLively household={effective.coordination} />
          <BlackoutFields timeZone={effective.time_zone} />
          <TimeZone
            own={own.time_zone}
            effective={effective.time_zone}
            save={(zone) => set((config) => ({ ...config, time_zone: zone }))}
          />
          <MoneyField
            label={t`Budget a day, all agents together`}
            own={own.daily_budget_usd}
            under={null}
            max={BUDGET_BOUNDS.household.max}
            save={(usd) => set((config) => ({ ...config, daily_budget_usd: usd }))}
          />
          <MoneyField
            label={t`Budget a day, each agent`}
            own={own.coordination.daily_budget_usd}
            under={null}
            max={BUDGET_BOUNDS.agent.max}
            save={(usd) => changeCoordination(limits, (held) => withCoordination(held, 'daily_budget_usd', usd))}
          />
          <StopSwitch />
        </ShownLimits>
      )}
    </QueryView>
  );
}

function AgentPage({ agentId }: { agentId: AgentId }) {
  const roost = useRoost();
  const limits = wakeQueries(roost).limits(agentId);
  return (
    <QueryView query={roost.limits.query}>
      {({ effective: household }) => (
        <QueryView query={limits.query}>
          {({ own, effective }) => (
            <ShownLimits
              value={{
                agentId,
                own: own.coordination,
                effective: effective.coordination,
                change: (edit) => changeCoordination(limits, edit),
              }}
            >
              {!effective.wakes_enabled && <StopSwitch />}
              <HowFar />
              <HowLively household={household.coordination} />
              <BlackoutFields timeZone={effective.time_zone} />
              <MoneyField
                label={t`Budget a day`}
                own={own.coordination.daily_budget_usd}
                under={household.coordination.daily_budget_usd}
                max={BUDGET_BOUNDS.agent.max}
                save={(usd) => changeCoordination(limits, (held) => withCoordination(held, 'daily_budget_usd', usd))}
              />
            </ShownLimits>
          )}
        </QueryView>
      )}
    </QueryView>
  );
}

/** `agentId` null: what everybody may do, unless an agent has settings of its own. */
export function AgentsMayDo({ agentId }: { agentId: AgentId | null }) {
  return (
    <>
      <div className="under-6 cluster apart gap-5">
        <AgentSelect label={t`Settings`} everybody={t`Everybody`} agentId={agentId} path={PATHS.limits} />
        <Link href={PATHS.advanced(agentId)}>{t`Advanced`}</Link>
      </div>
      {agentId === null ? <HouseholdPage /> : <AgentPage agentId={agentId} />}
    </>
  );
}
