/** Settings section: daily budgets and the table of prices. */
import { useState } from 'react';
import { Link } from 'wouter';
import { DEFAULT_PRICES, PRICE_STEP_MOST } from '../../../shared/domain/prices.ts';
import type { Price, PricesAnswer } from '../../../shared/protocol/costs.ts';
import { BUDGET_BOUNDS } from '../../../shared/domain/guardrails.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { HouseholdConfig } from '../../../shared/protocol/config.ts';
import { t } from '../../language/t.ts';
import { CHANGED_ELSEWHERE } from '../../state/documents.ts';
import { useLive, useRoost } from '../context.tsx';
import { CloseIcon } from '../design/icons.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { Face } from '../grid/face.tsx';
import { PATHS } from '../routes.ts';
import { useRehearsing } from '../models/chip.tsx';
import { costText } from '../text/money.ts';
import { type Teammate, useTeammates } from '../use-somebody.ts';
import { AgentBudget, BudgetField, useCostQueries, useCosts, USUAL_DAYS } from './budget-field.tsx';
import './costs.css';
import { useAction } from '../design/use-action.ts';

// The table of prices while it is edited: texts, and their errors. Pure.

const AMOUNTS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;
type Amount = (typeof AMOUNTS)[number];
interface PriceRow extends Readonly<Record<Amount, string>> {
  /** Identifies the row while it is edited. */
  readonly key: number;
  readonly model: string;
  /** Tokens; empty: for all requests. */
  readonly above: string;
}

/** The relay's limits: US dollars per million tokens, and characters of a model’s name. */
const MOST = 10_000;
const LONGEST = 200;
const MOST_ROWS = 200;

const rowsOf = (prices: readonly Price[]): readonly PriceRow[] =>
  prices.map(({ model, above, input, output, cacheRead, cacheWrite }, key) => ({
    key,
    model,
    above: above === undefined ? '' : String(above),
    input: String(input),
    output: String(output),
    cacheRead: String(cacheRead),
    cacheWrite: String(cacheWrite),
  }));

function amountOf(text: string): number | null {
  const plain = text.trim().replace(',', '.');
  const value = /^\d+(\.\d*)?$|^\.\d+$/.test(plain) ? Number(plain) : NaN;
  return value >= 0 && value <= MOST ? value : null;
}

/** `null`: not a number of tokens. `undefined`: empty. */
function stepOf(text: string): number | null | undefined {
  const plain = text.replaceAll(/[\s,.]/g, '');
  if (plain === '') return undefined;
  return /^\d{1,9}$/.test(plain) && Number(plain) >= 1 && Number(plain) <= PRICE_STEP_MOST ? Number(plain) : null;
}

type PriceField = 'model' | 'above' | Amount;

/** The first error of each row, by field. */
function wrongIn(
  rows: readonly PriceRow[],
): ReadonlyMap<number, { readonly field: PriceField; readonly message: string }> {
  const wrong = new Map<number, { field: PriceField; message: string }>();
  const names = new Set<string>();
  for (const row of rows) {
    const model = row.model.trim();
    const above = stepOf(row.above);
    const name = `${above ?? 0} ${model}`;
    const amount = AMOUNTS.find((name) => amountOf(row[name]) === null);
    if (model === '')
      wrong.set(row.key, {
        field: 'model',
        message: t`A row needs a model’s name, or * for all others.`,
      });
    else if (model.length > LONGEST) wrong.set(row.key, { field: 'model', message: t`This name is too long.` });
    else if (above === null)
      wrong.set(row.key, {
        field: 'above',
        message: t`${model}: give a whole number of tokens, or nothing.`,
      });
    else if (names.has(name)) wrong.set(row.key, { field: 'model', message: t`${model} is in two rows.` });
    else if (amount) wrong.set(row.key, { field: amount, message: t`${model}: give prices from 0 to 10,000.` });
    names.add(name);
  }
  return wrong;
}

/** Only for rows without errors. */
const pricesOf = (rows: readonly PriceRow[]): readonly Price[] =>
  rows.map((row) => ({
    model: row.model.trim(),
    ...(typeof stepOf(row.above) === 'number' ? { above: stepOf(row.above) ?? undefined } : {}),
    input: amountOf(row.input) ?? 0,
    output: amountOf(row.output) ?? 0,
    cacheRead: amountOf(row.cacheRead) ?? 0,
    cacheWrite: amountOf(row.cacheWrite) ?? 0,
  }));

const lineOf = ({ model, above = 0, input, output, cacheRead, cacheWrite }: Price) =>
  JSON.stringify([model, above, input, output, cacheRead, cacheWrite]);
/** Whether these are Roost's own prices, in any order. */
function areOwn(prices: readonly Price[]): boolean {
  const own = new Set(DEFAULT_PRICES.map(lineOf));
  return prices.length === own.size && prices.every((price) => own.has(lineOf(price)));
}

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
  const model = row.model.trim() === '' ? t`new` : row.model;
  const named = row.above.trim() === '' ? model : t`${model} above ${row.above} tokens`;
  return (
    <tr>
      <th scope="row">
        <input
          className="field"
          aria-label={t`Model ${named}`}
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
          aria-label={`${t`Above tokens`}, ${model}`}
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
        <button type="button" className="icon-button" aria-label={t`Remove ${named}`} onClick={onRemove}>
          <CloseIcon />
        </button>
      </td>
    </tr>
  );
}

function Editor({ table: { prices, version } }: { table: PricesAnswer }) {
  const { notices } = useRoost();
  const queries = useCostQueries();
  // null: shows the saved prices, and updates when another page saves.
  const [draft, setRows] = useState<readonly PriceRow[] | null>(null);
  /** The version from which the draft was made, or a newer one that the person has seen. */
  const [base, setBase] = useState(version);
  const [isNewer, setNewer] = useState(false);
  const { busy: saving, act } = useAction();
  const rows = draft ?? rowsOf(prices);
  const wrong = draft ? wrongIn(draft) : new Map<number, never>();
  const first = [...wrong.values()][0];
  const setDraft = (to: readonly PriceRow[] | null) => {
    if (draft === null || to === null) setBase(version);
    if (to === null) setNewer(false);
    setRows(to);
  };
  const put = (table: readonly Price[], said: string) =>
    act(async () => {
      const done = await queries.setPrices(table, draft ? base : version);
      if (done.newer !== undefined) {
        setBase(done.newer);
        return setNewer(true);
      }
      if (!done.ok) return notices.error(t`Could not save this. ${done.reason}`);
      setDraft(null);
      return notices.info(said, { label: t`Undo`, run: () => void queries.setPrices(areOwn(prices) ? [] : prices) });
    });
  const change = (row: PriceRow) => setDraft(rows.map((one) => (one.key === row.key ? row : one)));
  return (
    <div className="prices stack gap-5 narrow">
      <p className="setting-hint">
        {t`US dollars per million tokens. The longest matching name counts. ${<code>*</code>} is for all other models, as an estimate (≈).`}
      </p>
      {/* Scrollable where it is too wide, by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="sheet relative panel scroll box prices-sheet" role="region" aria-label={t`Prices`} tabIndex={0}>
        <table className="table table-figures">
          <thead>
            <tr>
              <th scope="col">{t`Model`}</th>
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
      {isNewer && (
        <p className="setting-state" data-wrong="true" role="alert">
          {CHANGED_ELSEWHERE}
        </p>
      )}
      <div className="flex wrap gap-4">
        {draft && (
          <>
            <button
              type="button"
              className="solid"
              disabled={first !== undefined || saving || rows.length === 0}
              onClick={() => put(pricesOf(rows), t`Saved`)}
            >
              {saving ? t`Saving…` : t`Save`}
            </button>
            <button type="button" className="ghost" onClick={() => setDraft(null)}>{t`Cancel`}</button>
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
            onClick={() => put([], t`Undone.`)}
          >{t`Restore the default prices`}</button>
        )}
      </div>
    </div>
  );
}

/** The table of prices. */
function PriceTable() {
  return <QueryView query={useCostQueries().prices}>{(table) => <Editor table={table} />}</QueryView>;
}

function AgentLine({ who, today }: { who: Teammate; today: string }) {
  return (
    <li className="gap-4 cluster tint pad-4-0" style={{ '--c': who.color }}>
      <Face agentId={who.agentId} face={who.face} color={who.color} awake={false} />
      <div className="grow">
        <Link href={PATHS.about(who.agentId)} className="agent-name named unlined underlined" dir="auto">
          {who.name}
        </Link>
        <small className="block">{today}</small>
      </div>
      <AgentBudget agentId={who.agentId} name={who.name} />
    </li>
  );
}

function Budgets({ own }: { own: HouseholdConfig }) {
  const queries = useCostQueries();
  const costs = useCosts(USUAL_DAYS);
  const team = useTeammates();
  const spentOf = (agentId: AgentId) =>
    costs.kind === 'ready' ? costs.value.agents.find((agent) => agent.agentId === agentId)?.today : undefined;
  return (
    <>
      <BudgetField
        label={t`Budget a day, all agents together`}
        hint={t`Empty: no limit. 0: no model is asked at all.`}
        held={own.daily_budget_usd ?? null}
        none={t`no limit`}
        most={BUDGET_BOUNDS.household.max}
        onSave={queries.setHouseholdBudget}
      />
      <BudgetField
        label={t`Budget a day, each agent`}
        held={own.coordination.daily_budget_usd ?? null}
        none={t`no limit`}
        most={BUDGET_BOUNDS.agent.max}
        onSave={queries.setEachBudget}
      />
      <h3>{t`One by one`}</h3>
      <ul className="ruled-between">
        {team.all
          .filter(({ retired }) => !retired)
          .map((who) => {
            const spent = spentOf(who.agentId);
            return <AgentLine key={who.agentId} who={who} today={spent ? costText(spent) : '$0'} />;
          })}
      </ul>
    </>
  );
}

/** Daily budgets, and the prices used for costs. */
export function CostsSection() {
  const { limits } = useRoost();
  const costs = useCosts(USUAL_DAYS);
  const rehearsing = useRehearsing();
  const online = useLive((state) => state.link.kind === 'live');
  return (
    <div className="cost-settings">
      <p className="settings-note under-6 ink-2 text-3">
        {costs.kind === 'ready' && <span>{t`Today: ${costText(costs.value.today)} `}</span>}
        <Link href={PATHS.activity('costs')}>{t`Costs`}</Link>
      </p>
      {rehearsing && (
        <p className="cost-note warn-box warn text-3 round under-6 pad-4-6">{t`Demo: no model is connected, and nothing costs anything.`}</p>
      )}
      {!online && (
        <p className="settings-note under-6 ink-2 text-3">{t`The relay cannot be reached. Nothing can be changed now.`}</p>
      )}
      <h3>{t`Daily budgets`}</h3>
      <p className="setting-hint">{t`When a budget is used up, no request is sent until midnight.`}</p>
      <QueryView query={limits.query}>{({ own }) => <Budgets own={own} />}</QueryView>
      <h3>{t`Prices`}</h3>
      <PriceTable />
    </div>
  );
}
