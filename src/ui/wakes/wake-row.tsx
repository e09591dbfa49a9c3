import { useId } from 'react';
import { Link } from 'wouter';
import { LEAD_ID } from '../../domain/seat.ts';
import type { WakeDecision } from '../../protocol/wakes.ts';
import { FaceOf } from '../grid/face-of.tsx';
import { ChevronIcon } from '../parts/icons.tsx';
import { PATHS } from '../places.ts';
import { clockTime, fullTime } from '../text/time.ts';
import { WakePath } from './wake-path.tsx';
import { askedText, outcomeText, REASON_WORDS, sourceName, WAY_WORDS, type NameOf } from './words.ts';

function Facts({ wake, nameOf }: { wake: WakeDecision; nameOf: NameOf }) {
  const { time, source, target, way, reason, messageId, detail } = wake;
  return (
    <dl className="wake-facts">
      <dt>When</dt>
      <dd>{fullTime(time)}</dd>
      <dt>Who</dt>
      <dd dir="auto">{sourceName(source, nameOf)}</dd>
      <dt>Whom</dt>
      <dd dir="auto">
        <Link href={PATHS.agent(target)}>{nameOf(target)}</Link>
      </dd>
      <dt>Way</dt>
      <dd>{WAY_WORDS[way]}</dd>
      {reason && (
        <>
          <dt>Reason</dt>
          <dd>{REASON_WORDS[reason]}</dd>
        </>
      )}
      <dt>What came of it</dt>
      <dd dir="auto">{detail}</dd>
      {messageId && (
        <>
          <dt>Message</dt>
          <dd>
            <Link href={PATHS.inbox(target)}>
              {target === LEAD_ID ? 'In the lead’s inbox' : `In the inbox of ${nameOf(target)}`}
            </Link>
          </dd>
        </>
      )}
    </dl>
  );
}

interface Props {
  readonly wake: WakeDecision;
  readonly nameOf: NameOf;
  readonly open: boolean;
  readonly onToggle: () => void;
}

/** One decision of the gate; opened, with its way through the checks. */
export function WakeRow({ wake, nameOf, open, onToggle }: Props) {
  const id = useId();
  const reason = wake.reason && REASON_WORDS[wake.reason];
  return (
    <li className="wake" data-open={open}>
      <button type="button" className="wake-line" aria-expanded={open} aria-controls={id} onClick={onToggle}>
        <span className="wake-mark" data-outcome={wake.outcome} aria-hidden="true" />
        <span className="wake-face" aria-hidden="true">
          <FaceOf agentId={wake.target} />
        </span>
        <span className="wake-words">
          <span className="wake-asked" dir="auto">
            {askedText(wake, nameOf)}
            {reason && <span className="wake-reason"> · {reason}</span>}
          </span>{' '}
          <span className="wake-outcome" data-outcome={wake.outcome}>
            <span className="visually-hidden">: </span>
            {outcomeText(wake)}
          </span>
        </span>
        <time dateTime={new Date(wake.time).toISOString()} title={fullTime(wake.time)}>
          {clockTime(wake.time)}
        </time>
        <ChevronIcon />
      </button>
      <div id={id} className="wake-more" hidden={!open}>
        {open && (
          <>
            <Facts wake={wake} nameOf={nameOf} />
            <WakePath wake={wake} />
          </>
        )}
      </div>
    </li>
  );
}
