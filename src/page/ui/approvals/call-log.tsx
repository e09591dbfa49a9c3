/** The audit log of agents’ tool calls. */
import { useState } from 'react';
import { retold, t } from '../../language/t.ts';
import type { ToolCall } from '../../../shared/protocol/approvals.ts';
import { bytes } from '../text/sizes.ts';
import { clockTime } from '../text/time.ts';
import { revealed, revealedCode } from '../text/unseen.ts';
import { useTeammates } from '../use-somebody.ts';
import { allowedText, endText, didIn, inputOf, textIn, wantsTo } from './words.ts';
import './approvals.css';

const lasted = (ms: number) => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** One call in one line that expands. `named`: with its agent. */
export function CallLine({ call, named }: { call: ToolCall; named: boolean }) {
  const [open, setOpen] = useState(false);
  const mate = useTeammates().find(call.agentId);
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
  const does = question ? t`${question.server} asks you something` : isDone ? didIn(call) : wantsTo(call);
  const began = call.answeredAt ?? call.askedAt;
  return (
    <li className="ground-1">
      <details data-error={call.isError} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="line gap-4 text-2 touchable pad-3-5">
          <time className="ink-2 truncate" dateTime={new Date(call.askedAt).toISOString()}>
            <span>{clockTime(call.askedAt)}</span>
          </time>
          {named && (
            <span dir="auto" className="call-who truncate">
              {mate.name}
            </span>
          )}
          <span className="call-about fill ink-2 truncate">
            <span className="ink" dir="auto">
              {does}
            </span>
            {!does.includes(about) && <span dir="auto"> {revealedCode(about)}</span>}
          </span>
          <span className={`truncate ${call.isError ? 'danger' : 'ink-2'}`}>{endText(call)}</span>
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
            <dt>{t`Outcome`}</dt>
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
