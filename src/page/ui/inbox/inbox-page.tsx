/** What waits for the person, each with its one action, and what is unread. */
import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { canGoOn } from '../../../shared/domain/schedule/timing.ts';
import { retold, t } from '../../language/t.ts';
import { approvalsOf } from '../../state/approvals.ts';
import type { Unread, Wait } from '../../state/inbox.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { askBarOf, showsElsewhere, waitingOf } from '../../state/waiting.ts';
import { ApprovalCard } from '../approvals/approval-card.tsx';
import { useActions, useRoost } from '../context.tsx';
import { stoppedText } from '../costs/budget-banner.tsx';
import { CloseIcon } from '../design/icons.tsx';
import { outcomeText as examOutcome, titleOf } from '../exams/words.ts';
import { FaceOf } from '../grid/face-of.tsx';
import { useNow, useQuery } from '../hooks.ts';
import { PageHead, QueryProblem } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { GoOn } from '../schedule/activity-list.tsx';
import MorningLine from '../schedule/morning.tsx';
import { momentText, outcomeText, whatText } from '../schedule/words.ts';
import { newCount } from '../text/reasons.ts';
import { useTeammates } from '../use-somebody.ts';
import { ProposalRow } from './proposal.tsx';
import { waitsText } from './words.ts';
import './inbox.css';
import { useAction } from '../design/use-action.ts';
import { asBeginning } from '../text/sizes.ts';

interface RowProps {
  readonly kind: Wait['kind'];
  /** Whose face is beside it; null: nobody's. */
  readonly agentId: string | null;
  readonly title: ReactNode;
  readonly note?: ReactNode;
  /** The action. */
  readonly children: ReactNode;
}

function Row({ kind, agentId, title, note, children }: RowProps) {
  return (
    <li className="inbox-row pad box stack middle gap-5 ground-1" data-kind={kind}>
      <span className="size-m" aria-hidden="true">
        {agentId !== null && <FaceOf agentId={agentId} />}
      </span>
      <div className="narrow break">
        <p>{title}</p>
        {note !== undefined && note !== '' && <p className="clamp clip text-2 ink-2 clamp-3">{note}</p>}
      </div>
      <div className="inbox-row-ways line gap-4">{children}</div>
    </li>
  );
}

type Of<Kind extends Wait['kind']> = Extract<Wait, { readonly kind: Kind }>;

function TaskRow({ kind, project, card }: Pick<Of<'review' | 'blocked'>, 'kind' | 'project' | 'card'>) {
  const { projectId } = project;
  const path = kind === 'review' ? PATHS.review(projectId, card.number) : PATHS.task(projectId, card.taskId);
  const author = card.worker ?? card.createdBy;
  return (
    <Row
      kind={kind}
      agentId={card.claim?.agentId ?? card.assignee ?? (author === 'human' ? null : author)}
      title={
        <Link href={path} dir="auto">
          {`#${card.number} ${card.title}`}
        </Link>
      }
      note={
        <>
          <span dir="auto">{project.name}</span>
          {card.note !== '' && <span dir="auto">{` · ${retold(card.note)}`}</span>}
        </>
      }
    >
      <Link
        href={kind === 'review' ? PATHS.review(project.projectId, card.number) : path}
        className="solid inline-flex middle unlined"
      >
        {kind === 'review' ? t`Review` : t`Answer`}
      </Link>
    </Row>
  );
}

function FailedRow({ run }: Pick<Of<'failed'>, 'run'>) {
  const actions = useActions();
  const { notices } = useRoost();
  const mate = useTeammates().find(run.agentId);
  const now = useNow();
  const putAway = () =>
    void actions.saveSettings({ runsReadTo: run.endedAt ?? 0 }).then((done) => {
      if (!done.ok) notices.error(done.reason);
    });
  return (
    <Row
      kind="failed"
      agentId={run.agentId}
      title={
        <Link href={PATHS.agent(run.agentId)} dir="auto">
          {`${mate.name}: ${whatText(run)}`}
        </Link>
      }
      note={`${outcomeText(run)}, ${momentText(run.dueAt, now)}${run.detail === null ? '' : `. ${retold(run.detail)}`}`}
    >
      {canGoOn(run) ? <GoOn run={run} /> : <Link href={PATHS.schedule(run.agentId)} className="ghost">{t`Open`}</Link>}
      <button type="button" className="icon-button" aria-label={t`Put away`} title={t`Put away`} onClick={putAway}>
        <CloseIcon />
      </button>
    </Row>
  );
}

function PausedRow({ scheduled }: Pick<Of<'paused'>, 'scheduled'>) {
  const schedules = schedulesOf(useRoost());
  const { busy, act } = useAction();
  const { schedule, pausedWhy } = scheduled;
  return (
    <Row
      kind="paused"
      agentId={schedule.agentId}
      title={
        <Link href={PATHS.schedule(schedule.agentId)} dir="auto">
          {t`“${schedule.name}” is paused`}
        </Link>
      }
      note={pausedWhy === null ? '' : retold(pausedWhy)}
    >
      <button
        type="button"
        className="solid"
        disabled={busy}
        onClick={() => act(() => schedules.toggle(scheduled))}
      >{t`Switch on`}</button>
    </Row>
  );
}

function DreamRow({ dream }: Pick<Of<'dream'>, 'dream'>) {
  const mate = useTeammates().find(dream.agentId);
  return (
    <Row
      kind="dream"
      agentId={dream.agentId}
      title={t`${mate.name} proposes a new version of its memory`}
      note={dream.said}
    >
      <Link href={PATHS.about(dream.agentId)} className="solid">{t`Open`}</Link>
    </Row>
  );
}

function ExamRow({ exam }: Pick<Of<'exam'>, 'exam'>) {
  const mate = useTeammates().find(exam.agentId);
  return (
    <Row
      kind="exam"
      agentId={exam.agentId}
      title={t`An exam of ${mate.name} waits for you`}
      note={`${titleOf(exam)}: ${examOutcome(exam.items)}`}
    >
      <Link href={PATHS.continuity(exam.agentId)} className="solid">{t`Open`}</Link>
    </Row>
  );
}

function WaitRow({ wait }: { wait: Wait }) {
  const team = useTeammates();
  switch (wait.kind) {
    case 'question':
      return (
        <li>
          <ApprovalCard call={wait.call} oneClick />
        </li>
      );
    case 'review':
    case 'blocked':
      return <TaskRow kind={wait.kind} project={wait.project} card={wait.card} />;
    case 'failed':
      return <FailedRow run={wait.run} />;
    case 'paused':
      return <PausedRow scheduled={wait.scheduled} />;
    case 'proposal':
      return <ProposalRow proposal={wait.proposal} />;
    case 'dream':
      return <DreamRow dream={wait.dream} />;
    case 'exam':
      return <ExamRow exam={wait.exam} />;
    case 'budget':
      return (
        <Row kind="budget" agentId={wait.stop.agentId} title={stoppedText([wait.stop], team)}>
          <Link href={PATHS.settings('costs')} className="solid">{t`Raise it`}</Link>
        </Row>
      );
    default:
      return wait satisfies never;
  }
}

function UnreadRow({ unread }: { unread: Unread }) {
  const team = useTeammates();
  const of =
    unread.kind === 'agent'
      ? { path: PATHS.agent(unread.agentId), name: team.find(unread.agentId).name, hint: '' }
      : { path: PATHS.thread(unread.thread.threadId), name: unread.thread.title, hint: t`mentions you` };
  return (
    <li>
      <Link href={of.path} className="flex middle apart gap-5 touchable unlined ink pad-2-5">
        <span dir="auto">{of.name}</span>{' '}
        {of.hint !== '' && (
          <>
            <small className="end ink-2">{of.hint}</small>{' '}
          </>
        )}
        <b className="ink-2">{newCount([unread.count])}</b>
      </Link>
    </li>
  );
}

export default function InboxPage({ onClose }: { onClose: () => void }) {
  const roost = useRoost();
  const { waits, unread } = useStore(waitingOf(roost));
  const query = approvalsOf(roost).approvals;
  const state = useQuery(query);
  const sandbox = state.kind === 'ready' ? state.value.sandbox : null;
  useEffect(() => showsElsewhere(askBarOf(roost), ''), [roost]);
  return (
    <div className="calls inbox page page-narrow stack one-column gap-7">
      <PageHead title={t`Inbox`} onClose={onClose} />
      <QueryProblem query={query} state={state} before={state.kind === 'ready'} />
      <section aria-labelledby="inbox-waiting">
        <h2 className="under-5" id="inbox-waiting">
          {waits.length === 0 ? asBeginning(t`waits for you`) : waitsText(waits)}
        </h2>
        {waits.length === 0 && state.kind === 'ready' && (
          <p className="query-quiet ink-3 text-3">{t`Nothing is waiting for you.`}</p>
        )}
        <ul className="inbox-waits gap-4 stack" aria-labelledby="inbox-waiting">
          {waits.map((wait) => (
            <WaitRow key={wait.key} wait={wait} />
          ))}
        </ul>
      </section>
      {sandbox !== null && sandbox.why !== null && <p className="pretty text-2 ink-2">{retold(sandbox.why)}</p>}
      <section aria-labelledby="inbox-new">
        <h2 className="under-5" id="inbox-new">{t`Unread`}</h2>
        <MorningLine />
        {unread.length === 0 && (
          <p className="query-quiet ink-3 text-3">{t`Answers and messages to you appear here.`}</p>
        )}
        {unread.length > 0 && (
          <ul className="ruled-between box stack ground-1" aria-labelledby="inbox-new">
            {unread.map((one) => (
              <UnreadRow key={one.key} unread={one} />
            ))}
          </ul>
        )}
        <p className="gap-4 above-3 flex wrap text-2">
          <Link className="touchable line" href={PATHS.threads}>{t`All threads`}</Link>
        </p>
      </section>
    </div>
  );
}
