/** Shared parts of the editors of routines, reminders and scripts. */
import { type FormEvent, type ReactNode, useState } from 'react';
import { clocksDiffer, wallTime } from '../../../shared/domain/zone-days.ts';
import type { AgentId, ScheduleId } from '../../../shared/domain/ids.ts';
import { type Schedule, SCHEDULE_BOUNDS, type Scheduled } from '../../../shared/protocol/schedules.ts';
import { INTERVAL_BOUNDS, OFFSET_BOUNDS, type Timing } from '../../../shared/domain/schedule/timing.ts';
import { t } from '../../language/t.ts';
import { problemText } from '../../state/ports.ts';
import { type Clash, type Saved, schedulesOf } from '../../state/schedules.ts';
import { CHANGED_ELSEWHERE } from '../../state/documents.ts';
import { useRoost } from '../context.tsx';
import { clockTime } from '../text/time.ts';
import { useNow, useQuery } from '../hooks.ts';
import type { Teammate } from '../use-somebody.ts';
import { OneOf } from '../design/one-of.tsx';
import { localText } from '../text/time.ts';
import { type Merged, mergedInto, nextOf, type TimingDraft, type Wrong, wrongAt } from './drafts.ts';
import { dayTitle, momentText, nextText, WEEK } from './words.ts';
import { SelectField, TextField } from '../design/field.tsx';
import { useAction } from '../design/use-action.ts';
import { asBeginning } from '../text/sizes.ts';
import { CONTEXTS } from '../text/value-names.ts';

/** ms between updates: the times shown are accurate to the minute. */
const EVERY_MS = 15_000;

/**
 * Shown if the household's time zone differs from the browser's: 7:30 there is another time here.
 */
export function ZoneNote() {
  const { limits } = useRoost();
  const answer = useQuery(limits.query);
  const now = useNow(EVERY_MS);
  const [failed, setFailed] = useState<string | null>(null);
  const { timeZone: here } = new Intl.DateTimeFormat().resolvedOptions();
  const zone = answer.kind === 'ready' ? answer.value.effective.time_zone : here;
  if (!clocksDiffer(zone, here, now)) return null;
  const take = async () => {
    const set = await limits.change((own) => ({ ...own, time_zone: here }));
    setFailed(set.ok ? null : problemText(set.problem));
  };
  return (
    <p className="measure ink-2 text-3 pretty" role="status">
      <span>{t`The household’s clock is that of ${zone}, where it is ${clockTime(now + wallTime(zone, now) - wallTime(here, now))}. This device is in ${here}, where it is ${clockTime(now)}.`}</span>{' '}
      <button type="button" className="link-button" onClick={() => void take()}>{t`Take ${here}`}</button>
      {failed !== null && <span> {failed}</span>}
    </p>
  );
}

interface WhoProps {
  readonly draft: { readonly agentId: AgentId; readonly name: string };
  readonly set: (more: { readonly agentId?: AgentId; readonly name?: string }) => void;
  readonly wrong: Wrong;
  readonly team: readonly Teammate[];
  /** Placeholder of the empty name. */
  readonly example: string;
}

export function WhoFields({ draft, set, wrong, team, example }: WhoProps) {
  return (
    <div className="halves gap-5 stack">
      <SelectField
        label={t`Agent`}
        wrong={wrong['agentId']}
        choices={team.map(({ agentId, name }) => [agentId, name])}
        value={draft.agentId}
        onChange={(agentId) => set({ agentId })}
      />
      <NameField draft={draft} set={set} wrong={wrong} example={example} />
    </div>
  );
}

export function NameField({
  draft,
  set,
  wrong,
  example,
}: {
  draft: { readonly name: string };
  set: (more: { readonly name: string }) => void;
  wrong: Wrong;
  example?: string;
}) {
  return (
    <TextField
      label={t`Name`}
      wrong={wrong['name']}
      prose
      maxLength={SCHEDULE_BOUNDS.name}
      placeholder={example}
      value={draft.name}
      onText={(name) => set({ name })}
    />
  );
}

/** The context that its agent receives. */
export function ContextField({
  draft,
  set,
  wrong,
}: {
  draft: { readonly context: Schedule['context'] };
  set: (more: { readonly context: Schedule['context'] }) => void;
  wrong: Wrong;
}) {
  return (
    <SelectField
      label={t`What it remembers`}
      wrong={wrong['context']}
      choices={CONTEXTS}
      value={draft.context}
      onChange={(context) => set({ context })}
    />
  );
}

/** Why it was not saved, and the buttons that end the editor. */
export function EditorEnd({
  refused,
  busy,
  onDiscard,
}: {
  refused: string | null;
  busy: boolean;
  onDiscard: () => void;
}) {
  return (
    <>
      {refused !== null && (
        <div className="wrong-note" role="alert" ref={intoView}>
          {refused}
        </div>
      )}
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onDiscard}>{t`Discard`}</button>
        <button type="submit" className="solid" disabled={busy}>
          {busy ? t`Saving…` : t`Save`}
        </button>
      </div>
    </>
  );
}

/**
 * The form may be taller than the viewport. The Save button is always visible, so the note is
 * scrolled into view.
 */
const intoView = (note: HTMLElement | null) => {
  note?.scrollIntoView?.({ block: 'center' });
};

function Days({ days, onDays }: { days: readonly number[]; onDays: (days: readonly number[]) => void }) {
  return (
    <div className="editor-days flex wrap gap-3" role="group" aria-label={t`Days`}>
      {WEEK.map((day) => (
        <label className="relative" key={day}>
          <input
            type="checkbox"
            className="visually-hidden"
            checked={days.includes(day)}
            onChange={({ target }) => onDays(target.checked ? [...days, day] : days.filter((one) => one !== day))}
          />
          <span className="toggle">
            {dayTitle(day).slice(0, 2)}
            <span className="visually-hidden">{dayTitle(day).slice(2)}</span>
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
  /** The relay's version; null: it is new. */
  readonly before: Timing | null;
  /** Minutes that the relay gave an interval; null: not assigned yet. */
  readonly offset: number | null;
  /** Hint for a single date and time; left out: it is due in quiet hours too. */
  readonly onceHint?: string;
  readonly children?: ReactNode;
}

type FieldsProps = Pick<WhenProps, 'draft' | 'set' | 'wrong'>;

function CronField({ draft, set, wrong }: FieldsProps) {
  return (
    <TextField
      label={t`Cron text`}
      hint={t`Minute, hour, day, month, weekday: “30 7 * * 1-5” is every weekday at 7:30.`}
      wrong={wrong['cron']}
      short
      value={draft.cron}
      onText={(cron) => set({ cron })}
    />
  );
}

/** Under *More*: a cron text in place of the usual timing. */
export function CronChoice({ draft, set }: Pick<WhenProps, 'draft' | 'set'>) {
  if (draft.timing === 'cron') return null;
  return (
    <button type="button" className="link-button" onClick={() => set({ timing: 'cron' })}>
      {t`Cron text`}
    </button>
  );
}

/** The timing, and the next due moments. */
export function WhenFields({ draft, set, wrong, before, offset, onceHint, children }: WhenProps) {
  const now = useNow(15_000);
  const limits = useQuery(useRoost().limits.query);
  const zone = limits.kind === 'ready' ? limits.value.effective.time_zone : null;
  const next = zone === null ? [] : nextOf(draft, before, { zone, offset: offset ?? 0 }, now, NEXT_SHOWN);
  return (
    <fieldset className="editor-when pad-wide box stack at-start gap-5">
      <legend className="text-2 medium">{t`When`}</legend>
      <ZoneNote />
      <OneOf
        label={t`When`}
        options={[
          { value: 'weekly', text: t`Days and a time` },
          { value: 'every', text: t`Every so often` },
          { value: 'once', text: asBeginning(t`once`) },
        ]}
        value={draft.timing}
        onChange={(timing) => set({ timing })}
      />
      {draft.timing === 'weekly' && (
        <>
          <Days days={draft.days} onDays={(days) => set({ days })} />
          <TextField
            label={t`Time`}
            hint={zone === null ? undefined : t`In ${zone}, the household’s time zone.`}
            wrong={wrong['time'] ?? wrong['days']}
            short
            type="time"
            value={draft.time}
            onText={(time) => set({ time })}
          />
        </>
      )}
      {draft.timing === 'every' && (
        <div className="halves gap-5 stack">
          <TextField
            label={t`Minutes from one to the next`}
            wrong={wrong['minutes']}
            short
            type="number"
            inputMode="numeric"
            min={INTERVAL_BOUNDS.min}
            max={INTERVAL_BOUNDS.max}
            value={draft.minutes}
            onText={(minutes) => set({ minutes })}
          />
          <TextField
            label={t`Offset in minutes (optional)`}
            wrong={wrong['offset']}
            short
            type="number"
            inputMode="numeric"
            min={OFFSET_BOUNDS.min}
            max={OFFSET_BOUNDS.max}
            value={draft.offset}
            onText={(offset) => set({ offset })}
          />
        </div>
      )}
      {draft.timing === 'once' && (
        <TextField
          label={t`When`}
          hint={onceHint ?? t`It runs in quiet hours too.`}
          wrong={wrong['at']}
          short
          type="datetime-local"
          min={localText(now)}
          value={draft.at}
          onText={(at) => set({ at })}
        />
      )}
      {draft.timing === 'cron' && <CronField draft={draft} set={set} wrong={wrong} />}
      <p className="ink text-3" role="status">
        {next[0] === undefined
          ? draft.timing === 'once'
            ? t`Choose a time in the future.`
            : t`This schedule will never run.`
          : draft.timing === 'every' && offset === null && draft.offset.trim() === ''
            ? t`Due within ${draft.minutes} minutes, and then every ${draft.minutes}.`
            : t`Due next: ${[nextText(next[0], now), ...next.slice(1).map((at) => momentText(at, now))].join(t`, then `)}.`}
      </p>
      {children}
    </fieldset>
  );
}

/** Number of next moments that are listed. */
const NEXT_SHOWN = 3;

/** What an editor edits, and how a draft and a schedule are converted into each other. */
export interface Kind<D extends TimingDraft, S extends Schedule> {
  /** null while there are errors. */
  scheduleOf(draft: D, before: S | null): S | null;
  draftOf(schedule: S): D;
  wrongIn(draft: D): Wrong;
  /** null: the schedule is of another kind. */
  of(schedule: Schedule): S | null;
  readonly fields: readonly (keyof S & string)[];
  readonly standsAt: Wrong;
  /** The schedule as it is sent to the relay; left out: unchanged. */
  readonly asSaved?: (schedule: S) => S;
}

interface Saving<D> {
  readonly draft: D;
  set(more: Partial<D>): void;
  readonly wrong: Wrong;
  /** A refusal that concerns no field; null: none. */
  readonly refused: string | null;
  readonly busy: boolean;
  save(event: FormEvent): void;
}

/**
 * Saves a draft. Changes made elsewhere are merged, and conflicting ones are shown first. Errors of
 * the relay are shown at their fields. `scheduleId` null: a new one.
 */
export function useSaving<D extends TimingDraft, S extends Schedule>(
  kind: Kind<D, S>,
  scheduleId: ScheduleId | null,
  before: S | null,
  first: D,
  onSaved: () => void,
): Saving<D> {
  const schedules = schedulesOf(useRoost());
  /** The listed version when the editor was opened. The draft was made from it. */
  const [known, setKnown] = useState<Scheduled | undefined>(() => {
    const listed = schedules.list.store.getState();
    return listed.kind === 'ready' ? listed.value.schedules.find((one) => one.scheduleId === scheduleId) : undefined;
  });
  const [draft, setDraft] = useState(first);
  /**
   * The relay's version when the draft was last compared. Another page may change it in the
   * meantime.
   */
  const [base, setBase] = useState(before);
  const [wasChecked, setWasChecked] = useState(false);
  const [refused, setRefused] = useState<{ readonly fields: Wrong; readonly reason: string | null } | null>(null);
  const { busy, act } = useAction();
  const fieldErrors = refused
    ? wrongAt(refused.fields, draft, Object.keys(first), kind.standsAt)
    : { at: {}, rest: [] };
  const outside = [refused?.reason ?? null, ...fieldErrors.rest].filter((part) => part !== null);
  const asSaved = (schedule: S) => kind.asSaved?.(schedule) ?? schedule;
  async function send(mine: S): Promise<Saved | Clash> {
    const from = scheduleId === null ? null : (known ?? (await schedules.one(scheduleId)));
    if (!base || !from) return await schedules.save(scheduleId, asSaved(mine));
    return await schedules.saveOver(from, (now) => {
      const latest = kind.of(now);
      if (!latest) return asSaved(mine);
      const { merged, clashes }: Merged<S> = mergedInto(latest, base, mine, kind.fields);
      return clashes.length === 0 ? asSaved(merged) : null;
    });
  }
  /**
   * Shows a conflict: the same fields were changed here and at the relay. The person's input stays,
   * and can be saved again.
   */
  function showClash(mine: S, now: Scheduled): void {
    const latest = kind.of(now.schedule);
    if (!base || !latest) return;
    const { merged, clashes }: Merged<S> = mergedInto(latest, base, mine, kind.fields);
    setKnown(now);
    setBase(latest);
    setDraft(kind.draftOf(merged));
    setRefused({ fields: Object.fromEntries(clashes.map((field) => [field, CHANGED_ELSEWHERE])), reason: null });
  }
  return {
    draft,
    set(more) {
      setDraft({ ...draft, ...more });
      setRefused(null);
    },
    wrong: { ...fieldErrors.at, ...(wasChecked ? kind.wrongIn(draft) : {}) },
    refused: outside.length === 0 ? null : outside.join(' '),
    busy,
    save(event) {
      event.preventDefault();
      setWasChecked(true);
      const mine = kind.scheduleOf(draft, base);
      if (!mine) return;
      act(async () => {
        const saved = await send(mine);
        if (saved.ok) onSaved();
        else if ('clash' in saved) showClash(mine, saved.clash);
        else setRefused(saved);
      });
    },
  };
}
