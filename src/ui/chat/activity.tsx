/** What goes on, in the line under a name: what, and since when; a press unfolds what was done until now. */
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../domain/ids.ts';
import { t } from '../../language/t.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { callsOf } from '../../state/calls.ts';
import { wantsTo } from '../calls/words.ts';
import { useAnswers, useLive, useRoost } from '../context.tsx';
import { ChevronIcon } from '../parts/icons.tsx';
import { PATHS } from '../routes.ts';
import { clockTime } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { useQuery } from '../use-query.ts';
import { namedIn, useTeammates } from '../use-teammates.ts';
import { doingOf, stepsOf, type Doing, type Growing, type Step } from './doing.ts';
import { keyOf } from '../parts/keys.ts';
import './activity.css';

const SECOND = 1_000;
/** Of what takes no longer nothing is said. */
const WORTH_SAYING = 2 * SECOND;

/** `12 s`, `3 min` */
function spanText(ms: number): string {
  const seconds = Math.floor(ms / SECOND);
  return seconds < 60 ? t`${seconds} s` : t`${Math.floor(seconds / 60)} min`;
}

/** How long it has lasted. It watches the clock, alone. */
function Lasts({ from }: { from: number }) {
  const lasted = useNow(SECOND) - from;
  return lasted < WORTH_SAYING ? null : <span className="activity-span"> · {spanText(lasted)}</span>;
}

/** The line, and what it unfolds. `label`: whose it is. */
export function ActivityLine({
  label,
  doing,
  children,
}: {
  label: string;
  doing: readonly (Doing & { readonly who?: string })[];
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    const onKey = (event: KeyboardEvent) => {
      if (keyOf(event) !== 'Escape') return;
      // Nothing else is closed by the same press.
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    };
    const onPointer = ({ target }: PointerEvent) => {
      if (target instanceof Node && !ref.current?.contains(target)) setOpen(false);
    };
    document.addEventListener('keydown', onKey, { capture: true });
    document.addEventListener('pointerdown', onPointer);
    return () => {
      document.removeEventListener('keydown', onKey, { capture: true });
      document.removeEventListener('pointerdown', onPointer);
    };
  }, [open]);
  return (
    <div ref={ref} className="activity">
      <button
        type="button"
        className="activity-line"
        aria-expanded={open}
        aria-controls={id}
        title={t`What goes on`}
        onClick={() => setOpen(!open)}
      >
        {doing.map(({ who, text, from, waits }, i) => (
          <span key={who ?? i} className="activity-one">
            <i className="activity-dot" data-waits={waits} aria-hidden="true" />
            <span className="activity-text" dir="auto">
              {who === undefined ? text : `${who} ${text}`}
            </span>
            <Lasts from={from} />
          </span>
        ))}
        <ChevronIcon />
      </button>
      <div id={id} className="activity-list" role="region" aria-label={label} hidden={!open}>
        {open && children}
      </div>
    </div>
  );
}

const SHOWN = 12;
const MARKS: Readonly<Record<Step['state'], string>> = { done: '✓', failed: '!', asked: '?', now: '•' };
const STATES: Readonly<Record<Step['state'], string>> = {
  done: t`done`,
  failed: t`it did not work`,
  asked: t`asked you`,
  now: t`under way`,
};

function StepRow({ step: { text, state, from, until } }: { step: Step }) {
  return (
    <li data-state={state}>
      <span className="activity-mark" aria-hidden="true">
        {MARKS[state]}
      </span>
      <span className="activity-text" dir="auto">
        {text}
        <span className="visually-hidden">, {STATES[state]}</span>
      </span>
      <span className="activity-span">
        {from !== null && <span>{clockTime(from)}</span>}
        {from !== null && until !== null && until - from >= WORTH_SAYING && (
          <span>{` · ${spanText(until - from)}`}</span>
        )}
        {from !== null && until === null && <Lasts from={from} />}
      </span>
    </li>
  );
}

/** What somebody asks the person for, with the way to answer. */
function Asked({ agentId }: { agentId: AgentId }) {
  const state = useQuery(callsOf(useRoost()).approvals);
  const asked = (state.kind === 'ready' ? state.value.waiting : []).filter((call) => call.agentId === agentId);
  return asked.map((call) => (
    <li key={call.callId} data-state="asked">
      <span className="activity-mark" aria-hidden="true">
        {MARKS.asked}
      </span>
      <span className="activity-text">{t`waits for you: wants to ${wantsTo(call)}`}</span>
      <span className="activity-span">
        {clockTime(call.askedAt)} <Link href={PATHS.approvals(agentId)}>{t`Answer`}</Link>
      </span>
    </li>
  ));
}

/** What one did in this answer, and does now. */
export function Steps({ answer, doing, agentId }: { answer: Growing | undefined; doing: Doing; agentId: AgentId }) {
  const nameOf = namedIn(useTeammates());
  const steps = answer ? stepsOf(answer, nameOf) : [];
  const shown = steps.slice(-SHOWN);
  const isUnderWay = shown.some(({ state }) => state === 'now');
  return (
    <ul className="activity-steps">
      {steps.length > shown.length && (
        <li className="activity-earlier">{t`${steps.length - shown.length} more before that`}</li>
      )}
      {shown.map((step) => (
        <StepRow key={step.key} step={step} />
      ))}
      {!isUnderWay && <StepRow step={{ key: 'now', text: doing.text, state: 'now', from: doing.from, until: null }} />}
      <Asked agentId={agentId} />
    </ul>
  );
}

/** What this agent does now; null: nothing. */
export function useDoing(agentId: AgentId): { readonly answer: Growing | undefined; readonly doing: Doing | null } {
  const answer = useAnswers((state) => openAnswerOf(state, agentId));
  const place = useLive((state) => state.positions.get(agentId));
  const nameOf = namedIn(useTeammates());
  const { device } = useRoost();
  const [since] = useState(() => device.now());
  if (place !== undefined)
    return {
      answer,
      doing: { text: t`waits for the model: number ${place} in line`, from: answer?.startedAt ?? since, waits: true },
    };
  return { answer, doing: answer ? doingOf(answer, nameOf) : null };
}

export default function Activity({ agentId, name, otherwise }: { agentId: AgentId; name: string; otherwise: string }) {
  const { answer, doing } = useDoing(agentId);
  if (!doing) return <p>{otherwise}</p>;
  return (
    <ActivityLine label={t`What ${name} does`} doing={[doing]}>
      <Steps answer={answer} doing={doing} agentId={agentId} />
    </ActivityLine>
  );
}
