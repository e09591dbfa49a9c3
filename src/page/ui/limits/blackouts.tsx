/** Limits section: blackouts, hours in which only the person can wake an agent. */
import { useId, useState } from 'react';
import { isClockTime, readDateTime, type RecurringBlackout } from '../../../shared/domain/guardrails.ts';
import { t } from '../../language/t.ts';
import { type Coordination, withCoordination } from '../../state/relay-info.ts';
import { CloseIcon } from '../design/icons.tsx';
import { dayTitle, WEEK } from '../schedule/words.ts';
import { useChangeLimits, useLimits } from './limits.ts';

type Blackouts = NonNullable<Coordination['blackouts']>;
type OneOff = Extract<Blackouts[number], { type: 'one_off' }>;
type Recurring = Exclude<Blackouts[number], OneOff>;

const NIGHT: Recurring = { label: t`Night`, start_time: '22:00', end_time: '07:00', days: [] };
const MOST = 20;

const hoursText = ({ start_time, end_time }: RecurringBlackout) =>
  end_time <= start_time ? t`Ends on the next day.` : '';

/** A default to edit: the night after next. `now`: ms since the epoch. */
function tomorrow(now: number): OneOff {
  const day = (after: number) => new Date(now + after * 86_400_000).toISOString().slice(0, 10);
  return { type: 'one_off', label: '', start_time: `${day(1)}T18:00`, end_time: `${day(2)}T06:00` };
}

interface RowProps<Kind> {
  readonly blackout: Kind;
  readonly onChange: (next: Kind) => void;
}

function ClockTimes({ blackout, onChange }: RowProps<Recurring>) {
  const time = (key: 'start_time' | 'end_time', title: string) => (
    <label className="stack gap-2 ink-3 text-2">
      {title}
      <input
        type="time"
        className="field ink text-3 min-40"
        value={blackout[key]}
        required
        onChange={(event) => {
          if (isClockTime(event.target.value)) onChange({ ...blackout, [key]: event.target.value });
        }}
      />
    </label>
  );
  return (
    <>
      {time('start_time', t`From`)}
      {time('end_time', t`Until`)}
    </>
  );
}

/** A moment with a time zone is shown as it was written, since the field has no zones. */
function DateTimes({ blackout, onChange }: RowProps<OneOff>) {
  const [wrong, setWrong] = useState(false);
  const time = (key: 'start_time' | 'end_time', title: string) => (
    <label>
      {title}
      <input
        type={readDateTime(blackout[key])?.fixed === true ? 'text' : 'datetime-local'}
        className="field"
        value={blackout[key]}
        required
        aria-invalid={wrong}
        onChange={(event) => {
          const next = { ...blackout, [key]: event.target.value };
          const [start, end] = [readDateTime(next.start_time), readDateTime(next.end_time)];
          if (!start || !end) return;
          setWrong(start.wall >= end.wall);
          if (start.wall < end.wall) onChange(next);
        }}
      />
    </label>
  );
  return (
    <>
      {time('start_time', t`From`)}
      {time('end_time', t`Until`)}
      {wrong && <p className="wrong-note" role="alert">{t`It must end after it begins. The change was not saved.`}</p>}
    </>
  );
}

function Days({ blackout, onChange }: RowProps<Recurring>) {
  const id = useId();
  const every = blackout.days.length === 0;
  const toggle = (day: number) => {
    const days: readonly number[] = every ? WEEK : blackout.days;
    const next = days.includes(day) ? days.filter((each) => each !== day) : [...days, day];
    // A blackout without days would never apply, so the last day stays. All days are stored as an
    // empty list.
    if (next.length > 0) onChange({ ...blackout, days: next.length === WEEK.length ? [] : [...next].sort() });
  };
  return (
    <div className="blackout-days gap-3 cluster" role="group" aria-label={t`Days`} aria-describedby={id}>
      {WEEK.map((day) => (
        <button
          key={day}
          type="button"
          className="toggle"
          aria-pressed={every || blackout.days.includes(day)}
          aria-label={dayTitle(day)}
          onClick={() => toggle(day)}
        >
          {dayTitle(day, 'short')}
        </button>
      ))}
      <span id={id} className="setting-hint">
        {hoursText(blackout)}
      </span>
    </div>
  );
}

function Row({ blackout, at, onChange, onRemove }: RowProps<Blackouts[number]> & { at: number; onRemove: () => void }) {
  // The name is saved when the field loses the focus.
  const [label, setLabel] = useState<string | null>(null);
  return (
    <li className="blackout pad-5 box stack gap-4" aria-label={t`Quiet hours ${at + 1}`}>
      <div className="blackout-row flex wrap">
        <label className="stack gap-2 ink-3 text-2 grow">
          {t`Name`}
          <input
            className="field ink text-3 min-40"
            value={label ?? blackout.label}
            maxLength={80}
            placeholder={t`none`}
            onChange={(event) => setLabel(event.target.value)}
            onBlur={() => {
              if (label !== null && label !== blackout.label) onChange({ ...blackout, label });
              setLabel(null);
            }}
          />
        </label>
        {blackout.type === 'one_off' ? (
          <DateTimes blackout={blackout} onChange={onChange} />
        ) : (
          <ClockTimes blackout={blackout} onChange={onChange} />
        )}
        <button
          type="button"
          className="icon-button"
          aria-label={t`Remove ${t`Quiet hours ${at + 1}`}`}
          onClick={onRemove}
        >
          <CloseIcon />
        </button>
      </div>
      {blackout.type !== 'one_off' && <Days blackout={blackout} onChange={onChange} />}
    </li>
  );
}

/** Hours in which only the person can wake an agent. */
export function BlackoutFields({ timeZone }: { timeZone: string }) {
  const { agentId, own, effective } = useLimits();
  const change = useChangeLimits();
  const list = effective.blackouts;
  const label = t`Quiet hours`;
  const set = (value: Blackouts | undefined) =>
    void change(label, (coordination) => withCoordination(coordination, 'blackouts', value));
  return (
    <fieldset className="setting">
      <legend>{label}</legend>
      <ul className="blackouts under-4 gap-4 stack">
        {list.map((blackout, at) => (
          <Row
            key={at}
            blackout={blackout}
            at={at}
            onChange={(next) => set(list.map((each, i) => (i === at ? next : each)))}
            onRemove={() => set(list.filter((_, i) => i !== at))}
          />
        ))}
      </ul>
      <div className="flex wrap gap-4">
        {list.length < MOST && (
          <>
            <button type="button" className="ghost" onClick={() => set([...list, NIGHT])}>{t`Add quiet hours`}</button>
            <button
              type="button"
              className="ghost"
              onClick={() => set([...list, tomorrow(Date.now())])}
            >{t`Add a single time`}</button>
          </>
        )}
        {agentId !== null && own.blackouts !== undefined && (
          <button type="button" className="link-button" onClick={() => set(undefined)}>{t`As everybody`}</button>
        )}
      </div>
      <p className="setting-hint">{t`Only you can wake agents then. Clock: ${timeZone}.`}</p>
    </fieldset>
  );
}
