/** Settings that are ticks: on or off, and lists of happenings. */
import { useId } from 'react';
import { TEAM_EVENTS, type TeamEvent } from '../../domain/guardrails.ts';
import { withCoordination } from '../../state/limits.ts';
import { baseName, useLimits } from './context.tsx';
import { SettingFrame, useSaved } from './setting.tsx';

/** On or off, over what is inherited. */
export function Tick({
  setting,
  label,
  hint,
}: {
  setting: 'wakes_enabled' | 'may_put_others_to_sleep' | 'may_propose_routines';
  label: string;
  hint: string;
}) {
  const id = useId();
  const { own, effective, base, scope, change } = useLimits();
  const saved = useSaved<boolean>({
    own: own[setting],
    save: (value) => change((coordination) => withCoordination(coordination, setting, value)),
  });
  return (
    <SettingFrame
      legend={label}
      hint={hint}
      saved={saved}
      describedBy={id}
      inherited={{
        text: own[setting] === undefined ? `As ${baseName(scope)}.` : '',
        back: own[setting] === undefined ? null : () => void saved.set(undefined),
        backLabel: `Set back to ${baseName(scope)}, ${base[setting] ? 'on' : 'off'}`,
      }}
    >
      <label className="tick-line">
        <input
          type="checkbox"
          checked={saved.saving ? (saved.saving.value ?? base[setting]) : effective[setting]}
          aria-describedby={`${id}-hint ${id}-from ${id}-state`}
          onChange={(event) => void saved.set(event.target.checked)}
        />
        {label}
      </label>
    </SettingFrame>
  );
}

/** A toolset that an agent has or has not, over what is inherited. */
export function ToolsetTick({ toolset, label, hint }: { toolset: 'files'; label: string; hint: string }) {
  const id = useId();
  const { own, effective, base, scope, change } = useLimits();
  const set = own.toolsets?.[toolset];
  const saved = useSaved<'off' | 'allow'>({
    own: set,
    save: (value) =>
      change((coordination) => withCoordination(coordination, 'toolsets', value && { [toolset]: value })),
  });
  return (
    <SettingFrame
      legend={label}
      hint={hint}
      saved={saved}
      describedBy={id}
      inherited={{
        text: set === undefined ? `As ${baseName(scope)}.` : '',
        back: set === undefined ? null : () => void saved.set(undefined),
        backLabel: `Set back to ${baseName(scope)}, ${base.toolsets[toolset] === 'allow' ? 'on' : 'off'}`,
      }}
    >
      <label className="tick-line">
        <input
          type="checkbox"
          checked={
            (saved.saving ? (saved.saving.value ?? base.toolsets[toolset]) : effective.toolsets[toolset]) === 'allow'
          }
          aria-describedby={`${id}-hint ${id}-from ${id}-state`}
          onChange={(event) => void saved.set(event.target.checked ? 'allow' : 'off')}
        />
        {label}
      </label>
    </SettingFrame>
  );
}

const EVENT_WORDS: Record<TeamEvent, string> = {
  agent_started: 'When it comes into a session',
  removed_from_last_thread: 'When it is taken out of its last thread',
  last_thread_closed: 'When its last thread is closed',
  added_to_any_thread: 'When it is taken into a thread',
  added_to_thread_first_time: 'When it is taken into a thread it was never in',
  mentioned: 'When it is mentioned in a thread',
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
        text: own === undefined ? `As ${baseName(scope)}.` : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: `Set back to ${baseName(scope)}`,
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

/** What puts an agent of a running session to sleep by itself, and what wakes it. */
export function SleepAndWake() {
  return (
    <>
      <EventList
        setting="sleep_events"
        legend="Sleeps by itself"
        hint="It stays in the session, keeps what was said, and costs nothing meanwhile."
      />
      <EventList
        setting="wake_events"
        legend="Wakes by itself"
        hint="Through the same checks as every wake. Where one happening stands in both lists, it wakes."
      />
    </>
  );
}
