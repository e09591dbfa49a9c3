/** Asks what to do when a task is moved to done, and a condition of its project does not hold. */
import { useState } from 'react';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { isRefusedAs, problemText } from '../../state/ports.ts';
import { type NotProven as Refused, projectsOf } from '../../state/projects.ts';
import { taskWorkOf } from '../../state/task-work.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useBoard } from './board.ts';
import { Review } from './review.tsx';

function Question({ refused, onClose }: { refused: Refused; onClose: () => void }) {
  const roost = useRoost();
  const projects = projectsOf(roost);
  const { tasks, away } = useBoard();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const [reviews, setReviews] = useState(false);
  const { columnId, note, why } = refused;
  const task = tasks.find(({ taskId }) => taskId === refused.task.taskId) ?? refused.task;
  const request = task.request?.state === 'open' ? task.request : null;
  const merge = async () => {
    if (request === null) return;
    setBusy(true);
    const problem = await taskWorkOf(roost).merge(task, request.head);
    setBusy(false);
    if (problem === null) onClose();
    else if (isRefusedAs(problem, 'changed-elsewhere'))
      setFailed(t`There are newer commits than the ones that were asked about. Read the changes first.`);
    else setFailed(problemText(problem));
  };
  const anyway = async () => {
    setBusy(true);
    const isMoved = await projects.move(task, columnId, note, true);
    setBusy(false);
    if (isMoved) onClose();
  };
  if (reviews) return <Review task={task} onClose={onClose} />;
  return (
    <Dialog title={t`Is #${task.number} ${task.title} done?`} onClose={onClose}>
      <div className="work-question">
        <p>{t`Not everything that this project asks for is there:`}</p>
        <p className="not-proven-why">{why}</p>
        {request !== null && <p>{t`A request to merge is open. If you merge it, the task is done.`}</p>}
        <p className="setting-hint">{t`You may say that it is done anyway. Nothing is merged then, and its card says what is missing.`}</p>
        {failed !== null && (
          <p className="wrong-note" role="alert">
            {failed}
          </p>
        )}
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Leave it where it is`}</button>
          <button type="button" className="ghost" disabled={busy || away} onClick={() => void anyway()}>
            {t`Done anyway`}
          </button>
          {request !== null && (
            <>
              <button type="button" className="ghost" onClick={() => setReviews(true)}>{t`Read the changes`}</button>
              <button type="button" className="solid" disabled={busy || away} onClick={() => void merge()}>
                {busy ? t`Merging…` : t`Merge and finish`}
              </button>
            </>
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** Shown over the board, or over the sheet from which the task was moved. */
export function NotProven() {
  const projects = projectsOf(useRoost());
  const refused = useStore(projects.notProven, (state) => state.refused);
  const { project } = useBoard();
  if (refused === null || refused.task.projectId !== project.projectId) return null;
  return (
    <Question
      key={refused.task.taskId}
      refused={refused}
      onClose={() => projects.notProven.setState({ refused: null })}
    />
  );
}
