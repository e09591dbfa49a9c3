/**
 * Shared parts of the limits: fields that save on change, show inherited values, and can be undone.
 */
import { createContext, type ReactNode, use, useId, useState } from 'react';
import type { AgentConfig, HouseholdConfig } from '../../../shared/protocol/config.ts';
import { TEAM_EVENTS, type TeamEvent } from '../../../shared/domain/guardrails.ts';
import { t } from '../../language/t.ts';
import { problemText } from '../../state/ports.ts';
import {
  type AgentLimits,
  type Coordination,
  type EffectiveCoordination,
  type HouseholdLimits,
  withCoordination,
} from '../../state/relay-info.ts';
import { count } from '../text/sizes.ts';
import { keyOf } from '../design/keys.ts';

// The limits on screen, for the fields that show and change them.

export interface Shown {
  readonly scope: 'household' | 'agent';
  /** Only what was set here. */
  readonly own: Coordination;
  /** The effective values. */
  readonly effective: EffectiveCoordination;
  /** The inherited values: the household's, or Roost's own. */
  readonly base: EffectiveCoordination;
  /** Returns null on success, otherwise the reason. */
  change(edit: (own: Coordination) => Coordination): Promise<string | null>;
}

export const ShownLimits = createContext<Shown | null>(null);

export function useLimits(): Shown {
  const shown = use(ShownLimits);
  if (!shown) throw new Error('This field stands outside of ShownLimits');
  return shown;
}

/** The source of inherited values. */
export const baseName = (scope: Shown['scope']): string => (scope === 'agent' ? t`the household’s` : t`the default`);
/** Says that the value is inherited, as a sentence. */
export const inheritedText = (scope: Shown['scope']): string =>
  scope === 'agent' ? t`Default: as the household has it.` : t`Default.`;

export async function changeHousehold(
  limits: HouseholdLimits,
  edit: (own: HouseholdConfig) => HouseholdConfig,
): Promise<string | null> {
  const result = await limits.change(edit);
  return result.ok ? null : problemText(result.problem);
}

export async function changeAgent(
  limits: AgentLimits,
  edit: (own: AgentConfig) => AgentConfig,
): Promise<string | null> {
  const result = await limits.change(edit);
  return result.ok ? null : problemText(result.problem);
}

export async function changeCoordination(
  limits: HouseholdLimits | AgentLimits,
  edit: (own: Coordination) => Coordination,
): Promise<string | null> {
  // Both kinds have it under the same name. The rest of them stays.
  const into = <Own extends { coordination: Coordination }>(own: Own): Own => ({
    ...own,
    coordination: edit(own.coordination),
  });
  const result = await limits.change(into);
  return result.ok ? null : problemText(result.problem);
}

interface Saving<Value> {
  /** The value set here; undefined: inherited. */
  readonly own: Value | undefined;
  /** Returns null on success, otherwise the reason. */
  readonly save: (value: Value | undefined) => Promise<string | null>;
}

interface Saved<Value> {
  readonly state: 'idle' | 'saving' | 'saved';
  readonly failed: string | null;
  /** The value being saved. It is shown at once, and reverted if it is refused. */
  readonly saving: { readonly value: Value | undefined } | null;
  readonly set: (value: Value | undefined) => Promise<void>;
  /** Restores the value before the last change; null: there was none. */
  readonly undo: (() => Promise<void>) | null;
}

/** A setting that is saved on every change and can be undone. */
export function useSaved<Value>({ own, save }: Saving<Value>): Saved<Value> {
  const [state, setState] = useState<'idle' | 'saving' | 'saved'>('idle');
  const [failed, setFailed] = useState<string | null>(null);
  const [saving, setSaving] = useState<{ readonly value: Value | undefined } | null>(null);
  const [before, setBefore] = useState<{ readonly value: Value | undefined } | null>(null);
  const store = async (value: Value | undefined, next: { readonly value: Value | undefined } | null) => {
    setState('saving');
    setSaving({ value });
    const problem = await save(value);
    setSaving(null);
    setFailed(problem);
    setState(problem === null && next ? 'saved' : 'idle');
    if (problem === null) setBefore(next);
  };
  return {
    state,
    failed,
    saving,
    set: (value) => store(value, { value: own }),
    undo: before ? () => store(before.value, null) : null,
  };
}

interface FrameProps {
  readonly legend: string;
  readonly hint?: ReactNode;
  readonly children: ReactNode;
  readonly saved: Pick<Saved<unknown>, 'state' | 'failed' | 'undo'>;
  /** The error of the input, or null. */
  readonly wrong?: string | null;
  /** Describes the inherited value. `back` removes the value set here, if there is one. */
  readonly inherited: { readonly text: string; readonly back: (() => void) | null; readonly backLabel: string };
  /** One field with a label of its own; otherwise a group of fields. */
  readonly group?: boolean;
  readonly describedBy: string;
}

/** The frame of a setting: its purpose, whether it is inherited, and the outcome of a change. */
export function SettingFrame({
  legend,
  hint,
  children,
  saved,
  wrong = null,
  inherited,
  group = false,
  describedBy,
}: FrameProps) {
  const problem = wrong ?? (saved.failed === null ? null : t`This could not be saved: ${saved.failed}`);
  const said =
    problem ?? (saved.state === 'saving' ? t`Saving…` : saved.state === 'saved' ? t`Saved. It applies now.` : null);
  const inside = (
    <>
      {children}
      {hint !== undefined && (
        <p id={`${describedBy}-hint`} className="setting-hint">
          {hint}
        </p>
      )}
      <p className="limit-from">
        <span id={`${describedBy}-from`}>{inherited.text}</span>
        {inherited.back && (
          <button type="button" className="link-button" onClick={inherited.back}>
            {inherited.backLabel}
          </button>
        )}
      </p>
      <p id={`${describedBy}-state`} className="setting-state" role="status" data-wrong={problem !== null}>
        {said !== null && <span>{said}</span>}
        {problem === null && saved.state === 'saved' && saved.undo && (
          <button type="button" className="link-button" onClick={() => void saved.undo?.()}>{t`Undo`}</button>
        )}
      </p>
    </>
  );
  return group ? (
    <fieldset className="limit limit-group">
      <legend>{legend}</legend>
      {inside}
    </fieldset>
  ) : (
    <div className="limit">{inside}</div>
  );
}

interface NumberProps extends Saving<number> {
  readonly label: string;
  readonly hint: ReactNode;
  readonly unit: string;
  readonly effective: number;
  readonly base: number;
  readonly baseName: string;
  /** Says that the value is inherited, as a sentence. */
  readonly inherited: string;
  readonly min: number;
  readonly max: number;
}

/** A whole number with bounds. Saved when the field loses the focus, or on Enter. */
export function NumberLimit({
  label,
  hint,
  unit,
  own,
  effective,
  base,
  baseName,
  inherited,
  min,
  max,
  save,
}: NumberProps) {
  const id = useId();
  const saved = useSaved({ own, save });
  // null: the saved value, which another tab may change.
  const [draft, setDraft] = useState<string | null>(null);
  const value = draft === null ? effective : draft.trim() === '' ? Number.NaN : Number(draft);
  const fits = Number.isInteger(value) && value >= min && value <= max;
  const commit = () => {
    if (draft === null || !fits) return;
    if (value === effective) setDraft(null);
    else void saved.set(value).then(() => setDraft(null));
  };
  return (
    <SettingFrame
      legend={label}
      hint={hint}
      saved={saved}
      wrong={fits ? null : t`Give a whole number from ${min} to ${max}.`}
      describedBy={id}
      inherited={{
        text: own === undefined ? inherited : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: t`Set back to ${baseName}, ${base}`,
      }}
    >
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">
        <input
          id={id}
          className="field field-number"
          inputMode="numeric"
          autoComplete="off"
          value={draft ?? String(effective)}
          aria-invalid={!fits}
          aria-describedby={`${id}-hint ${id}-from ${id}-state`}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (keyOf(event) === 'Enter') commit();
            if (keyOf(event) === 'Escape') setDraft(null);
          }}
        />
        <span className="setting-unit">{t`${unit}, ${min} to ${count(max)}`}</span>
      </div>
    </SettingFrame>
  );
}

export interface InheritedProps<Value> {
  readonly label: string;
  readonly hint: string;
  /** Undefined: inherited. */
  readonly own: Value | undefined;
  readonly effective: Value;
  readonly base: Value;
  /** Returns null on success, otherwise the reason. */
  readonly save: (value: Value | undefined) => Promise<string | null>;
  /** The value within a sentence. */
  readonly wordOf: (value: Value) => string;
  readonly children: (field: {
    readonly id: string;
    /** Ids of the elements that describe it. */
    readonly describedBy: string;
    readonly value: Value;
    readonly set: (value: Value | undefined) => void;
  }) => ReactNode;
}

/** A setting that overrides an inherited value. It is saved on change and can be reset. */
export function Inherited<Value>({ label, hint, own, effective, base, save, wordOf, children }: InheritedProps<Value>) {
  const id = useId();
  const { scope } = useLimits();
  const saved = useSaved<Value>({ own, save });
  return (
    <SettingFrame
      legend={label}
      hint={hint}
      saved={saved}
      describedBy={id}
      inherited={{
        text: own === undefined ? inheritedText(scope) : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: t`Set back to ${baseName(scope)}, ${wordOf(base)}`,
      }}
    >
      {children({
        id,
        describedBy: `${id}-hint ${id}-from ${id}-state`,
        value: saved.saving ? (saved.saving.value ?? base) : effective,
        set: (value) => void saved.set(value),
      })}
    </SettingFrame>
  );
}

// Settings with checkboxes: on or off, and lists of events.

/** On or off, overriding an inherited value. */
function OnOff(props: Omit<InheritedProps<boolean>, 'wordOf' | 'children'>) {
  return (
    <Inherited<boolean> {...props} wordOf={(on) => (on ? t`on` : t`off`)}>
      {({ describedBy, value, set }) => (
        <label className="tick-line">
          <input
            type="checkbox"
            checked={value}
            aria-describedby={describedBy}
            onChange={(event) => set(event.target.checked)}
          />
          {props.label}
        </label>
      )}
    </Inherited>
  );
}

interface TickProps {
  readonly setting: 'wakes_enabled' | 'may_put_others_to_sleep' | 'may_propose_routines' | 'shell_without_sandbox';
  readonly label: string;
  readonly hint: string;
}

export function Tick({ setting, ...words }: TickProps) {
  const { own, effective, base, change } = useLimits();
  return (
    <OnOff
      {...words}
      own={own[setting]}
      effective={effective[setting]}
      base={base[setting]}
      save={(value) => change((coordination) => withCoordination(coordination, setting, value))}
    />
  );
}

const EVENT_WORDS: Record<TeamEvent, string> = {
  agent_started: t`When it comes into a session`,
  removed_from_last_thread: t`When it is taken out of its last thread`,
  last_thread_closed: t`When its last thread is closed`,
  added_to_any_thread: t`When it is taken into a thread`,
  added_to_thread_first_time: t`When it is taken into its first thread of a session`,
  mentioned: t`When it is mentioned in a thread`,
};

interface ListProps {
  readonly setting: 'sleep_events' | 'wake_events';
  readonly legend: string;
  readonly hint: string;
}

function EventList({ setting, legend, hint }: ListProps) {
  const limits = useLimits();
  const { scope, change } = limits;
  const own = limits.own[setting];
  const saved = useSaved<TeamEvent[]>({
    own,
    save: (value) => change((coordination) => withCoordination(coordination, setting, value)),
  });
  const effective = saved.saving ? (saved.saving.value ?? limits.base[setting]) : limits.effective[setting];
  return (
    <SettingFrame
      legend={legend}
      hint={hint}
      group
      saved={saved}
      describedBy={setting}
      inherited={{
        text: own === undefined ? inheritedText(scope) : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: t`Set back to ${baseName(scope)}`,
      }}
    >
      {TEAM_EVENTS.map((item) => (
        <label key={item} className="tick-line">
          <input
            type="checkbox"
            checked={effective.includes(item)}
            onChange={(event) =>
              void saved.set(
                TEAM_EVENTS.filter((each) => (each === item ? event.target.checked : effective.includes(each))),
              )
            }
          />
          {EVENT_WORDS[item]}
        </label>
      ))}
    </SettingFrame>
  );
}

/** Which events put an agent of a running session to sleep, and which wake it. */
export function SleepAndWake() {
  return (
    <>
      <EventList
        setting="sleep_events"
        legend={t`Sleeps by itself`}
        hint={t`It stays in the session, keeps what was said, and costs nothing meanwhile.`}
      />
      <EventList
        setting="wake_events"
        legend={t`Wakes by itself`}
        hint={t`Through the same checks as every wake. Where one happening stands in both lists, it wakes.`}
      />
    </>
  );
}
