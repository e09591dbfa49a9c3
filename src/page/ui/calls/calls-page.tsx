/** The page with agents’ requests to the person, and the audit log of their tool calls. */
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { retold, t } from '../../language/t.ts';
import type { ToolCall } from '../../../shared/protocol/calls.ts';
import { callsOf } from '../../state/calls.ts';
import { showsElsewhere, trayOf } from '../../state/waiting.ts';
import { useRoost } from '../context.tsx';
import { OlderButton } from '../inbox/inbox.tsx';
import { AgentSelect } from '../parts/choices.tsx';
import { PageHead, QueryView } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { byDay } from '../text/by-day.ts';
import { bytes } from '../text/sizes.ts';
import { clockTime, dayWithin } from '../text/time.ts';
import { revealed, revealedCode } from '../text/unseen.ts';
import { useNow } from '../hooks.ts';
import { useTeammates } from '../use-somebody.ts';
import { ApprovalCard } from './card.tsx';
import { allowedText, endText, didIn, inputOf, textIn, wantsTo } from './words.ts';
import './calls.css';

const lasted = (ms: number) => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** One call in one line that expands. `apart`: with its agent and day, in a list of several. */
function CallLine({ call, apart }: { call: ToolCall; apart: boolean }) {
  const [open, setOpen] = useState(false);
  const mate = useTeammates().find(call.agentId);
  const now = useNow();
  const input = inputOf(call);
  const about =
    textIn(input, 'command') ??
    textIn(input, 'url') ??
    textIn(input, 'path') ??
    textIn(input, 'from') ??
    textIn(input, 'to') ??
    textIn(input, 'title') ??
    '';
  const { question } = call;
  const isDone = call.state === 'done' && !call.isError;
  const does = question ? t`${question.server} asked you` : isDone ? didIn(call) : wantsTo(call);
  const began = call.answeredAt ?? call.askedAt;
  return (
    <li>
      <details data-error={call.isError} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <time dateTime={new Date(call.askedAt).toISOString()}>
            {apart && <span>{`${dayWithin(call.askedAt, now)} `}</span>}
            <span>{clockTime(call.askedAt)}</span>
          </time>
          {apart && (
            <span dir="auto" className="call-who">
              {mate.name}
            </span>
          )}
          <span className="call-about">
            <span className="call-does" dir="auto">
              {does}
            </span>
            {!does.includes(about) && <span dir="auto"> {revealedCode(about)}</span>}
          </span>
          <span className="call-end">{endText(call)}</span>
        </summary>
        {open && (
          <dl>
            <dt>{t`Asked for`}</dt>
            <dd>
              <code>{call.tool}</code>
              <pre dir="auto">{revealed(question ? question.message : call.input)}</pre>
            </dd>
            <dt>{question ? t`Where` : t`Who allowed it`}</dt>
            <dd>
              {!question && <span>{`${allowedText(call)}, `}</span>}
              <span>
                {call.where === 'session'
                  ? t`in a session`
                  : call.where === 'run'
                    ? t`at work alone`
                    : call.where === 'relay'
                      ? t`the relay asked, since the file has changed`
                      : t`from an API client`}
              </span>
            </dd>
            <dt>{t`What came of it`}</dt>
            <dd>
              <span>{endText(call)}</span>
              {call.endedAt !== null && (call.state === 'done' || call.state === 'stopped') && (
                <span>{t`, after ${lasted(Math.max(0, call.endedAt - began))}`}</span>
              )}
              {call.bytes !== null && <span>{`, ${bytes(call.bytes)}`}</span>}
              {call.outcome !== null && <pre dir="auto">{question ? retold(call.outcome) : call.outcome}</pre>}
              {call.state === 'declined' && call.words !== null && <pre dir="auto">{call.words}</pre>}
            </dd>
          </dl>
        )}
      </details>
    </li>
  );
}

function CallList({ calls, apart }: { calls: readonly ToolCall[]; apart: boolean }) {
  return (
    <ul className="call-list" data-apart={apart}>
      {calls.map((call) => (
        <CallLine key={call.callId} call={call} apart={apart} />
      ))}
    </ul>
  );
}

/** The audit log of tool calls, newest first: by day for one agent, or for all. */
export function CallLog({ agentId, days = false }: { agentId: AgentId | null; days?: boolean }) {
  const account = callsOf(useRoost()).account(agentId);
  const now = useNow();
  return (
    <QueryView query={account} what={t`What was done`}>
      {({ rows, more }) =>
        rows.length === 0 ? (
          <p className="query-quiet">{t`Nothing yet.`}</p>
        ) : (
          <>
            {days ? (
              byDay(rows, now, ({ askedAt }) => askedAt).map(({ day, items }) => (
                <section key={day} className="call-day" aria-label={day}>
                  <h3>{day}</h3>
                  <CallList calls={items} apart={false} />
                </section>
              ))
            ) : (
              <CallList calls={rows} apart />
            )}
            {more ? (
              <OlderButton paged={account} label={t`Older calls`} />
            ) : (
              <p className="call-note">{t`The relay keeps them for 90 days.`}</p>
            )}
          </>
        )
      }
    </QueryView>
  );
}

/** The requests of agents, and the audit log of their tool calls. */
export default function CallsPage({ agentId, onClose }: { agentId: AgentId | null; onClose: () => void }) {
  const roost = useRoost();
  const calls = callsOf(roost);
  useEffect(() => showsElsewhere(trayOf(roost), agentId ?? ''), [roost, agentId]);
  const of = (call: ToolCall) => agentId === null || call.agentId === agentId;
  return (
    <div className="calls">
      <PageHead title={t`Approvals`} onClose={onClose}>
        <AgentSelect label={t`Of`} everybody={t`everybody`} agentId={agentId} path={PATHS.approvals} />
      </PageHead>
      <p className="calls-about">
        {t`Requests waiting for you, and everything agents did. ${<Link href={PATHS.limits(agentId)}>{t`Change permissions`}</Link>}`}
      </p>
      <QueryView query={calls.approvals} what={t`What waits for you`}>
        {({ waiting, sandbox }) => (
          <>
            <section aria-labelledby="calls-waiting">
              <h2 id="calls-waiting">{t`Waits for you`}</h2>
              {waiting.some(of) ? (
                waiting.filter(of).map((call) => <ApprovalCard key={call.callId} call={call} />)
              ) : (
                <p className="query-quiet">{t`Nothing is waiting for you.`}</p>
              )}
            </section>
            {sandbox.why !== null && <p className="call-note">{retold(sandbox.why)}</p>}
          </>
        )}
      </QueryView>
      <section aria-labelledby="calls-done">
        <h2 id="calls-done">{t`What was done`}</h2>
        <CallLog agentId={agentId} />
      </section>
    </div>
  );
}
