/** Selects one of the connected models, from the lists of their servers. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Models } from '../../../shared/protocol/models.ts';
import { isPriceKnown, priceFor } from '../../../shared/domain/prices.ts';
import { SETTING_TEXT_MAX } from '../../../shared/domain/settings.ts';
import { t } from '../../language/t.ts';
import { costQueriesOf } from '../../state/costs.ts';
import { useRoost } from '../context.tsx';
import { QueryProblem } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../hooks.ts';
import { budgetText } from '../text/money.ts';
import { keyOf } from '../design/keys.ts';
import { choices, connectionName, modelName, stateText } from './names.ts';
import './model-select.css';
import { useAction } from '../design/use-action.ts';

/**
 * A field for a key. The key is hidden, and browsers must not store it. It must not be in the
 * markup either, where a saved page or an extension would find it: React writes a field's value
 * there.
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
    <div className="connect-field full stack gap-3 ink semi-medium">
      <label htmlFor={id}>{label}</label>
      <input
        ref={input}
        id={id}
        className="field"
        type="password"
        placeholder={placeholder}
        // Password managers ignore fields that are marked like this.
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
  /** Describes the default. It is the first item of the list. */
  readonly standard: string;
  /** The default model, where it is known. */
  readonly standardModel?: string | undefined;
  /** The error of the value, or null. */
  readonly wrong?: string | null;
  readonly onChange: (model: string) => void;
  /** False: the state of the connections stands elsewhere. */
  readonly notes?: boolean;
}

/** No model has this id: listed ids are never empty and never contain this character. */
const ANOTHER = '\u0000another';

/** The state of the connections, as far as it matters for choosing a model. */
export function ConnectionNotes({ all }: { all: Models }) {
  if (all.connections.length === 0)
    return (
      <p className="setting-hint">
        <span>{t`Demo: no model connected`}</span> <Link href={PATHS.connect}>{t`Connect a model`}</Link>
      </p>
    );
  const failing = all.connections.filter(({ state }) => state.kind === 'fails');
  return (
    <>
      {failing.map((connection) => (
        <p key={connection.connectionId} className="setting-hint" role="status">
          {connectionName(connection)}: {stateText(connection)}. <Link href={PATHS.connect}>{t`What to do`}</Link>
        </p>
      ))}
    </>
  );
}

/** For a model whose price Roost guesses. */
function PriceNote({ model }: { model: string }) {
  const state = useQuery(costQueriesOf(useRoost()).prices);
  if (state.kind !== 'ready' || isPriceKnown(model, state.value.prices)) return null;
  const { input, output } = priceFor(model, state.value.prices);
  return (
    <p className="setting-hint">
      {t`No price is known for ${modelName(model)}. Roost counts it as ${budgetText(input)} for a million tokens read and ${budgetText(output)} for a million written. ${<Link href={PATHS.settings('costs')}>{t`Set its price`}</Link>}`}
    </p>
  );
}

function Options({ all, value, standard }: { all: Models | null; value: string; standard: string }) {
  const offered = all ? choices(all) : [];
  const isOffered = offered.some(({ models }) => models.some(({ id }) => id === value));
  return (
    <>
      <option value="">{standard}</option>
      {value !== '' && !isOffered && (
        <option value={value}>
          <span>{modelName(value)}</span>
          {all && all.connections.length > 0 && <span>{t` (not listed)`}</span>}
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
      <option value={ANOTHER}>{t`Another model…`}</option>
    </>
  );
}

/** One field, with ways to reload the servers' lists and to enter an unlisted model. */
export function ModelSelect(props: Props) {
  const { label, hint, value, standard, standardModel = '', wrong = null, onChange, notes = true } = props;
  const { models } = useRoost();
  const state = useQuery(models.query);
  const { busy: asking, failed, act } = useAction();
  const [naming, setNaming] = useState(false);
  const id = useId();
  const all = state.kind === 'ready' ? state.value : null;
  const model = value === '' ? standardModel : value;
  const refresh = () => act(() => models.change((client) => client.listModels()));
  const described = { 'aria-describedby': `${id}-hint`, 'aria-invalid': wrong !== null };
  return (
    <div className="model-select">
      <label className="text-3 medium block under-3" htmlFor={id}>
        {label}
      </label>
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
            {asking ? t`Loading…` : t`Refresh the list`}
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
            {t`Could not load this. ${failed}`}
          </p>
        )}
        {all && all.connections.length > 0 && model !== '' && <PriceNote model={model} />}
        {all && notes && <ConnectionNotes all={all} />}
      </div>
      <QueryProblem query={models.query} state={state} before={all !== null} />
    </div>
  );
}
