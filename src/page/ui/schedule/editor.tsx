/** The editor of a routine. */
import { useState } from 'react';
import type { ScheduleId } from '../../../shared/domain/ids.ts';
import { NUMBERS } from '../../../shared/domain/setting-table.ts';
import { SCHEDULE_BOUNDS } from '../../../shared/protocol/schedules.ts';
import { t } from '../../language/t.ts';
import { ModelSelect } from '../models/model-select.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Field, SelectField, TextField } from '../design/field.tsx';
import type { Teammate } from '../use-somebody.ts';
import { WebhooksDialog } from '../webhooks/webhooks.tsx';
import {
  type Draft,
  draftOf,
  EXAMPLES,
  FIELDS_OF_ROUTINE,
  type Routine,
  routineOf,
  STANDS_AT,
  type Wrong,
  wrongIn,
} from './drafts.ts';
import { ContextField, CronChoice, EditorEnd, type Kind, useSaving, WhenFields, WhoFields } from './editor-parts.tsx';
import { ColumnsField } from './columns-field.tsx';
import { RoutinePrice } from '../routines/price.tsx';
import { RoutineProjects } from './routine-projects.tsx';
import { CATCH_UPS } from '../text/value-names.ts';
import { ToolsField } from './tools-field.tsx';

interface Props {
  /** null: a new one. */
  readonly scheduleId: ScheduleId | null;
  readonly before: Routine | null;
  /** Minutes that the relay gave an interval. */
  readonly offset: number | null;
  readonly draft: Draft;
  readonly team: readonly Teammate[];
  /** Receives the draft if the editor was only closed; null: it was saved or discarded. */
  readonly onClose: (kept: Draft | null) => void;
}

const ROUTINE: Kind<Draft, Routine> = {
  scheduleOf: routineOf,
  draftOf,
  wrongIn,
  of: (schedule) => (schedule.kind === 'routine' ? schedule : null),
  fields: FIELDS_OF_ROUTINE,
  standsAt: STANDS_AT,
};

/** Rarely used fields, each a line of text. */
const MORE_TEXTS = [
  { field: 'model', label: t`Model` },
  { field: 'planningModel', label: t`Model of the first request` },
  { field: 'executorModel', label: t`Model after tools were used` },
] as const;
const MORE_NUMBERS = [
  {
    field: 'maxConcurrent',
    label: t`Runs of it at once`,
    bounds: SCHEDULE_BOUNDS.maxConcurrent,
  },
  {
    field: 'maxTurns',
    label: t`Model requests it may make`,
    bounds: NUMBERS.pulse_max_turns,
  },
] as const;

interface MoreProps {
  readonly draft: Draft;
  readonly set: (more: Partial<Draft>) => void;
  readonly wrong: Wrong;
}

function MoreTexts({ draft, set, wrong }: MoreProps) {
  return (
    <>
      {MORE_TEXTS.map(({ field, label }) => (
        <ModelSelect
          key={field}
          label={label}
          value={draft[field]}
          standard={field === 'model' ? t`As its agent’s` : t`The one above`}
          wrong={wrong[field] ?? null}
          onChange={(model) => set({ [field]: model })}
        />
      ))}
      {MORE_NUMBERS.map(({ field, label, bounds }) => (
        <TextField
          key={field}
          label={label}
          wrong={wrong[field]}
          type="number"
          inputMode="numeric"
          min={bounds.min}
          max={bounds.max}
          placeholder={field === 'maxTurns' ? t`As its agent’s` : undefined}
          value={draft[field]}
          onText={(text) => set({ [field]: text })}
        />
      ))}
    </>
  );
}

/** The price does not wait for a name and for instructions. */
const untilWritten = ({ name, instructions }: Draft) => ({
  name: name.trim() || '…',
  instructions: instructions.trim() || '…',
});

/** Edits a routine. It closes once the relay has accepted it. Refused values stay in the fields. */
export function RoutineEditor({ scheduleId, before, offset, draft: first, team, onClose }: Props) {
  const { draft, set, wrong, refused, busy, save } = useSaving(ROUTINE, scheduleId, before, first, () => onClose(null));
  const own = team.find(({ agentId }) => agentId === draft.agentId)?.color ?? '';
  const [webhooks, setWebhooks] = useState(false);
  return (
    <Dialog title={before === null ? t`A new routine` : before.name} shape="wide" onClose={() => onClose(draft)}>
      <form className="editor stack gap-5" onSubmit={save} noValidate>
        <WhoFields draft={draft} set={set} wrong={wrong} team={team} example={t`Morning round`} />
        <TextField
          label={t`What it does`}
          wrong={wrong['instructions']}
          prose
          rows={5}
          placeholder={EXAMPLES[0]?.instructions}
          value={draft.instructions}
          onText={(instructions) => set({ instructions })}
        />
        <WhenFields draft={draft} set={set} wrong={wrong} before={before?.timing ?? null} offset={offset}>
          <label className="tick-line">
            <input
              type="checkbox"
              checked={draft.onlyWaiting}
              onChange={({ target }) => set({ onlyWaiting: target.checked })}
            />
            {t`Only when something waits for it`}
          </label>
          <RoutinePrice routine={routineOf({ ...draft, ...untilWritten(draft) }, before)} />
        </WhenFields>
        {scheduleId !== null && <RoutineProjects scheduleId={scheduleId} />}
        <details className="editor-more" open={UNDER_MORE.some((field) => wrong[field] !== undefined) || undefined}>
          <summary className="ink-2 text-3 touchable">{t`More`}</summary>
          <CronChoice draft={draft} set={set} />
          <div className="halves gap-5 stack">
            <TextField
              label={t`Minutes it may take`}
              wrong={wrong['most']}
              type="number"
              inputMode="decimal"
              step="any"
              placeholder={t`As its agent’s`}
              value={draft.most}
              onText={(most) => set({ most })}
            />
            <Field label={t`Colour`} wrong={wrong['color']}>
              {(given) => (
                <span className="editor-color touchable gap-4 line ink-2 text-3">
                  <input
                    className="round-s framed-strong no-fill"
                    {...given}
                    type="color"
                    value={draft.color === '' ? own : draft.color}
                    onChange={({ target }) => set({ color: target.value })}
                  />
                  {draft.color === '' ? (
                    <span>{t`As its agent’s`}</span>
                  ) : (
                    <button
                      type="button"
                      className="ghost"
                      onClick={() => set({ color: '' })}
                    >{t`As its agent’s`}</button>
                  )}
                </span>
              )}
            </Field>
            <MoreTexts draft={draft} set={set} wrong={wrong} />
            <ContextField draft={draft} set={set} wrong={wrong} />
            <SelectField
              label={t`When the relay was away`}
              wrong={wrong['catch_up']}
              choices={CATCH_UPS}
              value={draft.catch_up}
              onChange={(catch_up) => set({ catch_up })}
            />
          </div>
          <ColumnsField
            key={draft.agentId}
            agentId={draft.agentId}
            columns={draft.columns}
            onColumns={(columns) => set({ columns })}
            wrong={wrong['columns']}
          />
          <ToolsField tools={draft.tools} onTools={(tools) => set({ tools })} wrong={wrong['tools']} />
          {scheduleId !== null && (
            <p>
              <button type="button" className="ghost" onClick={() => setWebhooks(true)}>{t`Webhooks`}</button>
            </p>
          )}
        </details>
        <EditorEnd refused={refused} busy={busy} onDiscard={() => onClose(null)} />
      </form>
      {webhooks && scheduleId !== null && (
        <WebhooksDialog
          subject={{ kind: 'routine', scheduleId, name: before?.name ?? draft.name }}
          onClose={() => setWebhooks(false)}
        />
      )}
    </Dialog>
  );
}

/** Fields that must be expanded if they have an error. */
const UNDER_MORE = [
  'most',
  'color',
  'context',
  'catch_up',
  'tools',
  'columns',
  ...MORE_TEXTS.map(({ field }) => field),
  ...MORE_NUMBERS.map(({ field }) => field),
] as const;
