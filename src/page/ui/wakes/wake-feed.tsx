/**
 * The feed of wakes: each decision of the gate, grouped by click.
 */
import { Link } from 'wouter';
import { type ReactNode, useId, useState } from 'react';
import type { WakeDecision } from '../../../shared/protocol/wakes.ts';
import { retold, t } from '../../language/t.ts';
import { PATHS } from '../routes.ts';
import { useNames } from '../use-somebody.ts';
import { useUnreadMessages, WakeToRead } from '../inbox/inbox.tsx';
import { plural } from '../text/sizes.ts';
import { clockTime, fullTime } from '../text/time.ts';
import { FaceOf } from '../grid/face-of.tsx';
import { ChevronIcon } from '../design/more-icons.tsx';
import {
  askedText,
  clickOutcomes,
  clickText,
  type NameOf,
  outcomeText,
  REASON_WORDS,
  sourceName,
  WAY_WORDS,
} from './words.ts';
import './wakes.css';

// Groups the wakes that one click of the person requested. Pure.

/**
 * Longest gap in ms between two wakes of one click without a known call. Agents that were put to
 * sleep are woken one by one right after the click, and older relays recorded no calls.
 */
const APART_MS = 5_000;

const isClick = ({ source, way }: WakeDecision) => source.kind === 'person' && way === 'person';

const areOfOne = (later: WakeDecision, wake: WakeDecision) =>
  isClick(later) &&
  isClick(wake) &&
  later.callId === wake.callId &&
  (wake.callId !== null || later.time - wake.time <= APART_MS);

/**
 * `wakes`: newest first, and so are the groups. One click wakes no agent twice. Other wakes form
 * groups of their own.
 */
export function byClick(wakes: readonly WakeDecision[]): WakeDecision[][] {
  const groups: WakeDecision[][] = [];
  for (const wake of wakes) {
    const group = groups.at(-1);
    const later = group?.at(-1);
    if (group && later && areOfOne(later, wake) && !group.some(({ target }) => target === wake.target))
      group.push(wake);
    else groups.push([wake]);
  }
  return groups;
}

function Facts({ wake, nameOf }: { wake: WakeDecision; nameOf: NameOf }) {
  const { time, source, target, way, reason, messageId, outcome, detail } = wake;
  const unread = useUnreadMessages(target) ?? 0;
  return (
    <dl className="wake-facts rows-top stack text-2 cols-auto-fill">
      <dt className="ink-3">{t`When`}</dt>
      <dd className="break ink">{fullTime(time)}</dd>
      <dt className="ink-3">{t`Who`}</dt>
      <dd className="break ink" dir="auto">
        {sourceName(source, nameOf)}
      </dd>
      <dt className="ink-3">{t`Agent`}</dt>
      <dd className="break ink" dir="auto">
        <Link href={PATHS.agent(target)}>{nameOf(target)}</Link>
      </dd>
      <dt className="ink-3">{t`Cause`}</dt>
      <dd className="break ink">{WAY_WORDS[way]}</dd>
      {reason && (
        <>
          <dt className="ink-3">{t`Reason`}</dt>
          <dd className="break ink">{REASON_WORDS[reason]}</dd>
        </>
      )}
      <dt className="ink-3">{t`Outcome`}</dt>
      <dd className="break ink" dir="auto">
        {retold(detail)}
      </dd>
      {messageId && (
        <>
          <dt className="ink-3">{t`Message`}</dt>
          <dd className="break ink">
            <Link href={PATHS.agentInbox(target)}>{t`Inbox`}</Link>
          </dd>
          {outcome !== 'granted' && unread > 0 && (
            <>
              <dt className="ink-3">{t`Inbox`}</dt>
              <dd className="break ink">
                {plural(unread, 'unread message')} <WakeToRead agentId={target} />
              </dd>
            </>
          )}
        </>
      )}
    </dl>
  );
}

interface LineProps {
  /** Whose outcome and time are shown. */
  readonly wake: WakeDecision;
  readonly figure: ReactNode;
  readonly asked: ReactNode;
  readonly outcome: ReactNode;
  readonly open: boolean;
  readonly onToggle: () => void;
  /** The id of what it opens. */
  readonly controls: string;
}

/** The line of one wake or of several, which opens what is below it. */
function WakeLine({ wake, figure, asked, outcome, open, onToggle, controls }: LineProps) {
  return (
    <button
      type="button"
      className="wake-line text-start full plain-button stack middle gap-5 text-3 round pad-3-5"
      aria-expanded={open}
      aria-controls={controls}
      onClick={onToggle}
    >
      <span className="wake-mark rounded" data-outcome={wake.outcome} aria-hidden="true" />
      {figure}
      <span className="wake-words flex baseline wrap narrow gap-x-4">
        <span className="wake-asked break ink" dir="auto">
          {asked}
        </span>{' '}
        <span className="wake-outcome text-2 medium" data-outcome={wake.outcome}>
          <span className="visually-hidden">: </span>
          {outcome}
        </span>
      </span>
      <time className="text-2 ink-2" dateTime={new Date(wake.time).toISOString()} title={fullTime(wake.time)}>
        {clockTime(wake.time)}
      </time>
      <ChevronIcon />
    </button>
  );
}

interface Props {
  readonly wake: WakeDecision;
  readonly nameOf: NameOf;
  readonly open: boolean;
  readonly onToggle: () => void;
}

/** One decision of the gate. Expanded, it shows its details. */
function WakeRow({ wake, nameOf, open, onToggle }: Props) {
  const id = useId();
  const reason = wake.reason && REASON_WORDS[wake.reason];
  return (
    <li className="wake box ground-1" data-open={open}>
      <WakeLine
        {...{ wake, open, onToggle }}
        controls={id}
        figure={
          <span className="size-m block" aria-hidden="true">
            <FaceOf agentId={wake.target} />
          </span>
        }
        asked={
          <>
            <span>{askedText(wake, nameOf)}</span>
            {reason && <span className="ink-3"> · {reason}</span>}
          </>
        }
        outcome={outcomeText(wake)}
      />
      <div id={id} className="wake-more ruled stack" hidden={!open}>
        {open && <Facts wake={wake} nameOf={nameOf} />}
      </div>
    </li>
  );
}

interface RowsProps {
  readonly wakes: readonly WakeDecision[];
  readonly nameOf: NameOf;
  /** The expanded row. */
  readonly open: string | null;
  readonly setOpen: (decisionId: string | null) => void;
}

function Rows({ wakes, nameOf, open, setOpen }: RowsProps) {
  return wakes.map((wake) => (
    <WakeRow
      key={wake.decisionId}
      wake={wake}
      nameOf={nameOf}
      open={wake.decisionId === open}
      onToggle={() => setOpen(wake.decisionId === open ? null : wake.decisionId)}
    />
  ));
}

/** The wakes of one click in one line. Expanded, it lists each of them. */
function ClickRow(props: RowsProps & { readonly newest: WakeDecision }) {
  const { wakes, nameOf, newest } = props;
  const [unfolded, setUnfolded] = useState(false);
  const id = useId();
  return (
    <li className="wake box wake-click ground-1" data-open={unfolded}>
      <WakeLine
        wake={newest}
        open={unfolded}
        onToggle={() => setUnfolded(!unfolded)}
        controls={id}
        figure={
          <span className="wake-count ink-2" aria-hidden="true">
            {wakes.length}
          </span>
        }
        asked={clickText(wakes, nameOf)}
        outcome={clickOutcomes(wakes)}
      />
      <ul id={id} className="wakes ruled stack gap-3" hidden={!unfolded}>
        {unfolded && <Rows {...props} />}
      </ul>
    </li>
  );
}

/** The wakes of one click, or one other wake. `open`: the expanded one. */
export function WakeGroup({ wakes, open, setOpen }: Omit<RowsProps, 'nameOf'>) {
  const nameOf = useNames();
  const [newest] = wakes;
  const rows = { wakes, nameOf, open, setOpen };
  return wakes.length > 1 && newest ? <ClickRow newest={newest} {...rows} /> : <Rows {...rows} />;
}
