import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Costs, Spent } from '../../protocol/costs.ts';
import { useConversations, useLive } from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { PATHS } from '../places.ts';
import { budgetText, costText, tokens, tokensOf } from '../text/money.ts';
import { count } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';
import type { Teammates } from '../use-teammates.ts';
import { dayText } from './chart.tsx';

/** A table that scrolls by itself where it is too wide or too long, by keyboard too. */
function Sheet({ label, head, children }: { label: string; head: readonly string[]; children: ReactNode }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="sheet" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((title) => (
              <th key={title} scope="col">
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

function Figures({ spent }: { spent: Spent }) {
  return (
    <>
      <td>{count(spent.requests)}</td>
      <td title={`${count(spent.inputTokens)} tokens`}>{tokens(spent.inputTokens)}</td>
      <td title={`${count(spent.outputTokens)} tokens`}>{tokens(spent.outputTokens)}</td>
      <td title={`${count(spent.cacheReadTokens)} read, ${count(spent.cacheWriteTokens)} written`}>
        {tokens(spent.cacheReadTokens + spent.cacheWriteTokens)}
      </td>
      <td className="sheet-cost">{costText(spent)}</td>
    </>
  );
}
const FIGURES = ['Requests', 'In', 'Out', 'Cached', 'Cost'] as const;

export function DayTable({ days }: { days: Costs['days'] }) {
  return (
    <Sheet label="Day by day" head={['Day', ...FIGURES]}>
      {days.map(({ day, spent }, i) => (
        <tr key={day} data-none={spent.requests === 0}>
          <th scope="row">{i === 0 ? 'Today' : dayText(day)}</th>
          <Figures spent={spent} />
        </tr>
      ))}
    </Sheet>
  );
}

export function AgentTable({ agents, days, team }: { agents: Costs['agents']; days: number; team: Teammates }) {
  return (
    <Sheet label="Agent by agent" head={['Agent', 'Today', `${days} days`, 'Tokens', 'Budget a day']}>
      {agents.map(({ agentId, today, total, dailyBudgetUsd }) => {
        const who = team.find(agentId);
        return (
          <tr key={agentId}>
            <th scope="row">
              <Link href={PATHS.soul(agentId)} className="sheet-who tint" style={{ '--c': who.color }}>
                <Face agentId={who.agentId} birthName={who.birthName} color={who.color} awake={false} />
                <span dir="auto">{who.name}</span>
              </Link>
            </th>
            <td>{costText(today)}</td>
            <td className="sheet-cost">{costText(total)}</td>
            <td title={`${count(tokensOf(total))} tokens`}>{tokens(tokensOf(total))}</td>
            <td>{dailyBudgetUsd === null ? '–' : budgetText(dailyBudgetUsd)}</td>
          </tr>
        );
      })}
    </Sheet>
  );
}

/** When a session began, where a conversation that was opened tells of it. */
function useStarts(): ReadonlyMap<string, number> {
  const conversations = useConversations((state) => state.byAgent);
  const running = useLive((state) => (state.live ? state.session : null));
  const starts = new Map<string, number>();
  for (const { spans } of conversations.values())
    for (const [sessionId, { startedAt }] of spans) if (startedAt !== null) starts.set(sessionId, startedAt);
  if (running) starts.set(running.sessionId, running.startedAt);
  return starts;
}

export function SessionTable({ sessions }: { sessions: Costs['sessions'] }) {
  const starts = useStarts();
  const running = useLive((state) => state.live?.sessionId ?? null);
  return (
    <Sheet label="Session by session" head={['Session', ...FIGURES]}>
      {sessions.map(({ sessionId, spent }) => {
        const start = starts.get(sessionId);
        return (
          <tr key={sessionId}>
            <th scope="row" title={sessionId}>
              {sessionId === running ? (
                'Running now'
              ) : start === undefined ? (
                <code>{sessionId.slice(-8)}</code>
              ) : (
                fullTime(start)
              )}
            </th>
            <Figures spent={spent} />
          </tr>
        );
      })}
    </Sheet>
  );
}
