import { useState, type FormEvent } from 'react';
import type { ScheduleId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Schedule } from '../../../shared/protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { mergedInto, wrongAt, type Merged, type TimingDraft, type Wrong } from './timing-draft.ts';

const CLASH = t`Somebody has changed this elsewhere meanwhile. Save once more to put yours in its place.`;

/** What an editor writes, and how its draft and it become each other. */
export interface Kind<D extends TimingDraft, S extends Schedule> {
  /** Null while something is wrong. */
  scheduleOf(draft: D, before: S | null): S | null;
  draftOf(schedule: S): D;
  wrongIn(draft: D): Wrong;
  /** Null: it is of another kind. */
  of(schedule: Schedule): S | null;
  readonly fields: readonly (keyof S & string)[];
  readonly standsAt: Wrong;
  /** As it is sent to the relay; left out: as it stands. */
  readonly asSaved?: (schedule: S) => S;
}

export interface Saving<D> {
  readonly draft: D;
  set(more: Partial<D>): void;
  readonly wrong: Wrong;
  /** Why it was not taken, where no field says it; null: nothing of that kind. */
  readonly refused: string | null;
  readonly busy: boolean;
  save(event: FormEvent): Promise<void>;
}

/**
 * A draft, until the relay has it: what was changed elsewhere meanwhile is kept, and where both
 * changed the same it is said first; what the relay refuses stands at its field. `scheduleId` null:
 * a new one.
 */
export function useSaving<D extends TimingDraft, S extends Schedule>(
  kind: Kind<D, S>,
  scheduleId: ScheduleId | null,
  before: S | null,
  first: D,
  onSaved: () => void,
): Saving<D> {
  const schedules = schedulesOf(useRoost());
  const [draft, setDraft] = useState(first);
  /**
   * What the relay had of it when it was last looked at: a page elsewhere may change it meanwhile.
   */
  const [base, setBase] = useState(before);
  const [asked, setAsked] = useState(false);
  const [refused, setRefused] = useState<{ readonly fields: Wrong; readonly reason: string | null } | null>(null);
  const [busy, setBusy] = useState(false);
  const told = refused ? wrongAt(refused.fields, draft, Object.keys(first), kind.standsAt) : { at: {}, rest: [] };
  const outside = [refused?.reason ?? null, ...told.rest].filter((part) => part !== null);
  return {
    draft,
    set(more) {
      setDraft({ ...draft, ...more });
      setRefused(null);
    },
    wrong: { ...told.at, ...(asked ? kind.wrongIn(draft) : {}) },
    refused: outside.length === 0 ? null : outside.join(' '),
    busy,
    async save(event) {
      event.preventDefault();
      if (busy) return;
      setAsked(true);
      const mine = kind.scheduleOf(draft, base);
      if (!mine) return;
      setBusy(true);
      const found = base && scheduleId !== null ? await schedules.one(scheduleId) : null;
      const latest = found && kind.of(found);
      const { merged, clashes }: Merged<S> =
        base && latest ? mergedInto(latest, base, mine, kind.fields) : { merged: mine, clashes: [] };
      if (latest && clashes.length > 0) {
        setBase(latest);
        setDraft(kind.draftOf(merged));
        setRefused({ fields: Object.fromEntries(clashes.map((field) => [field, CLASH])), reason: null });
        return setBusy(false);
      }
      const saved = await schedules.save(scheduleId, kind.asSaved?.(merged) ?? merged);
      setBusy(false);
      if (saved.ok) onSaved();
      else setRefused(saved);
    },
  };
}
