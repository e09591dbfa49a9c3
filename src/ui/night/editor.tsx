import { useState, type FormEvent } from 'react';
import type { ScheduleId } from '../../domain/ids.ts';
import { SCHEDULE_BOUNDS } from '../../protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useNow } from '../use-now.ts';
import { useQuery } from '../use-query.ts';
import type { Teammate } from '../use-teammates.ts';
import {
  draftOf,
  mergedInto,
  nextOf,
  routineOf,
  wrongAt,
  wrongIn,
  type Draft,
  type Routine,
  type Wrong,
} from './draft.ts';
import { Labelled, WhenFields } from './editor-fields.tsx';
import { MORE_TEXTS, MoreTexts } from './editor-more.tsx';
import { ToolsField } from './editor-tools.tsx';

interface Props {
  /** null: a new one. */
  readonly scheduleId: ScheduleId | null;
  readonly before: Routine | null;
  /** Minutes, that an interval was given. */
  readonly offset: number | null;
  readonly draft: Draft;
  readonly team: readonly Teammate[];
  /** What stands there, where it was only closed; null: it is saved, or to be forgotten. */
  readonly onClose: (kept: Draft | null) => void;
}

/** Writes a routine. It closes once the relay has it; what the relay refuses stays in the fields. */
// In one piece: one form: what is typed is checked, shown and saved from one draft.
export function RoutineEditor({ scheduleId, before, offset, draft: first, team, onClose }: Props) {
  const state = useRoost();
  const now = useNow(15_000);
  const limits = useQuery(state.limits.query);
  const zone = limits.kind === 'ready' ? limits.value.effective.time_zone : null;
  const [draft, setDraft] = useState(first);
  /** What the relay had of it when it was last looked at: a page elsewhere may change it meanwhile. */
  const [base, setBase] = useState(before);
  const [asked, setAsked] = useState(false);
  const [refused, setRefused] = useState<{ readonly fields: Wrong; readonly reason: string | null } | null>(null);
  const [busy, setBusy] = useState(false);
  const set = (more: Partial<Draft>) => {
    setDraft({ ...draft, ...more });
    setRefused(null);
  };
  const told = refused ? wrongAt(refused.fields, draft) : { at: {}, rest: [] };
  const wrong: Wrong = { ...told.at, ...(asked ? wrongIn(draft) : {}) };
  const next =
    zone === null ? [] : nextOf(draft, before?.timing ?? null, { zone, offset: offset ?? 0 }, now, NEXT_SHOWN);
  const own = team.find(({ agentId }) => agentId === draft.agentId)?.color ?? '';
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setAsked(true);
    const mine = routineOf(draft, base);
    if (!mine) return;
    setBusy(true);
    const schedules = schedulesOf(state);
    const latest = base && scheduleId !== null ? await schedules.routine(scheduleId) : null;
    const { routine, clashes } = base && latest ? mergedInto(latest, base, mine) : { routine: mine, clashes: [] };
    if (latest && clashes.length > 0) {
      setBase(latest);
      setDraft(draftOf(routine));
      setRefused({ fields: Object.fromEntries(clashes.map((field) => [field, CLASH])), reason: null });
      return setBusy(false);
    }
    const saved = await schedules.save(scheduleId, routine);
    setBusy(false);
    if (saved.ok) onClose(null);
    else setRefused(saved);
  };
  return (
    <Dialog
      title={scheduleId === null ? 'A new routine' : 'Change this routine'}
      shape="wide"
      onClose={() => onClose(draft)}
    >
      <form className="editor" onSubmit={(event) => void save(event)} noValidate>
        <div className="editor-pair">
          <Labelled label="Agent" wrong={wrong['agentId']}>
            {(given) => (
              <select
                {...given}
                className="field"
                value={draft.agentId}
                onChange={({ target }) => set({ agentId: target.value })}
              >
                {team.map(({ agentId, name }) => (
                  <option key={agentId} value={agentId}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Labelled>
          <Labelled label="Name" wrong={wrong['name']}>
            {(given) => (
              <input
                {...given}
                className="field"
                dir="auto"
                autoComplete="off"
                maxLength={SCHEDULE_BOUNDS.name}
                placeholder="Morning round"
                value={draft.name}
                onChange={({ target }) => set({ name: target.value })}
              />
            )}
          </Labelled>
        </div>
        <Labelled label="What it does" hint="In your own words; Markdown holds." wrong={wrong['instructions']}>
          {(given) => (
            <textarea
              {...given}
              className="field"
              dir="auto"
              rows={5}
              placeholder="Read your inbox. Tell me in a few sentences what matters today."
              value={draft.instructions}
              onChange={({ target }) => set({ instructions: target.value })}
            />
          )}
        </Labelled>
        <WhenFields
          draft={draft}
          set={set}
          wrong={wrong}
          zone={zone}
          now={now}
          next={next}
          spread={scheduleId === null || offset === null}
        />
        <details className="editor-more" open={UNDER_MORE.some((field) => wrong[field] !== undefined) || undefined}>
          <summary>More</summary>
          <div className="editor-pair">
            <Labelled label="Minutes it may take" hint="After that it is ended." wrong={wrong['most']}>
              {(given) => (
                <input
                  {...given}
                  type="number"
                  inputMode="decimal"
                  step="any"
                  className="field"
                  value={draft.most}
                  onChange={({ target }) => set({ most: target.value })}
                />
              )}
            </Labelled>
            <Labelled label="Colour" hint="Of its marks in the timeline." wrong={wrong['color']}>
              {(given) => (
                <span className="editor-color">
                  <input
                    {...given}
                    type="color"
                    value={draft.color === '' ? own : draft.color}
                    onChange={({ target }) => set({ color: target.value })}
                  />
                  {draft.color === '' ? (
                    <span>As its agent’s</span>
                  ) : (
                    <button type="button" className="ghost" onClick={() => set({ color: '' })}>
                      As its agent’s
                    </button>
                  )}
                </span>
              )}
            </Labelled>
            <MoreTexts draft={draft} set={set} wrong={wrong} />
            <Labelled label="What it is given of before" wrong={wrong['context']}>
              {(given) => (
                <select
                  {...given}
                  className="field"
                  value={draft.context}
                  onChange={({ target }) =>
                    set({ context: CONTEXTS.find(([key]) => key === target.value)?.[0] ?? 'none' })
                  }
                >
                  {CONTEXTS.map(([value, text]) => (
                    <option key={value} value={value}>
                      {text}
                    </option>
                  ))}
                </select>
              )}
            </Labelled>
            <Labelled
              label="When the relay was away"
              hint="Of the last minutes only; never all at once."
              wrong={wrong['catch_up']}
            >
              {(given) => (
                <select
                  {...given}
                  className="field"
                  value={draft.catch_up}
                  onChange={({ target }) =>
                    set({ catch_up: CATCH_UPS.find(([key]) => key === target.value)?.[0] ?? 'once' })
                  }
                >
                  {CATCH_UPS.map(([value, text]) => (
                    <option key={value} value={value}>
                      {text}
                    </option>
                  ))}
                </select>
              )}
            </Labelled>
          </div>
          <ToolsField tools={draft.tools} onTools={(tools) => set({ tools })} wrong={wrong['tools']} />
        </details>
        {refused && (refused.reason !== null || told.rest.length > 0) && (
          <div className="wrong-note" role="alert" ref={intoView}>
            <p>
              <strong>It is not saved.</strong>{' '}
              {[refused.reason, ...told.rest].filter((part) => part !== null).join(' ')}
            </p>
          </div>
        )}
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={() => onClose(null)}>
            Discard
          </button>
          <button type="submit" className="solid" disabled={busy}>
            {busy ? 'Saving…' : 'Save'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const CLASH = 'Somebody has changed this elsewhere meanwhile. Save once more to put yours in its place.';
/** The form may be longer than what is seen of it, and Save is always there. */
const intoView = (note: HTMLElement | null) => {
  note?.scrollIntoView?.({ block: 'center' });
};
/** Moments to come that are named. */
const NEXT_SHOWN = 3;
/** Where something of these is wrong, it is to be seen. */
const UNDER_MORE = ['most', 'color', 'context', 'catch_up', 'tools', ...MORE_TEXTS.map(({ field }) => field)] as const;
const CONTEXTS: readonly (readonly [Routine['context'], string])[] = [
  ['none', 'Nothing: it begins fresh'],
  ['last_session', 'Its last conversation'],
  ['own_runs', 'The last words of its last three runs'],
];
const CATCH_UPS: readonly (readonly [Routine['catch_up'], string])[] = [
  ['once', 'Make up for the newest one'],
  ['skip', 'Make up for none'],
  ['each', 'Make up for each'],
];
