import { useState } from 'react';
import { t } from '../../language/t.ts';
import type { Price } from '../../../shared/protocol/costs.ts';
import { useRoost } from '../context.tsx';
import { CloseIcon } from '../parts/icons.tsx';
import { QueryView } from '../parts/query-view.tsx';
import {
  AMOUNTS,
  areOwn,
  hasAny,
  MOST_ROWS,
  pricesOf,
  rowsOf,
  wrongIn,
  type Amount,
  type PriceField,
  type PriceRow,
} from './price-rows.ts';
import { useCostQueries } from './use-costs.ts';

const TITLES: Record<Amount, string> = {
  input: t`Input`,
  output: t`Output`,
  cacheRead: t`Cache read`,
  cacheWrite: t`Cache write`,
};

interface RowProps {
  readonly row: PriceRow;
  readonly wrong: PriceField | null;
  readonly onChange: (row: PriceRow) => void;
  readonly onRemove: () => void;
}

function Row({ row, wrong, onChange, onRemove }: RowProps) {
  const model = row.model.trim() === '' ? t`a new model` : row.model;
  const named = row.above.trim() === '' ? model : t`${model} above ${row.above} tokens`;
  return (
    <tr>
      <th scope="row">
        <input
          className="field"
          aria-label={t`Model, as ${named}`}
          value={row.model}
          spellCheck={false}
          autoComplete="off"
          aria-invalid={wrong === 'model'}
          onChange={(event) => onChange({ ...row, model: event.target.value })}
        />
      </th>
      <td>
        <input
          className="field"
          aria-label={t`Above so many tokens, ${model}`}
          inputMode="numeric"
          autoComplete="off"
          value={row.above}
          aria-invalid={wrong === 'above'}
          onChange={(event) => onChange({ ...row, above: event.target.value })}
        />
      </td>
      {AMOUNTS.map((name) => (
        <td key={name}>
          <input
            className="field"
            aria-label={`${TITLES[name]}, ${named}`}
            inputMode="decimal"
            autoComplete="off"
            value={row[name]}
            aria-invalid={wrong === name}
            onChange={(event) => onChange({ ...row, [name]: event.target.value })}
          />
        </td>
      ))}
      <td>
        <button
          type="button"
          className="icon-button"
          aria-label={t`Remove the row of ${named}`}
          title={t`Remove this row`}
          onClick={onRemove}
        >
          <CloseIcon />
        </button>
      </td>
    </tr>
  );
}

function Editor({ prices }: { prices: readonly Price[] }) {
  const { notices } = useRoost();
  const queries = useCostQueries();
  // null: as they are saved, also when another page saves them anew.
  const [draft, setDraft] = useState<readonly PriceRow[] | null>(null);
  const [saving, setSaving] = useState(false);
  const rows = draft ?? rowsOf(prices);
  const wrong = draft ? wrongIn(draft) : new Map<number, never>();
  const first = [...wrong.values()][0];
  const put = async (table: readonly Price[], said: string) => {
    setSaving(true);
    const done = await queries.setPrices(table);
    setSaving(false);
    if (!done.ok) return notices.error(t`The prices could not be saved: ${done.reason}`);
    setDraft(null);
    notices.info(said, { label: t`Undo`, run: () => void queries.setPrices(areOwn(prices) ? [] : prices) });
  };
  const change = (row: PriceRow) => setDraft(rows.map((one) => (one.key === row.key ? row : one)));
  return (
    <div className="prices">
      <p className="setting-hint">
        {t`US dollars for a million tokens. A row holds for every model whose name begins so; where several do, the longest holds. ${<code>*</code>} stands for all others: what it counts is marked ≈, as an estimate. A row with a number of tokens holds for requests that read more than that. A change holds from the next request on.`}
      </p>
      {/* Scrolls by itself where it is too wide, by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="sheet prices-sheet" role="region" aria-label={t`Prices`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t`Model begins with`}</th>
              <th scope="col">{t`Above tokens`}</th>
              {AMOUNTS.map((name) => (
                <th key={name} scope="col">
                  {TITLES[name]}
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row
                key={row.key}
                row={row}
                wrong={wrong.get(row.key)?.field ?? null}
                onChange={change}
                onRemove={() => setDraft(rows.filter((one) => one !== row))}
              />
            ))}
          </tbody>
        </table>
      </div>
      {first && (
        <p className="setting-state" data-wrong="true" role="alert">
          {first.message}
        </p>
      )}
      {draft && !first && !hasAny(rows) && (
        <p className="setting-hint">{t`There is no row for all others (*): a model in no row is counted as the dearest that Roost knows.`}</p>
      )}
      <div className="cost-ways">
        {draft && (
          <>
            <button
              type="button"
              className="solid"
              disabled={first !== undefined || saving || rows.length === 0}
              onClick={() => void put(pricesOf(rows), t`The prices are saved.`)}
            >
              {saving ? t`Saving…` : t`Save the prices`}
            </button>
            <button type="button" className="ghost" onClick={() => setDraft(null)}>{t`Leave them as they were`}</button>
          </>
        )}
        {rows.length < MOST_ROWS && (
          <button
            type="button"
            className="ghost"
            onClick={() =>
              setDraft([
                ...rows,
                {
                  key: Math.max(-1, ...rows.map(({ key }) => key)) + 1,
                  model: '',
                  above: '',
                  input: '',
                  output: '',
                  cacheRead: '',
                  cacheWrite: '',
                },
              ])
            }
          >{t`Add a model`}</button>
        )}
        {!areOwn(prices) && !draft && (
          <button
            type="button"
            className="ghost"
            disabled={saving}
            onClick={() => void put([], t`The default prices are back.`)}
          >{t`Set back to the default prices`}</button>
        )}
      </div>
    </div>
  );
}

/** The one table of prices. */
export function PriceTable() {
  return (
    <QueryView query={useCostQueries().prices} what={t`The table of prices`}>
      {(prices) => <Editor prices={prices} />}
    </QueryView>
  );
}
