/** Asks what to do when a task is moved to done, and a condition of its project does not hold. */
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { isRefusedAs, problemText } from '../../state/ports.ts';
import { type NotProven as Refused, projectsOf } from '../../state/projects.ts';
import { taskWorkOf } from '../../state/task-work.ts';
import type { Task } from '../../../shared/protocol/projects.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { Dialog } from '../design/dialog.tsx';
import { PATHS } from '../routes.ts';
import { useBoard } from './board.ts';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

interface QuestionProps {
  readonly refused: Refused;
  /** Null: it is being read, and no request is known. */
  readonly whole: Task | null;
  readonly onClose: () => void;
}

function Question({ refused, whole, onClose }: QuestionProps) {
  const roost = useRoost();
  const projects = projectsOf(roost);
  const { tasks, away } = useBoard();
  const { busy, failed, act } = useAction();
  const { columnId, note, why } = refused;
  const task = tasks.find(({ taskId }) => taskId === refused.task.taskId) ?? refused.task;
  const request = whole?.request?.state === 'open' ? whole.request : null;
  const merge = () =>
    act(async () => {
      if (whole === null || request === null) return null;
      const problem = await taskWorkOf(roost).merge(whole, request.head);
      if (problem === null) return onClose();
      return isRefusedAs(problem, 'changed-elsewhere')
        ? t`There are newer commits than the ones shown here.`
        : problemText(problem);
    });
  const anyway = () =>
    act(async () => {
      if (await projects.move(task, columnId, note, true)) onClose();
    });
  return (
    <Dialog title={t`Is #${task.number} ${task.title} done?`} onClose={onClose}>
      <div className="work-question stack gap-5">
        <p className="round-s pad warn-box text-4 warn">{why}</p>
        <WrongNote text={failed} />
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button type="button" className="ghost" disabled={busy || away} onClick={anyway}>
            {t`Done anyway`}
          </button>
          {request !== null && (
            <>
              <Link className="ghost" href={PATHS.review(task.projectId, task.number)} onClick={onClose}>
                {t`Show the changes`}
              </Link>
              <button type="button" className="solid" disabled={busy || away} onClick={merge}>
                {busy ? t`Working…` : t`Merge and finish`}
              </button>
            </>
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** The board has only cards. The whole task, which has its request, is read for the question. */
function Asked({ refused, onClose }: Omit<QuestionProps, 'whole'>) {
  const { projectId, taskId } = refused.task;
  const state = useQuery(projectsOf(useRoost()).task(projectId, taskId));
  return <Question refused={refused} whole={state.kind === 'ready' ? state.value : null} onClose={onClose} />;
}

/** Shown over the board, or over the sheet from which the task was moved. */
export function NotProven() {
  const projects = projectsOf(useRoost());
  const refused = useStore(projects.notProven, (state) => state.refused);
  const { project } = useBoard();
  if (refused === null || refused.task.projectId !== project.projectId) return null;
  return (
    <Asked key={refused.task.taskId} refused={refused} onClose={() => projects.notProven.setState({ refused: null })} />
  );
}
