/** Chooses among the models that are connected, from the lists that their servers give. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { MODEL_LIMITS, type Models } from '../../../shared/protocol/models.ts';
import { SETTING_TEXT_MAX } from '../../../shared/domain/settings.ts';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { QueryProblem } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../hooks.ts';
import { keyOf } from '../parts/keys.ts';
import { choices, connectionName, modelName, stateText } from './words.ts';
import './model-select.css';

/**
 * Where a key is typed or pasted. It is not shown, and no browser is to remember it. Nor is it in
 * the markup, where a page that is saved, or looked through by an extension, would have it: React
 * writes there what it holds of a field.
 */
export function KeyField({
  label,
  value,
  onChange,
  placeholder,
  hint,
}: {
  label: string;
  value: string;
  onChange: (key: string) => void;
  placeholder?: string;
  hint?: ReactNode;
}) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (value === '' && input.current) input.current.value = '';
  }, [value]);
  return (
    <div className="connect-field">
      <label htmlFor={id}>{label}</label>
      <input
        ref={input}
        id={id}
        className="field"
        type="password"
        placeholder={placeholder}
        // As of one-time codes: password managers leave it alone.
        autoComplete="off"
        data-1p-ignore=""
        data-lpignore="true"
        spellCheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="setting-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface Props {
  readonly label: string;
  readonly hint?: ReactNode;
  /** A model's id; empty: nothing is chosen here. */
  readonly value: string;
  /** What holds where nothing is chosen, in words: it is the first of the list. */
  readonly standard: string;
  /** What is wrong with it, or null. */
  readonly wrong?: string | null;
  readonly onChange: (model: string) => void;
}

/** No model has this id: the ids of the list are never empty, and hold no such sign. */
const ANOTHER = '\u0000another';

/** What of the connections has to be known before one chooses among their models. */
function Standing({ all }: { all: Models }) {
  if (all.connections.length === 0)
    return (
      <p className="setting-hint">
        {t`No model is connected, so there is no list: the demo answers. ${<Link href={PATHS.connect}>{t`Connect a model`}</Link>}`}
      </p>
    );
  const failing = all.connections.filter(({ state }) => state.kind === 'fails');
  const isCut = all.connections.some(({ models }) => models.length >= MODEL_LIMITS.listed);
  return (
    <>
      {failing.map((connection) => (
        <p key={connection.connectionId} className="setting-hint" role="status">
          {connectionName(connection)}: {stateText(connection)}. <Link href={PATHS.connect}>{t`What to do`}</Link>
        </p>
      ))}
      {isCut && (
        <p className="setting-hint">{t`At most ${MODEL_LIMITS.listed} models of a server are listed. Others can be chosen by their name.`}</p>
      )}
    </>
  );
}

function Options({ all, value, standard }: { all: Models | null; value: string; standard: string }) {
  const offered = all ? choices(all) : [];
  const known = offered.some(({ models }) => models.some(({ id }) => id === value));
  return (
    <>
      <option value="">{standard}</option>
      {value !== '' && !known && (
        <option value={value}>
          <span>{modelName(value)}</span>
          {all && all.connections.length > 0 && <span>{t` (not in any list)`}</span>}
        </option>
      )}
      {offered.map(({ connection, models }) => (
        <optgroup key={connection.connectionId} label={connectionName(connection)}>
          {models.map(({ id }) => (
            <option key={id} value={id}>
              {modelName(id, models)}
            </option>
          ))}
        </optgroup>
      ))}
      <option value={ANOTHER}>{t`Another, by its name…`}</option>
    </>
  );
}

/** One field; with a way to ask the servers anew, and to name a model that none of them lists. */
export function ModelSelect({ label, hint, value, standard, wrong = null, onChange }: Props) {
  const { models } = useRoost();
  const state = useQuery(models.query);
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const [naming, setNaming] = useState(false);
  const id = useId();
  const all = state.kind === 'ready' ? state.value : null;
  const refresh = async () => {
    setAsking(true);
    const asked = await models.change((client) => client.listModels());
    setAsking(false);
    setFailed(asked.ok ? null : asked.reason);
  };
  const described = { 'aria-describedby': `${id}-hint`, 'aria-invalid': wrong !== null };
  return (
    <div className="model-select">
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">
        {naming ? (
          <input
            id={id}
            {...described}
            className="field"
            // The person has just asked for it.
            // eslint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
            defaultValue={value}
            maxLength={SETTING_TEXT_MAX.agentModel}
            autoComplete="off"
            spellCheck={false}
            onKeyDown={(event) => {
              const key = keyOf(event);
              if (key === 'Enter') event.currentTarget.blur();
              if (key !== 'Enter' && key !== 'Escape') return;
              event.preventDefault();
              event.stopPropagation();
              if (key === 'Escape') setNaming(false);
            }}
            onBlur={({ target }) => {
              setNaming(false);
              if (target.value.trim() !== value) onChange(target.value.trim());
            }}
          />
        ) : (
          <select
            id={id}
            {...described}
            className="field field-select"
            value={value}
            onChange={({ target }) => (target.value === ANOTHER ? setNaming(true) : onChange(target.value))}
          >
            <Options all={all} value={value} standard={standard} />
          </select>
        )}
        {all && all.connections.length > 0 && (
          <button type="button" className="ghost" disabled={asking} onClick={() => void refresh()}>
            {asking ? t`Asking…` : t`Refresh the list`}
          </button>
        )}
      </div>
      <div id={`${id}-hint`}>
        {wrong !== null && (
          <p className="setting-state" data-wrong="true">
            {wrong}
          </p>
        )}
        {hint !== undefined && <p className="setting-hint">{hint}</p>}
        {failed !== null && (
          <p className="setting-hint" role="alert">
            {t`The lists could not be asked for: ${failed}`}
          </p>
        )}
        {all && <Standing all={all} />}
      </div>
      <QueryProblem query={models.query} state={state} what={t`The list of models`} before={all !== null} />
    </div>
  );
}
