/** Settings that are ticks: on or off, and lists of happenings. */
import { TEAM_EVENTS, type TeamEvent } from '../../../shared/domain/guardrails.ts';
import { t } from '../../language/t.ts';
import { withCoordination } from '../../state/limits.ts';
import { baseName, inheritedText, useLimits } from './context.tsx';
import { Inherited, type InheritedProps } from './inherited.tsx';
import { SettingFrame, useSaved } from './setting.tsx';

/** On or off, over what is inherited. */
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

/** What puts an agent of a running session to sleep by itself, and what wakes it. */
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
