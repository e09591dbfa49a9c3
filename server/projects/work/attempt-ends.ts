/** The end of an attempt: with its claim, or because the relay that knew its run is gone. */
import { sentence } from '../../../src/shared/domain/names.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import type { Attempt, Receipt } from '../../../src/shared/protocol/attempts.ts';
import { type EndedClaim, type OpenAttempt, RUN_ENDED } from '../board/index.ts';
import { refusedIn } from './approvals.ts';
import { isFault } from './outcome.ts';
import type { WorkBase } from './base.ts';
import type { Receipts } from './receipts.ts';

/** What an attempt has come to, by the end of its claim. */
function outcomeOf({ last, kind }: EndedClaim): NonNullable<Attempt['outcome']> {
  if (last.what === 'released') return last.by !== 'relay' ? 'released' : last.note === RUN_ENDED ? 'ended' : 'lost';
  return kind === 'review' || kind === 'done' || kind === 'blocked' ? kind : 'released';
}

export type Settle = ReturnType<typeof createAttemptEnds>['settle'];

export function createAttemptEnds(base: WorkBase, { receiptOf }: Receipts) {
  const { projects, attempts, inOrder, alone, logger } = base;
  /** Ends an attempt. What cannot be found out is said in its note. */
  async function settle(
    open: OpenAttempt,
    outcome: Attempt['outcome'],
    note: string,
    noteBy: Attempt['noteBy'] = 'relay',
  ): Promise<void> {
    const { attempt } = open;
    const project = await projects.read(attempt.projectId);
    let result: { readonly head: string | null; readonly receipt: Receipt } | null = null;
    let why = note;
    if (project.ok)
      try {
        result = await receiptOf(project.value, open);
      } catch (error) {
        if (!isFault(error)) throw error;
        why = `${note} ${error instanceof Error ? error.message : ''}`.trim();
      }
    const refused = refusedIn(result?.receipt);
    // What the agent was refused stands in the way, whatever it says of its work.
    const isBlocked = refused !== null && (outcome === 'review' || outcome === 'ended' || outcome === 'released');
    if (isBlocked) why = `${refused} ${why}`.trim();
    await attempts.end(attempt.attemptId, {
      outcome: isBlocked ? 'blocked' : outcome,
      ...{ head: result?.head ?? null, receipt: result?.receipt ?? null, note: why.slice(0, 2_000) },
      noteBy: why === note ? noteBy : 'relay',
    });
  }

  projects.onClaimEnded((ended) => {
    const work = inOrder(ended.taskId, async () => {
      const all = await attempts.open(ended.agentId);
      const open = all.filter(
        ({ attempt, claimToken }) => attempt.taskId === ended.taskId && claimToken <= ended.token,
      );
      if (open.length === 0) return;
      const outcome = outcomeOf(ended);
      // What a run has left running ends before somebody else takes the task.
      if (outcome === 'ended' || outcome === 'lost') await base.endCommandsOf(ended.agentId);
      const { by, note } = ended.last;
      const noteBy = by === PERSON ? 'human' : by === 'relay' ? 'relay' : 'agent';
      for (const each of open) await settle(each, each.attempt.kind === 'agent' ? outcome : 'lost', note, noteBy);
    }).catch((error: unknown) =>
      logger.error('The end of an attempt at a task could not be written. The relay’s next start writes it.', {
        error,
      }),
    );
    base.track(work);
  });

  /** Ends attempts whose claim is over. Called once, before anybody works. */
  async function recover(): Promise<void> {
    for (const { attempt, claimToken } of await attempts.open())
      await inOrder(attempt.taskId, async () => {
        const held = await projects.heldBy(attempt.taskId);
        // An executor of an earlier process has no caller any more.
        const goesOn = held?.token === claimToken && !(alone && attempt.kind === 'executor');
        const open = (await attempts.open(attempt.agentId)).find(
          (each) => each.attempt.attemptId === attempt.attemptId,
        );
        if (open && !goesOn) await settle(open, 'lost', sentence`The relay stopped in the middle of it.`);
      });
  }

  return { settle, recover };
}
