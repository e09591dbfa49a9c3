import { ZoneNote } from './zone-note.tsx';
import type { ReactNode } from 'react';
import { INTERVAL_BOUNDS, OFFSET_BOUNDS, type Timing } from '../../../shared/domain/schedule/timing.ts';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { OneOf } from '../parts/one-of.tsx';
import { useNow } from '../use-now.ts';
import { useQuery } from '../use-query.ts';
import { Labelled } from './editor-parts.tsx';
import { localText, nextOf, type TimingDraft, type Wrong } from './timing-draft.ts';
import { DAY_NAMES, momentText, nextText, WEEK } from './words.ts';

function Days({ days, onDays }: { days: readonly number[]; onDays: (days: readonly number[]) => void }) {
  return (
    <div className="editor-days" role="group" aria-label={t`Days`}>
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
  readonly draft: TimingDraft;
  readonly set: (more: Partial<TimingDraft>) => void;
  readonly wrong: Wrong;
  /** As the relay has it; null: it is new. */
  readonly before: Timing | null;
  /**
   * Minutes, that an interval was given; null: its place among others of the same interval is not
   * known yet.
   */
  readonly offset: number | null;
  /** Of a day and a time; left out: it is due in quiet hours too. */
  readonly onceHint?: string;
  readonly children?: ReactNode;
}

/** When something is due, and when that is next. */
export function WhenFields({ draft, set, wrong, before, offset, onceHint, children }: WhenProps) {
  const now = useNow(15_000);
  const limits = useQuery(useRoost().limits.query);
  const zone = limits.kind === 'ready' ? limits.value.effective.time_zone : null;
  const next = zone === null ? [] : nextOf(draft, before, { zone, offset: offset ?? 0 }, now, NEXT_SHOWN);
  const zoneHint = zone === null ? null : t`In ${zone}, the household’s time zone.`;
  return (
    <fieldset className="editor-when">
      <legend>{t`When`}</legend>
      <ZoneNote />
      <OneOf
        label={t`How it is set`}
        options={[
          { value: 'weekly', text: t`Days and a time` },
          { value: 'every', text: t`Every so often` },
          { value: 'once', text: t`Once` },
          { value: 'cron', text: t`Cron` },
        ]}
        value={draft.timing}
        onChange={(timing) => set({ timing })}
      />
      {draft.timing === 'weekly' && (
        <>
          <Days days={draft.days} onDays={(days) => set({ days })} />
          <Labelled
            label={t`Time`}
            hint={[draft.days.length === 0 ? t`No day chosen: every day.` : null, zoneHint]
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
          <Labelled label={t`Minutes from one to the next`} wrong={wrong['minutes']}>
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
            label={t`So many minutes later`}
            hint={t`Empty: agents with the same interval are kept a few minutes apart.`}
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
        <Labelled
          label={t`Day and time`}
          hint={onceHint ?? t`In your own time zone. It runs in quiet hours too.`}
          wrong={wrong['at']}
        >
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
          label={t`Cron text`}
          hint={t`Minute, hour, day, month, weekday: “30 7 * * 1-5” is every weekday at 7:30. ${zoneHint ?? ''}`}
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
          ? t`It is not due as it stands.`
          : draft.timing === 'every' && offset === null && draft.offset.trim() === ''
            ? t`Due within ${draft.minutes} minutes, and then every ${draft.minutes}.`
            : t`Due next: ${[nextText(next[0], now), ...next.slice(1).map((at) => momentText(at, now))].join(', then ')}.`}
      </p>
      {children}
    </fieldset>
  );
}

/** Moments to come that are named. */
const NEXT_SHOWN = 3;
