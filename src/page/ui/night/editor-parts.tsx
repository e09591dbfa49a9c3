/** What the editors of a routine, a reminder and a script have in common. */
import { useId, type ReactNode } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { SCHEDULE_BOUNDS, type CONTEXTS } from '../../../shared/protocol/schedules.ts';
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

const CONTEXT_CHOICES: readonly (readonly [Context, string])[] = [
  ['none', t`Nothing: it begins fresh`],
  ['last_session', t`Its last conversation`],
  ['own_runs', t`The last words of its last three runs`],
];
type Context = (typeof CONTEXTS)[number];

/**
 * What its agent is given of before, when it is set to work. `hint`: where it is not set to work
 * each time.
 */
export function ContextField({
  draft,
  set,
  wrong,
  hint,
}: {
  draft: { readonly context: Context };
  set: (more: { readonly context: Context }) => void;
  wrong: Wrong;
  hint?: string;
}) {
  return (
    <ChoiceField
      label={t`What it is given of before`}
      hint={hint}
      wrong={wrong['context']}
      choices={CONTEXT_CHOICES}
      value={draft.context}
      onChange={(context) => set({ context })}
    />
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
