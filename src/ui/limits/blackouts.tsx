import { useId, useState } from 'react';
import { isClockTime, type Blackout } from '../../domain/guardrails.ts';
import { withCoordination, type Coordination } from '../../state/limits.ts';
import { CloseIcon } from '../parts/icons.tsx';
import { baseName, useLimits } from './context.tsx';
import { SettingFrame, useSaved } from './setting.tsx';

type Blackouts = NonNullable<Coordination['blackouts']>;

/** From Monday on, as weeks are read here; 0 is Sunday. */
const DAYS = [1, 2, 3, 4, 5, 6, 0] as const;
/** Any week will do: 1 November 2026 is a Sunday. */
const dayTitle = (day: number, length: 'long' | 'short') => new Intl.DateTimeFormat('en-GB', { weekday: length, timeZone: 'UTC' }).format(Date.UTC(2026, 10, 1 + day));

const NIGHT: Blackouts[number] = { label: 'Night', start_time: '22:00', end_time: '07:00', days: [] };
const MOST = 20;

const hoursText = ({ start_time, end_time }: Blackout) => (end_time <= start_time ? 'Ends on the next day.' : '');

function Row({ blackout, at, onChange, onRemove }: { blackout: Blackouts[number]; at: number; onChange: (next: Blackouts[number]) => void; onRemove: () => void }) {
  const id = useId();
  // The name is saved when one leaves the field.
  const [label, setLabel] = useState<string | null>(null);
  const time = (key: 'start_time' | 'end_time', title: string) => (
    <label>
      {title}
      <input
        type="time"
        className="field"
        value={blackout[key]}
        required
        onChange={(event) => {
          if (isClockTime(event.target.value)) onChange({ ...blackout, [key]: event.target.value });
        }}
      />
    </label>
  );
  const every = blackout.days.length === 0;
  const toggle = (day: number) => {
    const held: readonly number[] = every ? DAYS : blackout.days;
    const next = held.includes(day) ? held.filter((each) => each !== day) : [...held, day];
    // No day at all would never hold: the last one stays. All of them are said as none.
    if (next.length > 0) onChange({ ...blackout, days: next.length === DAYS.length ? [] : [...next].sort() });
  };
  return (
    <li className="blackout" aria-label={`Quiet hours ${at + 1}`}>
      <div className="blackout-row">
        <label className="blackout-name">
          Name
          <input
            className="field"
            value={label ?? blackout.label}
            maxLength={80}
            placeholder="None"
            onChange={(event) => setLabel(event.target.value)}
            onBlur={() => {
              if (label !== null && label !== blackout.label) onChange({ ...blackout, label });
              setLabel(null);
            }}
          />
        </label>
        {time('start_time', 'From')}
        {time('end_time', 'Until')}
        <button type="button" className="icon-button" aria-label={`Remove quiet hours ${at + 1}`} onClick={onRemove}>
          <CloseIcon />
        </button>
      </div>
      <div className="blackout-days" role="group" aria-label="Days on which it begins" aria-describedby={id}>
        {DAYS.map((day) => (
          <button key={day} type="button" className="day" aria-pressed={every || blackout.days.includes(day)} aria-label={dayTitle(day, 'long')} onClick={() => toggle(day)}>
            {dayTitle(day, 'short')}
          </button>
        ))}
        <span id={id} className="setting-hint">
          {hoursText(blackout)}
        </span>
      </div>
    </li>
  );
}

/** Hours in which an agent is not woken, but by the person. */
export function BlackoutFields({ timeZone }: { timeZone: string }) {
  const { own, effective, scope, change } = useLimits();
  const saved = useSaved<Blackouts>({ own: own.blackouts, save: (value) => change((coordination) => withCoordination(coordination, 'blackouts', value)) });
  const list = effective.blackouts;
  const inherits = own.blackouts === undefined;
  return (
    <SettingFrame
      legend="Hours in which it is not woken"
      hint={`Nothing but you wakes it then. By the clock in ${timeZone}.`}
      group
      saved={saved}
      describedBy="blackouts"
      inherited={{
        text: inherits ? (list.length === 0 ? `None, as ${baseName(scope)}.` : `As ${baseName(scope)}; a change here is for this agent alone.`) : '',
        back: inherits ? null : () => void saved.set(undefined),
        backLabel: `Set back to ${baseName(scope)}`,
      }}
    >
      <ul className="blackouts">
        {list.map((blackout, at) => (
          <Row
            key={at}
            blackout={blackout}
            at={at}
            onChange={(next) => void saved.set(list.map((each, i) => (i === at ? next : each)))}
            onRemove={() => void saved.set(list.filter((_, i) => i !== at))}
          />
        ))}
      </ul>
      {list.length < MOST && (
        <button type="button" className="ghost" onClick={() => void saved.set([...list, NIGHT])}>
          Add quiet hours
        </button>
      )}
    </SettingFrame>
  );
}
