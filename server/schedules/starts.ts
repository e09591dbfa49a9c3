/**
 * Starts an agent on a task because the person asks for it. The task is claimed for the agent
 * first, so a second press, tab or device finds it taken and starts nothing more.
 *
 * An agent of the running session gets a message. Any other agent gets a run, as after every wake
 * of the person: through the gate, from its snapshot, within its budget.
 */
import type { AgentId, ProjectId, RunId, TaskId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { takesOneTask, taskAtWork } from '../../src/shared/domain/one-task.ts';
import { kindOfColumn, openBlockers } from '../../src/shared/domain/projects.ts';
import { PERSON } from '../../src/shared/domain/threads.ts';
import { obstacleEndpoints } from '../../src/shared/protocol/endpoints/obstacles.ts';
import type { Project, Task } from '../../src/shared/protocol/projects.ts';
import type { Wakes } from '../agents/wakes/contract.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import type { Directory } from '../team/directory/index.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Caller } from '../tools/index.ts';
import { answer, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import type { Logger } from '../platform/logger.ts';
import {
  claimTask,
  createTaskWords,
  type Holder,
  type Projects,
  type SpentUp,
  type TaskWork,
} from '../projects/board/index.ts';
import { type NotBegun, NOT_OURS, type OpenAlone, type UsedUp, type Woken, type Worked } from './alone.ts';
import { type ObstacleFinder, readObstacles } from './obstacles.ts';
import { performedBy } from './outcomes.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';

/** Tools with which an agent works on a task. They are offered with its text. */
const TASK_TOOLS = [
  ...(['get_task_context', 'meet_criterion', 'transition_task', 'release_task', 'comment_on_task'] as const),
  ...(['list_files', 'read_file', 'write_file', 'edit_file', 'run_command'] as const),
];

const HOW_TO_WORK =
  'Work on it to the end in this turn. Say with meet_criterion which criteria are met, and what shows it. Then move it to review with transition_task. If you cannot go on, move it to blocked, and say in the note what you need from the human.';

export type Start =
  | { readonly ok: true; readonly task: Task }
  /** `detail`: a sentence for people that says what is in the way and what helps. */
  | {
      readonly ok: false;
      readonly reason: 'no-project' | 'no-task' | 'not-ready' | 'no-copy';
      readonly detail: string;
    };

type Refused = Extract<Start, { ok: false }>;
const refuse = (detail: string, reason: Refused['reason'] = 'not-ready'): Refused => ({ ok: false, reason, detail });

export interface StartsDeps {
  readonly projects: Projects;
  /** Null: agents have no folders here. */
  readonly work: TaskWork | null;
  /** The money for the task is used up. Null: it is not. */
  readonly spentOn: (project: Project, task: Task) => Promise<SpentUp | null>;
  readonly host: Pick<SessionHost, 'stateOf' | 'runOf' | 'sessionId' | 'post'>;
  readonly wakes: Pick<Wakes, 'ask' | 'permitFor'>;
  readonly alone: Pick<OpenAlone, 'can' | 'work'>;
  readonly woken: Woken;
  readonly configs: Pick<Configs, 'agent'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly usedUp: (agentId: AgentId) => Promise<UsedUp | null>;
  /** ms since the epoch */
  readonly now: () => number;
  readonly newId: () => string;
  readonly logger: Pick<Logger, 'error'>;
  readonly limits?: Pick<ScheduleLimits, 'wakeRunMs' | 'startWaitMs'>;
}

export interface Starts {
  /** `words`: the message of the person in the conversation. */
  start(
    agentId: AgentId,
    at: { readonly projectId: ProjectId; readonly taskId: TaskId },
    words?: string,
  ): Promise<Start>;
}

interface Asked {
  readonly agentId: AgentId;
  readonly name: string;
  readonly project: Project;
  readonly task: Task;
  readonly words: string;
}

/** What is in the way of the task itself. Null: nothing. */
async function refuseTask(
  { projects, directory }: Pick<StartsDeps, 'projects' | 'directory'>,
  { agentId, project, task }: Asked,
): Promise<string | null> {
  const kind = kindOfColumn(project, task.columnId);
  if (task.claim && task.claim.agentId !== agentId) {
    const name = (await directory.all()).find((one) => one.agentId === task.claim?.agentId)?.name ?? '';
    return sentence`${name} has this task. Press “Release” first.`;
  }
  if (kind === 'done') return sentence`This task is done. Move it to “Ready” to have more done.`;
  if (kind === 'review') return sentence`This task waits for your review. Send it back to have it changed.`;
  if (task.asked) return sentence`This task came from elsewhere. Say yes to it first.`;
  if (task.blockedBy.length === 0 && !takesOneTask(project)) return null;
  const page = await projects.tasks(project.projectId, {
    column: null,
    assignee: null,
    label: null,
    after: 0,
    limit: 10_000,
  });
  const all = page.ok ? page.value.tasks : [];
  const [blocker] = openBlockers(project, task, all);
  if (blocker) return sentence`It waits for #${blocker.number}. Finish that task, or remove it under “Waits for”.`;
  const other = taskAtWork(project, task, all);
  return other
    ? sentence`An agent has #${other.number}, and this project takes one task at a time. Finish or release that one first.`
    : null;
}

/** What is in the way of this agent. Null: nothing. */
async function refuseAgent(
  { work, host, usedUp, spentOn }: Pick<StartsDeps, 'work' | 'host' | 'usedUp' | 'spentOn'>,
  { agentId, name, project, task }: Asked,
): Promise<string | null> {
  if (!project.agents.includes(agentId))
    return sentence`${name} may not work on this project. Allow it in the settings of the project.`;
  const lacking = (await work?.lacking(agentId, project)) ?? null;
  if (lacking !== null) return lacking;
  const used = await usedUp(agentId);
  if (used) return sentence`${used.message} Raise the budget under Settings, What agents may do.`;
  const spent = (await work?.spentToday(project)) ?? (await spentOn(project, task));
  if (spent) return spent.detail;
  return host.stateOf(agentId) === 'driven'
    ? sentence`A client drives ${name} from elsewhere, and takes its tasks itself. Choose another agent.`
    : null;
}

export function createStarts(deps: StartsDeps): Starts {
  const { projects, work, host, wakes, alone, woken, directory, now, newId, limits = SCHEDULE_LIMITS } = deps;
  /** Starts that are under way, by task. */
  const starting = new Map<TaskId, { readonly agentId: AgentId; readonly start: Promise<Start> }>();

  /** Writes that the person has started it, and lets this agent take it. */
  const noteStart = ({ agentId, project, task }: Asked) =>
    projects.update(project.projectId, task.taskId, ({ value }) => ({
      value: {
        ...value,
        unprepared: null,
        assignee: value.assignee === null || value.assignee === agentId ? value.assignee : agentId,
        history: [...value.history, { time: now(), by: PERSON, what: 'started', columnId: null, note: '' }],
      },
    }));

  /** Claims the task with its place of work. The text is for the agent. */
  async function take(start: Asked, holder: Holder, caller: Caller): Promise<{ readonly text: string } | Refused> {
    const { project, task, agentId } = start;
    await noteStart(start);
    const claimed = await claimTask({ projects, work }, { holder, caller }, project, task.taskId, [task.columnId]);
    if (!claimed.ok) return refuse(claimed.refused === null ? claimed.detail : claimed.refused.detail);
    const team = await directory.all();
    const words = createTaskWords(team, agentId);
    const told = (await work?.told(project, claimed.task, words.nameOf)) ?? '';
    const whole = words.whole(project, claimed.task, { comments: [], more: claimed.task.history.length > 1 });
    const parts = ['[The human starts you on this task. It is claimed for you.]', claimed.place, whole, told];
    return {
      text: [...parts.filter((part) => part !== ''), `Its projectId is ${project.projectId}. ${HOW_TO_WORK}`].join(
        '\n',
      ),
    };
  }

  /** In the running session: the agent gets a message of the person. */
  async function inSession(start: Asked, runId: RunId): Promise<Refused | null> {
    const { agentId, project, task } = start;
    const sessionId = host.sessionId();
    const caller: Caller = {
      ...{ agentId, sessionId, runId, run: newId(), kind: 'session' },
      signal: new AbortController().signal,
    };
    const claimed = await take(start, { agentId, runId }, caller);
    if ('ok' in claimed) return claimed;
    if (host.stateOf(agentId) === 'paused')
      await wakes.ask({
        ...{ target: agentId, source: { kind: 'person' }, way: 'person', reason: null, messageId: null },
        callerSession: null,
      });
    const posted = await host.post(
      { text: start.words, to: agentId, clientId: newId() },
      { text: claimed.text, tools: TASK_TOOLS },
    );
    if (posted.ok) return null;
    await projects.release('relay', project.projectId, task.taskId, posted.detail);
    return refuse(posted.detail);
  }

  /** Outside a session: a run, as after every wake of the person. */
  async function inRun(start: Asked): Promise<Refused | null> {
    const { agentId, name, project, task } = start;
    if (!(await alone.can(agentId)))
      return refuse(
        sentence`${name} sleeps, and the relay has no copy of it to work from. Wake ${name} first.`,
        'no-copy',
      );
    const { decision, permit } = await wakes.permitFor({
      ...{ target: agentId, source: { kind: 'person' }, way: 'person', reason: null, messageId: null },
      callerSession: null,
    });
    if (!permit) return refuse(decision.detail);
    let text = '';
    return await new Promise((resolve) => {
      const begins = async (runId: RunId, account: { begins(runId: RunId): Promise<NotBegun | null> }) => {
        const not = await account.begins(runId);
        if (not) return not;
        const caller: Caller = {
          ...{ agentId, sessionId: null, runId, run: runId, kind: 'run' },
          signal: new AbortController().signal,
        };
        const taken = await take(start, { agentId, runId }, caller);
        if ('ok' in taken) {
          resolve(taken);
          return NOT_OURS;
        }
        text = taken.text;
        resolve(null);
        return null;
      };
      const run = (async () => {
        const account = await woken.begin(agentId, PERSON, null);
        let worked: Worked | null = null;
        try {
          const { own, effective } = await deps.configs.agent(agentId);
          worked = await alone.work({
            ...{ agentId, cause: { kind: 'wake', by: PERSON, reason: null }, instructions: '', columns: [] },
            ...{ why: () => text, needs: TASK_TOOLS, lastSession: true, before: [], tools: null },
            ...{ model: null, laterModel: null, cachesForAnHour: false },
            timeoutMs: own.pulse_container_timeout_ms ?? limits.wakeRunMs,
            busyMs: limits.startWaitMs,
            maxTurns: effective.pulse_max_turns,
            begins: (runId) => begins(runId, account),
          });
        } finally {
          await account.finish(performedBy(worked));
          const busy = worked?.kind === 'skipped' && worked.why === 'agent-busy';
          resolve(
            refuse(
              busy
                ? sentence`${name} is at work on something else. Choose another agent, or start it when that is over.`
                : sentence`The run could not begin. Try again.`,
            ),
          );
        }
      })();
      permit.releaseAfter(
        run.catch((error: unknown) => {
          deps.logger.error('A task could not be started.', { agentId, taskId: task.taskId, error });
          // A claim whose run never began would last as long as the relay renews it.
          return projects.release('relay', project.projectId, task.taskId, 'Its run could not begin.');
        }),
      );
    });
  }

  async function begin(
    agentId: AgentId,
    at: { readonly projectId: ProjectId; readonly taskId: TaskId },
    words?: string,
  ): Promise<Start> {
    const [project, task] = [await projects.read(at.projectId), await projects.task(at.projectId, at.taskId)];
    if (!project.ok) return refuse(project.detail, 'no-project');
    if (!task.ok) return refuse(task.detail, 'no-task');
    // It works on it already.
    if (task.value.claim?.agentId === agentId && task.value.claim.rests === undefined)
      return { ok: true, task: task.value };
    const name = (await directory.all()).find((one) => one.agentId === agentId)?.name ?? agentId;
    const start: Asked = {
      ...{ agentId, name, project: project.value, task: task.value },
      words: words ?? `Please work on #${task.value.number} ${task.value.title}.`,
    };
    const why = (await refuseTask(deps, start)) ?? (await refuseAgent(deps, start));
    if (why !== null) return refuse(why);
    const runId = host.runOf(agentId);
    const refused = runId === null ? await inRun(start) : await inSession(start, runId);
    if (refused) return refused;
    const started = await projects.task(at.projectId, at.taskId);
    return started.ok ? { ok: true, task: started.value } : refuse(started.detail, 'no-task');
  }

  return {
    async start(agentId, at, words) {
      const before = starting.get(at.taskId);
      if (before?.agentId === agentId) return await before.start;
      if (before) return refuse(sentence`Another agent is being started on this task.`);
      const start = begin(agentId, at, words).finally(() => starting.delete(at.taskId));
      starting.set(at.taskId, { agentId, start });
      return await start;
    },
  };
}

export function createStartRoutes({
  starts,
  obstacles,
}: {
  readonly starts: Starts;
  readonly obstacles: ObstacleFinder;
}): readonly Handled[] {
  return answer(obstacleEndpoints, {
    obstacles: ({ projectId }) => readObstacles(obstacles, projectId),
    async startTask({ projectId, taskId, body }) {
      const start = await starts.start(body.agentId, { projectId, taskId }, body.words);
      if (start.ok) return start.task;
      const { reason, detail } = start;
      throw problem(reason === 'no-project' || reason === 'no-task' ? 404 : 409, reason, detail);
    },
  });
}
