/** The costs page: charts and tables by day, agent, routine and session. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Costs, Spent } from '../../../shared/protocol/costs.ts';
import { spoken, t } from '../../language/t.ts';
import { budgetText, costText, money, tokens, tokensOf, usdOf } from '../text/money.ts';
import { QueryLoading, QueryProblem } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { useRehearsing } from '../models/chip.tsx';
import { asBeginning, count, plural } from '../text/sizes.ts';
import { type Teammates, useTeammates } from '../use-somebody.ts';
import { OneOf } from '../design/one-of.tsx';
import { useConversations, useLive } from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { fullTime } from '../text/time.ts';
import { Meter, useCostQueries, useCosts, USUAL_DAYS } from './budget-field.tsx';
import './costs.css';

export type Measure = 'money' | 'tokens';
type Day = Costs['days'][number];

const dayFormat = new Intl.DateTimeFormat(spoken.locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
/** `2026-11-21` as `21 Nov`. */
export function dayText(day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? day : dayFormat.format(time);
}

/** Round steps of a scale. */
const STEPS = [1, 2, 2.5, 5, 10];
/** The least round number that is not below `value`. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return (STEPS.find((step) => step * unit >= value * (1 - 1e-9)) ?? 10) * unit;
}

const valueOf = ({ spent }: Day, measure: Measure) =>
  measure === 'money' ? usdOf(spent.costMicroUsd) : tokensOf(spent);

/**
 * A bar for each day. Decorative: the table beside it has the same content. `days`: newest first.
 */
function Chart({ days, measure, budgetUsd }: { days: readonly Day[]; measure: Measure; budgetUsd: number | null }) {
  const oldestFirst = [...days].reverse();
  const budget = measure === 'money' ? budgetUsd : null;
  const highest = Math.max(...oldestFirst.map((day) => valueOf(day, measure)), 0);
  // A budget far above the costs would flatten the bars.
  const top = roundUp(budget !== null && budget <= highest * 4 ? Math.max(highest, budget) : highest);
  const label = (value: number) => (measure === 'money' ? money(Math.round(value * 1_000_000)) : tokens(value));
  return (
    <div className="chart panel box stack figures ink-3 text-1 cols-auto-fill" aria-hidden="true">
      <div className="chart-scale column-wise text-end flex apart">
        <span>{label(top)}</span>
        <span>{label(top / 2)}</span>
        <span>0</span>
      </div>
      <div className="chart-bars relative stack" style={{ '--days': oldestFirst.length }}>
        {budget !== null && budget <= top && (
          <span className="chart-budget absolute untouchable" style={{ '--at': budget / top }}>
            <small className="warn text-1 ground-1 absolute">{t`budget ${budgetText(budget)}`}</small>
          </span>
        )}
        {oldestFirst.map((day, i) => (
          <span
            key={day.day}
            className="chart-day flex at-bottom"
            title={t`${dayText(day.day)}: ${`${costText(day.spent)}, ${t`${tokens(tokensOf(day.spent))} tokens`}`}`}
            data-today={i === oldestFirst.length - 1}
          >
            <i
              className="fill"
              style={{ '--share': valueOf(day, measure) / top }}
              data-none={valueOf(day, measure) === 0}
            />
          </span>
        ))}
      </div>
      <div className="chart-days flex apart">
        <span>{dayText(oldestFirst[0]?.day ?? '')}</span>
        {oldestFirst.length > 2 && (
          <span>{dayText(oldestFirst[Math.floor((oldestFirst.length - 1) / 2)]?.day ?? '')}</span>
        )}
        <span>{oldestFirst.length > 1 ? t`today` : ''}</span>
      </div>
    </div>
  );
}

/** A table that scrolls where it is too wide or too long, by keyboard too. */
function Sheet({ label, head, children }: { label: string; head: readonly string[]; children: ReactNode }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="sheet relative panel scroll box" role="region" aria-label={label} tabIndex={0}>
      <table className="table table-figures">
        <thead>
          <tr>
            {head.map((title) => (
              <th className="raised ground-1" key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function FigureCells({ spent }: { spent: Spent }) {
  return (
    <>
      <td>{count(spent.requests)}</td>
      <td title={t`${count(spent.inputTokens)} tokens`}>{tokens(spent.inputTokens)}</td>
      <td title={t`${count(spent.outputTokens)} tokens`}>{tokens(spent.outputTokens)}</td>
      <td title={t`${count(spent.cacheReadTokens)} read, ${count(spent.cacheWriteTokens)} written`}>
        {tokens(spent.cacheReadTokens + spent.cacheWriteTokens)}
      </td>
      <td className="sheet-cost">{costText(spent)}</td>
    </>
  );
}
const FIGURES = [t`Requests`, t`Input`, t`Output`, t`Cached`, t`Costs`] as const;

function DayTable({ days }: { days: Costs['days'] }) {
  return (
    <Sheet label={t`By day`} head={[t`Day`, ...FIGURES]}>
      {days.map(
        ({ day, spent }, i) =>
          (i === 0 || spent.requests > 0) && (
            <tr key={day}>
              <th scope="row">{i === 0 ? t`Today` : dayText(day)}</th>
              <FigureCells spent={spent} />
            </tr>
          ),
      )}
    </Sheet>
  );
}

function AgentTable({ agents, days, team }: { agents: Costs['agents']; days: number; team: Teammates }) {
  return (
    <Sheet label={t`By agent`} head={[t`Agent`, t`Today`, t`${days} days`, t`Tokens`, t`Budget a day`]}>
      {agents.map(({ agentId, today, total, dailyBudgetUsd }) => {
        const agent = team.find(agentId);
        return (
          <tr key={agentId}>
            <th scope="row">
              <Link
                href={PATHS.about(agentId)}
                className="underlined inline-flex agent-name unlined gap-4 middle named tint"
                style={{ '--c': agent.color }}
              >
                <Face agentId={agent.agentId} face={agent.face} color={agent.color} awake={false} />
                <span dir="auto">{agent.name}</span>
              </Link>
            </th>
            <td>{costText(today)}</td>
            <td className="sheet-cost">{costText(total)}</td>
            <td title={t`${count(tokensOf(total))} tokens`}>{tokens(tokensOf(total))}</td>
            <td>{dailyBudgetUsd === null ? '–' : budgetText(dailyBudgetUsd)}</td>
          </tr>
        );
      })}
    </Sheet>
  );
}

type Rest = NonNullable<Costs['rest']>;
const KINDS: readonly (readonly [Costs['routines'][number]['kind'], string])[] = [
  ['routine', t`Routines`],
  ['wake', asBeginning(t`woken by others`)],
  ['reminder', t`Reminders`],
  ['script', t`Scripts`],
];

/** Runs of agents by kind: on schedule, or woken by someone while absent. */
function RoutineTable({
  routines,
  rest,
  team,
}: {
  routines: Costs['routines'];
  rest: Rest['routines'] | undefined;
  team: Teammates;
}) {
  return (
    <Sheet label={t`Without you`} head={[t`What`, t`Who`, t`Runs`, t`Tokens`, t`Costs`]}>
      {KINDS.flatMap(([kind, title]) => {
        const own = routines.filter((one) => one.kind === kind);
        if (own.length === 0) return [];
        const sum = {
          runs: own.reduce((all, { runs }) => all + runs, 0),
          tokens: own.reduce((all, one) => all + one.tokens, 0),
          costMicroUsd: own.reduce((all, one) => all + one.costMicroUsd, 0),
          estimated: own.some(({ estimated }) => estimated),
        };
        return [
          <tr key={kind} className="sheet-kind">
            <th scope="row">{title}</th>
            <td />
            <RunCells spent={sum} />
          </tr>,
          ...own.map((one) => (
            <tr key={`${one.scheduleId} ${one.agentId}`}>
              <th scope="row" dir="auto">
                {one.name ?? (kind === 'wake' ? t`Every wake` : t`Removed`)}
              </th>
              <td dir="auto">{team.find(one.agentId).name}</td>
              <RunCells spent={one} />
            </tr>
          )),
        ];
      })}
      {rest && (
        <tr className="sheet-kind">
          <th scope="row">{plural(rest.count, 'more', 'more')}</th>
          <td />
          <RunCells spent={rest} />
        </tr>
      )}
    </Sheet>
  );
}

function RunCells({
  spent,
}: {
  spent: Pick<Costs['routines'][number], 'runs' | 'tokens' | 'costMicroUsd' | 'estimated'>;
}) {
  return (
    <>
      <td>{count(spent.runs)}</td>
      <td title={t`${count(spent.tokens)} tokens`}>{tokens(spent.tokens)}</td>
      <td className="sheet-cost">{costText(spent)}</td>
    </>
  );
}

/** When each session began, if an opened conversation contains that. */
function useStarts(): ReadonlyMap<string, number> {
  const conversations = useConversations((state) => state.byAgent);
  const running = useLive((state) => (state.live ? state.session : null));
  const starts = new Map<string, number>();
  for (const { spans } of conversations.values())
    for (const [sessionId, { startedAt }] of spans) if (startedAt !== null) starts.set(sessionId, startedAt);
  if (running) starts.set(running.sessionId, running.startedAt);
  return starts;
}

function SessionTable({ sessions, rest }: { sessions: Costs['sessions']; rest: Rest['sessions'] | undefined }) {
  const starts = useStarts();
  const running = useLive((state) => state.live?.sessionId ?? null);
  return (
    <Sheet label={t`By session`} head={[t`Session`, ...FIGURES]}>
      {sessions.map(({ sessionId, lastAt, spent }) => {
        const start = starts.get(sessionId);
        const when = start === undefined ? t`until ${fullTime(lastAt)}` : fullTime(start);
        return (
          <tr key={sessionId}>
            <th scope="row">{sessionId === running ? t`Running now` : when}</th>
            <FigureCells spent={spent} />
          </tr>
        );
      })}
      {rest && (
        <tr>
          <th scope="row">{plural(rest.count, 'earlier session')}</th>
          <FigureCells spent={rest.spent} />
        </tr>
      )}
    </Sheet>
  );
}

const RANGES = [7, USUAL_DAYS, 90] as const;

function Block({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="cost-block gap-5 stack narrow" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Figures({ costs, days, onDays }: { costs: Costs; days: number; onDays: (days: number) => void }) {
  const team = useTeammates();
  const rehearsing = useRehearsing();
  const [measure, setMeasure] = useState<Measure>(() =>
    costs.days.some(({ spent }) => spent.costMicroUsd > 0) ? 'money' : 'tokens',
  );
  const { today } = costs;
  const nothing = costs.days.every(({ spent }) => spent.requests === 0);
  const estimated = costs.days.some(({ spent }) => spent.estimated) || costs.routines.some((one) => one.estimated);
  return (
    <>
      <section className="panel round-l framed pad-7" aria-label={t`Today`}>
        <h2 className="ink-2 text-3 medium">{t`Today`}</h2>
        <p className="cost-figure bold figures">{costText(today)}</p>
        <p className="pretty ink-3 text-3">{`${plural(today.requests, 'request')} · ${t`${tokens(tokensOf(today))} tokens`}`}</p>
        <Meter label={t`Budget a day`} spent={today} budgetUsd={costs.dailyBudgetUsd} />
        {costs.dailyBudgetUsd === null && (
          <p className="pretty ink-3 text-3">{t`${t`Budget a day`}: ${t`no limit`}`}</p>
        )}
      </section>
      {rehearsing && (
        <p className="cost-note warn-box warn text-3 round pad-4-6">{t`Demo: no model is connected, and nothing costs anything.`}</p>
      )}
      <section className="cost-block gap-5 stack narrow" aria-label={t`By day`}>
        <div className="cost-line gap-4 cluster">
          <h2 className="fill">{t`By day`}</h2>
          <OneOf
            label={t`Unit`}
            options={[
              { value: 'money', text: t`Money` },
              { value: 'tokens', text: t`Tokens` },
            ]}
            value={measure}
            onChange={setMeasure}
          />
          <OneOf
            label={t`Period`}
            options={RANGES.map((value) => ({ value, text: t`${value} days` }))}
            value={days}
            onChange={onDays}
          />
        </div>
        {nothing ? (
          <p className="pretty ink-3 text-3">{t`No model was used in these ${days} days.`}</p>
        ) : (
          <div className="halves at-top gap-7 stack">
            <Chart days={costs.days} measure={measure} budgetUsd={costs.dailyBudgetUsd} />
            <DayTable days={costs.days} />
          </div>
        )}
      </section>
      {costs.agents.length > 0 && (
        <Block title={t`By agent`}>
          <AgentTable agents={costs.agents} days={days} team={team} />
        </Block>
      )}
      {costs.routines.length > 0 && (
        <Block title={t`Without you`}>
          <RoutineTable routines={costs.routines} rest={costs.rest?.routines} team={team} />
        </Block>
      )}
      {costs.sessions.length > 0 && (
        <Block title={t`By session`}>
          <SessionTable sessions={costs.sessions} rest={costs.rest?.sessions} />
        </Block>
      )}
      <p className="pretty ink-3 text-3">
        {estimated && <span>{`≈ ${t`At most: its exact usage or price is unknown`}. `}</span>}
        <span>{t`Counted with your price table. Your provider’s bill is what you pay.`}</span>
      </p>
    </>
  );
}

/** The team's costs: today, by day, by agent and by session. */
export function CostReport() {
  const [days, setDays] = useState<number>(USUAL_DAYS);
  const costs = useCosts(days);
  const queries = useCostQueries();
  // While another period loads, the last one stays visible.
  const [lastCosts, setLastCosts] = useState<Costs | null>(null);
  if (costs.kind === 'ready' && costs.value !== lastCosts) setLastCosts(costs.value);
  return (
    <div className="page stack gap-7">
      {costs.kind === 'loading' && !lastCosts && <QueryLoading />}
      <QueryProblem query={queries.report(days)} state={costs} before={lastCosts !== null} />
      {lastCosts && <Figures costs={lastCosts} days={days} onDays={setDays} />}
      <p className="gap-4 above-3 flex wrap text-2">
        <Link href={PATHS.settings('costs')}>{t`Budgets and prices`}</Link>
      </p>
    </div>
  );
}
