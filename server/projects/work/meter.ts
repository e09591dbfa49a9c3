/**
 * Counts each request to a model to the attempt that its agent works on, and stops the work when a
 * limit of the project is reached. So the cost of work in a conversation is known after each
 * request, and not when its session ends.
 *
 * A request counts to the attempt in whose checkout its run did something last, or else to the one
 * that it began last. The requests of the answer that claimed the task count to it, and so do those
 * of the answer in which the attempt ended.
 */
import type { AgentId, MessageId, ProjectId, RunId, TaskId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { tokensOf } from '../../../src/shared/domain/request-cost.ts';
import type { EventLog } from '../../log/index.ts';
import type { CostHold, CostRequest, Costs, RequestEnd } from '../../team/costs/contract.ts';
import type { Attempts, Began, Projects, Spent } from '../board/index.ts';
import type { WorkLimits } from './limits.ts';

const STOPPED = sentence`A limit of the project is reached, so the work on its task has ended. Write again to go on with something else.`;

export interface MeterDeps {
  readonly attempts: Pick<Attempts, 'add'>;
  readonly projects: Pick<Projects, 'read' | 'task'>;
  readonly limits: WorkLimits;
  readonly log: Pick<EventLog, 'subscribe'>;
  /** Ends the work on a task. `kind`: the task has cost too much, or the project today. */
  readonly stop: (
    kind: 'task' | 'day',
    at: { readonly projectId: ProjectId; readonly taskId: TaskId; readonly agentId: AgentId },
    why: string,
  ) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export interface Meter {
  began(attempt: Began): void;
  ended(attemptId: string): void;
  /** Its agent works on this attempt now, and not on another one that it has. */
  turned(attemptId: string): void;
  /** As the check of these costs. What is spent under it is counted. */
  check(costs: Pick<Costs, 'check'>, request: CostRequest, signal?: AbortSignal): ReturnType<Costs['check']>;
  close(): void;
}

/** What is known of a run, or of the requests of a client’s credential. */
interface Worker {
  /** Its attempts under way. The one that it works on comes last. */
  open: readonly Began[];
  /** An attempt that is over, and to which the answer that is under way still counts. */
  ending: Began | null;
  /** The answer that is under way. */
  answer: MessageId | null;
  /** Its requests in this answer that count to no attempt yet. */
  before: readonly Spent[];
  /** Adds the requests up to its newest claim. The limits were not looked at since. */
  claiming: Promise<unknown> | null;
  /** The answer that may send no further request. */
  stopped: MessageId | null;
}

const workerOf = ({ runId, credentialId }: { readonly runId?: RunId | null; readonly credentialId?: string }) =>
  runId != null ? `run ${runId}` : credentialId === undefined ? null : `credential ${credentialId}`;

function tokensIn(took: RequestEnd['took']): number | null {
  const all = took ? tokensOf(took.usage) : -1;
  return Number.isSafeInteger(all) && all >= 0 ? all : null;
}

export function createMeter({ attempts, projects, limits, log, stop, onError }: MeterDeps): Meter {
  const workers = new Map<string, Worker>();
  function known(name: string): Worker {
    const worker = workers.get(name) ?? {
      open: [],
      ending: null,
      answer: null,
      before: [],
      claiming: null,
      stopped: null,
    };
    workers.set(name, worker);
    return worker;
  }

  /** Another answer is under way; null: none. */
  function turnTo(worker: Worker, answer: MessageId | null): void {
    if (worker.answer === answer) return;
    Object.assign(worker, { ending: null, answer, before: [], stopped: null });
  }

  const unsubscribe = log.subscribe(({ event }) => {
    if (event.kind === 'run-ended') workers.delete(`run ${event.runId}`);
    if (event.kind !== 'message' || event.runId === undefined) return;
    const worker = workers.get(`run ${event.runId}`);
    if (worker?.answer === event.messageId) turnTo(worker, null);
  });

  async function stopIfSpent(worker: Worker, { projectId, taskId, agentId }: Began): Promise<void> {
    const project = await projects.read(projectId);
    if (!project.ok || (project.value.taskMicroUsd === null && project.value.dayMicroUsd === null)) return;
    const task = await projects.task(projectId, taskId);
    if (!task.ok) return;
    const ofTask = await limits.ofTask(project.value, task.value);
    const spent = ofTask ?? (await limits.ofDay(project.value));
    if (!spent) return;
    worker.stopped = worker.answer;
    await stop(ofTask ? 'task' : 'day', { projectId, taskId, agentId }, spent.detail);
  }

  /** The request that claimed a task may have reached a limit already. */
  async function lookAtClaim(worker: Worker): Promise<void> {
    const { claiming } = worker;
    if (!claiming) return;
    worker.claiming = null;
    await claiming;
    const open = worker.open.at(-1);
    if (open) await stopIfSpent(worker, open);
  }

  async function spent(name: string, more: Spent): Promise<void> {
    const worker = known(name);
    const [open, { ending }] = [worker.open.at(-1), worker];
    const attempt = open ?? ending;
    if (!attempt) {
      // A client’s requests never end, and count to no claim.
      if (name.startsWith('run ')) worker.before = [...worker.before, more];
      return;
    }
    await attempts.add(attempt.attemptId, more);
    if (open) await stopIfSpent(worker, open);
  }

  function counted(hold: CostHold, name: string): CostHold {
    let seen = 0;
    /** Counts what was spent since the last time. A fault here stops no answer. */
    async function count(tokens: number | null): Promise<void> {
      const { costMicroUsd, estimated } = hold.spent();
      const more = { tokens, costMicroUsd: costMicroUsd - seen, estimated };
      seen = costMicroUsd;
      if (more.costMicroUsd > 0 || tokens !== null) await spent(name, more).catch(onError);
    }
    return {
      ...hold,
      async again() {
        const mayGoOn = await hold.again();
        await count(null);
        return mayGoOn;
      },
      async settle(end) {
        await hold.settle(end);
        await count(tokensIn(end.took));
      },
    };
  }

  return {
    began(attempt) {
      const worker = known(attempt.run);
      const claiming = worker.before;
      Object.assign(worker, { open: [...worker.open, attempt], ending: null, before: [] });
      const count = async () => {
        for (const each of claiming) await attempts.add(attempt.attemptId, each);
      };
      if (claiming.length > 0) worker.claiming = count().catch(onError);
    },
    ended(attemptId) {
      for (const worker of workers.values()) {
        const attempt = worker.open.find((each) => each.attemptId === attemptId);
        if (!attempt) continue;
        worker.open = worker.open.filter((each) => each !== attempt);
        worker.ending = worker.answer === null ? null : attempt;
      }
    },
    turned(attemptId) {
      for (const worker of workers.values()) {
        const attempt = worker.open.find((each) => each.attemptId === attemptId);
        if (attempt) worker.open = [...worker.open.filter((each) => each !== attempt), attempt];
      }
    },
    async check(costs, request, signal) {
      const name = request.rehearsed === true ? null : workerOf(request);
      if (name === null) return await costs.check(request, signal);
      const { messageId = null } = request;
      if (messageId !== null) {
        const worker = known(name);
        turnTo(worker, messageId);
        await lookAtClaim(worker);
        if (worker.stopped === messageId) return { ok: false, message: STOPPED, until: 0 };
      }
      const checked = await costs.check(request, signal);
      return checked.ok ? { ok: true, hold: counted(checked.hold, name) } : checked;
    },
    close: unsubscribe,
  };
}
