import { useId, type ReactNode } from 'react';
import { INTERVAL_BOUNDS, OFFSET_BOUNDS } from '../../domain/schedule/timing.ts';
import { OneOf } from '../parts/one-of.tsx';
import { localText, type Draft, type Wrong } from './draft.ts';
import { DAY_NAMES, momentText, nextText, WEEK } from './words.ts';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly wrong: string | undefined;
  readonly children: (given: {
    readonly id: string;
    readonly 'aria-invalid': boolean;
    readonly 'aria-describedby': string;
  }) => ReactNode;
}

/** A field with its label, a hint, and what is wrong with it. */
export function Labelled({ label, hint, wrong, children }: FieldProps) {
  const id = useId();
  return (
    <div className="editor-field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': wrong !== undefined, 'aria-describedby': `${id}-hint ${id}-wrong` })}
      <p id={`${id}-hint`} className="setting-hint">
        {hint}
      </p>
      <p id={`${id}-wrong`} className="editor-wrong" role="alert">
        {wrong}
      </p>
    </div>
  );
}

function Days({ days, onDays }: { days: readonly number[]; onDays: (days: readonly number[]) => void }) {
  return (
    <div className="editor-days" role="group" aria-label="Days">
      {WEEK.map((day) => (
        <label key={day}>
          <input
            type="checkbox"
            className="visually-hidden"
            checked={days.includes(day)}
            onChange={({ target }) => onDays(target.checked ? [...days, day] : days.filter((one) => one !== day))}
          />
          <span>
            {DAY_NAMES[day].slice(0, 2)}
            <span className="visually-hidden">{DAY_NAMES[day].slice(2)}</span>
          </span>
        </label>
      ))}
    </div>
  );
}

interface WhenProps {
  readonly draft: Draft;
  readonly set: (more: Partial<Draft>) => void;
  readonly wrong: Wrong;
  /** Of the household; null: not known yet. */
  readonly zone: string | null;
  readonly now: number;
  /** The soonest first; none: never, as it stands. */
  readonly next: readonly number[];
  /** Its place among others of the same interval is not known yet. */
  readonly spread: boolean;
}

/** When a routine is due, and when that is next. */
// In one piece: one form, each of its fields in a few lines.
export function WhenFields({ draft, set, wrong, zone, now, next, spread }: WhenProps) {
  const zoneHint = zone === null ? null : `In ${zone}, the household’s time zone.`;
  return (
    <fieldset className="editor-when">
      <legend>When</legend>
      <OneOf
        label="How it is set"
        options={[
          { value: 'weekly', text: 'Days and a time' },
          { value: 'every', text: 'Every so often' },
          { value: 'once', text: 'Once' },
          { value: 'cron', text: 'Cron' },
        ]}
        value={draft.timing}
        onChange={(timing) => set({ timing })}
      />
      {draft.timing === 'weekly' && (
        <>
          <Days days={draft.days} onDays={(days) => set({ days })} />
          <Labelled
            label="Time"
            hint={[draft.days.length === 0 ? 'No day chosen: every day.' : null, zoneHint]
              .filter((part) => part !== null)
              .join(' ')}
            wrong={wrong['time'] ?? wrong['days']}
          >
            {(given) => (
              <input
                {...given}
                type="time"
                className="field editor-short"
                value={draft.time}
                onChange={({ target }) => set({ time: target.value })}
              />
            )}
          </Labelled>
        </>
      )}
      {draft.timing === 'every' && (
        <div className="editor-pair">
          <Labelled label="Minutes from one to the next" wrong={wrong['minutes']}>
            {(given) => (
              <input
                {...given}
                type="number"
                inputMode="numeric"
                className="field editor-short"
                min={INTERVAL_BOUNDS.min}
                max={INTERVAL_BOUNDS.max}
                value={draft.minutes}
                onChange={({ target }) => set({ minutes: target.value })}
              />
            )}
          </Labelled>
          <Labelled
            label="So many minutes later"
            hint="Empty: agents with the same interval are kept a few minutes apart."
            wrong={wrong['offset']}
          >
            {(given) => (
              <input
                {...given}
                type="number"
                inputMode="numeric"
                className="field editor-short"
                min={OFFSET_BOUNDS.min}
                max={OFFSET_BOUNDS.max}
                value={draft.offset}
                onChange={({ target }) => set({ offset: target.value })}
              />
            )}
          </Labelled>
        </div>
      )}
      {draft.timing === 'once' && (
        <Labelled label="Day and time" hint="In your own time zone. It runs in quiet hours too." wrong={wrong['at']}>
          {(given) => (
            <input
              {...given}
              type="datetime-local"
              className="field editor-short"
              min={localText(now)}
              value={draft.at}
              onChange={({ target }) => set({ at: target.value })}
            />
          )}
        </Labelled>
      )}
      {draft.timing === 'cron' && (
        <Labelled
          label="Cron text"
          hint={`Minute, hour, day, month, weekday: “30 7 * * 1-5” is every weekday at 7:30. ${zoneHint ?? ''}`}
          wrong={wrong['cron']}
        >
          {(given) => (
            <input
              {...given}
              className="field editor-short"
              autoComplete="off"
              spellCheck={false}
              value={draft.cron}
              onChange={({ target }) => set({ cron: target.value })}
            />
          )}
        </Labelled>
      )}
      <p className="editor-next" role="status">
        {next[0] === undefined
          ? 'It is not due as it stands.'
          : draft.timing === 'every' && spread && draft.offset.trim() === ''
            ? `Due within ${draft.minutes} minutes, and then every ${draft.minutes}.`
            : `Due next: ${[nextText(next[0], now), ...next.slice(1).map((at) => momentText(at, now))].join(', then ')}.`}
      </p>
      <label className="tick-line">
        <input
          type="checkbox"
          checked={draft.onlyWaiting}
          onChange={({ target }) => set({ onlyWaiting: target.checked })}
        />
        Only when something waits for it: otherwise no model is asked, and it costs nothing
      </label>
    </fieldset>
  );
}
