import { type FormEvent, useId, useState } from 'react';
import type { Costs, Spent } from '../../../shared/protocol/costs.ts';
import { BUDGET_BOUNDS } from '../../../shared/domain/guardrails.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { type CostQueries, costQueriesOf } from '../../state/costs.ts';
import type { QueryState } from '../../state/query.ts';
import { t } from '../../language/t.ts';
import type { Done } from '../../state/actions/parts.ts';
import { wakeQueries } from '../../state/wakes.ts';
import { problemText } from '../../state/ports.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { UsedBar } from '../design/progress.tsx';
import { budgetText, costText, money, parseUsd, usdOf } from '../text/money.ts';

/** The default period in days. */
export const USUAL_DAYS = 30;

export const useCostQueries = (): CostQueries => costQueriesOf(useRoost());
export const useCosts = (days: number): QueryState<Costs> => useQuery(useCostQueries().report(days));

/** The used part of a day's budget, in words and as a bar. */
export function Meter({
  label,
  spent,
  budgetUsd,
}: {
  label: string;
  spent: Pick<Spent, 'costMicroUsd' | 'estimated'>;
  budgetUsd: number | null;
}) {
  if (budgetUsd === null) return null;
  const spentUsd = usdOf(spent.costMicroUsd);
  const share = budgetUsd === 0 ? 1 : Math.min(1, spentUsd / budgetUsd);
  const microUsdLeft = Math.max(0, Math.round((budgetUsd - spentUsd) * 1_000_000));
  return (
    <div className="above-5 measure">
      <UsedBar
        share={share}
        meter={{ label, now: spentUsd, most: budgetUsd, text: t`${costText(spent)} of ${budgetText(budgetUsd)}` }}
      />
      <p className={`figures text-3 above-3 ${share >= 1 ? 'warn' : 'ink-2'}`}>
        {share >= 1
          ? t`Used up: ${budgetText(budgetUsd)}`
          : t`${spent.estimated ? '≈ ' : ''}${money(microUsdLeft)} of ${budgetText(budgetUsd)} left today`}
      </p>
    </div>
  );
}

interface Props {
  readonly label: string;
  readonly hint?: string;
  /** US dollars a day; null: none is set here. */
  readonly held: number | null;
  /** Placeholder of the empty field. */
  readonly none: string;
  /** US dollars, inclusive. */
  readonly most: number;
  readonly onSave: (usd: number | null) => Promise<Done>;
  /** The label is for screen readers only: visible text beside it has the same meaning. */
  readonly bare?: boolean;
}

const textOf = (usd: number | null) => (usd === null ? '' : String(usd));

/** A daily budget in dollars, saved automatically. */
export function BudgetField({ label, hint, held, none, most, onSave, bare = false }: Props) {
  const id = useId();
  // null: the saved value, which another page may change.
  const [draft, setDraft] = useState<string | null>(null);
  const [state, setState] = useState<'idle' | 'saving' | 'saved'>('idle');
  const [failed, setFailed] = useState<string | null>(null);
  /** The value before it was saved; null: nothing was saved. */
  const [before, setBefore] = useState<{ readonly usd: number | null } | null>(null);
  const text = draft ?? textOf(held);
  const value = parseUsd(text, most);
  const changed = draft !== null && draft !== textOf(held);
  const wrong = changed && value === undefined ? t`Give an amount from 0 to ${budgetText(most)}, or nothing.` : null;
  const problem = wrong ?? (failed === null ? null : t`Could not save this. ${failed}`);
  const put = async (usd: number | null, undo: typeof before) => {
    setState('saving');
    const saved = await onSave(usd);
    setFailed(saved.ok ? null : saved.reason);
    setState(saved.ok ? 'saved' : 'idle');
    if (!saved.ok) return;
    setDraft(null);
    setBefore(undo);
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!changed || value === undefined) return;
    await put(value, { usd: held });
  };
  return (
    <form
      className={bare ? 'dollars dollars-bare' : 'setting dollars'}
      onSubmit={(event) => void save(event)}
      noValidate
    >
      <label htmlFor={id} className={bare ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <div className="setting-row">
        <span className="setting-unit" aria-hidden="true">
          $
        </span>
        <input
          id={id}
          className="field field-number"
          inputMode="decimal"
          autoComplete="off"
          value={text}
          placeholder={none}
          aria-invalid={problem !== null}
          aria-describedby={`${id}-hint ${id}-state`}
          onChange={(event) => {
            setDraft(event.target.value);
            setState('idle');
            setFailed(null);
          }}
        />
        {!bare && <span className="setting-unit">{t`a day`}</span>}
        {changed && (
          <button type="submit" className="solid" disabled={wrong !== null || state === 'saving'}>
            {state === 'saving' ? t`Saving…` : t`Save`}
          </button>
        )}
      </div>
      {hint && (
        <p id={`${id}-hint`} className="setting-hint">
          {hint}
        </p>
      )}
      <p id={`${id}-state`} className="setting-state" role="status" data-wrong={problem !== null}>
        {(problem ?? (state === 'saved' && !changed)) && <span>{problem ?? t`Saved`}</span>}
        {problem === null && state === 'saved' && !changed && before && (
          <button type="button" className="link-button" onClick={() => void put(before.usd, null)}>{t`Undo`}</button>
        )}
      </p>
    </form>
  );
}

/** An agent's own daily budget; empty: the default for every agent. */
export function AgentBudget({ agentId, name }: { agentId: AgentId; name: string }) {
  const state = useRoost();
  const queries = useCostQueries();
  const own = useQuery(wakeQueries(state).limits(agentId).query);
  const household = useQuery(state.limits.query);
  if (own.kind !== 'ready')
    return <p className="setting-hint">{own.kind === 'loading' ? t`Loading…` : problemText(own.problem)}</p>;
  const usual = household.kind === 'ready' ? household.value.effective.coordination.daily_budget_usd : null;
  return (
    <BudgetField
      bare
      label={t`${t`Budget a day ($)`}: ${name}`}
      held={own.value.own.coordination.daily_budget_usd ?? null}
      none={usual === null ? t`no limit` : String(usual)}
      most={BUDGET_BOUNDS.agent.max}
      onSave={(usd) => queries.setAgentBudget(agentId, usd)}
    />
  );
}
