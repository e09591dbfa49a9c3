/**
 * The line under an agent's name: what it does now, and since when. A press unfolds the steps so
 * far.
 */
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { wantsTo } from '../approvals/words.ts';
import { useAnswers, useRoost } from '../context.tsx';
import { ChevronIcon } from '../design/more-icons.tsx';
import { PATHS } from '../routes.ts';
import { clockTime } from '../text/time.ts';
import { Lasts, spanText, WORTH_SAYING } from '../parts/part.tsx';
import { useQuery } from '../hooks.ts';
import { namedIn, useTeammates } from '../use-somebody.ts';
import { useDoingNow } from '../doing-now.ts';
import { stepsOf, type Doing, type Growing, type Step } from './doing.ts';
import { STATES } from './step-outcome.ts';
import { keyOf } from '../design/keys.ts';
import './activity.css';

/** The line, and the steps it unfolds. `label` names the agent. */
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
      // The same press must not close anything else.
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
    <div ref={ref} className="activity relative">
      <button
        type="button"
        className="activity-line text-start at-most-full round-s plain-button gap-3 line ink-2 text-2 leading-4"
        aria-expanded={open}
        aria-controls={id}
        title={t`Now`}
        onClick={() => setOpen(!open)}
      >
        {doing.map(({ who, text, from, waits }, i) => (
          <span key={who ?? i} className="activity-one line narrow gap-3">
            <i
              className={`activity-dot dot ${waits ? 'dot-waits' : 'dot-live'}`}
              data-waits={waits}
              aria-hidden="true"
            />
            <span className="activity-text truncate" dir="auto">
              {who === undefined ? text : `${who}: ${text}`}
            </span>
            <Lasts from={from} />
          </span>
        ))}
        <ChevronIcon />
      </button>
      <div
        id={id}
        className="activity-list framed-strong scroll round ground-2 absolute"
        role="region"
        aria-label={label}
        hidden={!open}
      >
        {open && children}
      </div>
    </div>
  );
}

const SHOWN = 12;
const MARKS: Readonly<Record<Step['state'], string>> = { done: '✓', failed: '!', asked: '?', now: '•' };

function StepRow({ step: { text, state, from, until } }: { step: Step }) {
  return (
    <li className="stack gap-4 ink-2" data-state={state}>
      <span className="activity-mark centred ink-3" aria-hidden="true">
        {MARKS[state]}
      </span>
      <span className="activity-text truncate break" dir="auto">
        {text}
        <span className="visually-hidden">, {STATES[state]}</span>
      </span>
      <span className="activity-span fixed figures ink-3">
        {from !== null && <span>{clockTime(from)}</span>}
        {from !== null && until !== null && until - from >= WORTH_SAYING && (
          <span>{` · ${spanText(until - from)}`}</span>
        )}
        {from !== null && until === null && <Lasts from={from} />}
      </span>
    </li>
  );
}

/** What an agent asks the person for, with a way to answer. */
function Asked({ agentId }: { agentId: AgentId }) {
  const state = useQuery(approvalsOf(useRoost()).approvals);
  const waitingCalls = (state.kind === 'ready' ? state.value.waiting : []).filter((call) => call.agentId === agentId);
  return waitingCalls.map((call) => (
    <li key={call.callId} data-state="asked">
      <span className="activity-mark centred ink-3" aria-hidden="true">
        {MARKS.asked}
      </span>
      <span className="activity-text truncate">
        {call.question ? t`${call.question.server} asks you something` : t`asked you: ${wantsTo(call)}`}
      </span>
      <span className="activity-span fixed figures ink-3">
        {clockTime(call.askedAt)} <Link href={PATHS.inbox}>{t`Answer`}</Link>
      </span>
    </li>
  ));
}

/** The steps of this answer so far, and the current one. */
export function Steps({ answer, doing, agentId }: { answer: Growing | undefined; doing: Doing; agentId: AgentId }) {
  const nameOf = namedIn(useTeammates());
  const steps = answer ? stepsOf(answer, nameOf) : [];
  const shown = steps.slice(-SHOWN);
  const isUnderWay = shown.some(({ state }) => state === 'now');
  return (
    <ul className="activity-steps gap-3 stack text-2">
      {steps.length > shown.length && (
        <li className="activity-earlier">{t`and ${steps.length - shown.length} more`}</li>
      )}
      {shown.map((step) => (
        <StepRow key={step.key} step={step} />
      ))}
      {!isUnderWay && <StepRow step={{ key: 'now', text: doing.text, state: 'now', from: doing.from, until: null }} />}
      <Asked agentId={agentId} />
    </ul>
  );
}

export default function Activity({ agentId, name, otherwise }: { agentId: AgentId; name: string; otherwise: string }) {
  const now = useDoingNow(agentId);
  const answer = useAnswers((state) => openAnswerOf(state, agentId));
  if (!now) return <p>{otherwise}</p>;
  const doing: Doing = { ...now, step: 'calls', waits: now.mood !== 'works' && now.mood !== 'writes' };
  return (
    <ActivityLine label={t`What ${name} does`} doing={[doing]}>
      <Steps answer={answer} doing={doing} agentId={agentId} />
    </ActivityLine>
  );
}
