/** What the editors of a routine and of a script have in common. */
import { useId, type ReactNode } from 'react';
import type { AgentId } from '../../domain/ids.ts';
import { t } from '../../language/t.ts';
import { SCHEDULE_BOUNDS } from '../../protocol/schedules.ts';
import type { Teammate } from '../use-teammates.ts';
import type { Wrong } from './timing-draft.ts';

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

interface WhoProps {
  readonly draft: { readonly agentId: AgentId; readonly name: string };
  readonly set: (more: { readonly agentId?: AgentId; readonly name?: string }) => void;
  readonly wrong: Wrong;
  readonly team: readonly Teammate[];
  /** Stands in the empty name. */
  readonly example: string;
}

export function WhoFields({ draft, set, wrong, team, example }: WhoProps) {
  return (
    <div className="editor-pair">
      <Labelled label={t`Agent`} wrong={wrong['agentId']}>
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
      <Labelled label={t`Name`} wrong={wrong['name']}>
        {(given) => (
          <input
            {...given}
            className="field"
            dir="auto"
            autoComplete="off"
            maxLength={SCHEDULE_BOUNDS.name}
            placeholder={example}
            value={draft.name}
            onChange={({ target }) => set({ name: target.value })}
          />
        )}
      </Labelled>
    </div>
  );
}

/** One of a few, in words. */
export function ChoiceField<Value extends string>({
  label,
  hint,
  wrong,
  choices,
  value,
  onChange,
}: {
  label: string;
  hint?: ReactNode;
  wrong: string | undefined;
  choices: readonly (readonly [Value, string])[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  return (
    <Labelled label={label} hint={hint} wrong={wrong}>
      {(given) => (
        <select
          {...given}
          className="field"
          value={value}
          onChange={({ target }) => {
            const chosen = choices.find(([key]) => key === target.value);
            if (chosen) onChange(chosen[0]);
          }}
        >
          {choices.map(([key, text]) => (
            <option key={key} value={key}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** Why it is not saved, and the two ways out of an editor. */
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
          <p>
            <strong>{t`It is not saved.`}</strong> {refused}
          </p>
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

/** The form may be longer than what is seen of it, and Save is always there. */
const intoView = (note: HTMLElement | null) => {
  note?.scrollIntoView?.({ block: 'center' });
};
