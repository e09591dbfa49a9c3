/**
 * Executors: fresh runs that get a brief and nothing else. No soul, no inbox, no memory and no
 * conversation. Its files and commands are in the checkout of its task, and it sees no other part
 * of its agent's folder. An ACP agent works outside the sandbox, so it is no executor's mind. What
 * came of an executor is taken from git and from the relay's own records.
 */
import type { AgentId, RunId } from '../../../src/shared/domain/ids.ts';
import { tokensOf } from '../../../src/shared/domain/request-cost.ts';
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import { kindOfColumn } from '../../../src/shared/domain/projects.ts';
import { ATTEMPT_LIMITS, type Attempt, type Executed, type Receipt } from '../../../src/shared/protocol/attempts.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import { toolDone, toolError } from '../../tools/define-tool.ts';
import type { Caller, TeamTool } from '../../tools/index.ts';
import type { MindTool } from '../../agents/minds/index.ts';
import type { AgentRun, RunResult, Runs } from '../../agents/runs/index.ts';
import type { OwnTools } from '../../agents/runs/toolbox.ts';
import type { TeamTools } from '../../agents/runs/team-tools.ts';
import type { Projects } from '../board/index.ts';
import type { Checkouts } from '../checkouts/index.ts';
import { placeOf } from './checkout-list.ts';
import { projectFolderOf } from './forgetting.ts';
import type { Means } from './means.ts';
import type { WorkLimits } from './limits.ts';
import { commitText } from './summary.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';
import { type ReviewerDeps, reviewOnMove } from './reviewer.ts';

/** The whole system prompt of an executor. */
const EXECUTOR_RULES = `You execute one task from a brief. The brief is all you know: nobody answers questions, and you remember nothing afterwards.
Your folder is the task’s checkout. Files and commands begin there, and you see nothing else.

Deviations from the brief, and what to do:
1. A bug in your way: fix it, and commit that by itself as "fix: …".
2. A missing guard, such as a check of input or of an error: add it, and commit it as "fix: …".
3. Anything else that blocks you, such as a missing dependency that the project already declares, or a broken build: fix it, and commit it as "chore: …".
4. Architecture, such as a new table, a migration, another library, or a breaking change of an API: change nothing. Call fail with a proposal.

Try at most three times to solve one problem, then call fail. Change only what the brief asks for, and undo nobody else’s work. Note what is out of scope, and do not do it.
Commit what you do in small steps with plain messages. Run the checks before you end.
End with complete, or with fail. Whoever reads the result reads the commits and the checks, not your words.`;

/** Follows the rules where the executor may run no git. */
const RELAY_COMMITS =
  'You need not commit: the relay commits what you changed as one commit when you have called complete. Where you fix something besides the brief, say so in the notes.';

/** Tools that an executor has, as far as its agent is granted them. */
const EXECUTOR_TOOLSETS: readonly string[] = ['files', 'shell', 'web'];

const ENDINGS: readonly MindTool[] = [
  {
    name: 'complete',
    description: 'Ends your work: the task is done and committed.',
    properties: {
      notes: { type: 'string', maxLength: 2_000, description: 'what is out of scope and was not done; may be empty' },
    },
    required: [],
  },
  {
    name: 'fail',
    description: 'Ends your work without completing the task.',
    properties: {
      why: { type: 'string', maxLength: 2_000, description: 'what is in the way' },
      proposal: {
        type: 'string',
        maxLength: 10_000,
        description: 'what you propose, where the way on needs a decision',
      },
    },
    required: ['why'],
  },
];

/** How an executor said that it ended. */
type Ending =
  | { readonly kind: 'none' }
  | { readonly kind: 'complete'; readonly notes: string }
  | { readonly kind: 'fail'; readonly why: string; readonly proposal: string | null };

const textIn = (input: unknown, name: string): string => {
  const value = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : '';
};

export interface ExecutorsDeps extends ReviewerDeps {
  readonly projects: Projects;
  readonly checkouts: Pick<Checkouts, 'exists'>;
  /** Ends the commands of an executor whose run is over. */
  readonly endCommandsOf: (agentId: AgentId, executor: RunId) => Promise<void>;
  readonly limits: WorkLimits;
  readonly means: Pick<Means, 'of'>;
  readonly runs: Pick<Runs, 'start' | 'holdTime'>;
  readonly tools: Pick<TeamTools, 'all'>;
  /** Tells the person that a limit of a project stopped a task. */
  readonly tellPerson: (agentId: AgentId, text: string) => Promise<void>;
}

export type Execution =
  | { readonly ok: true; readonly value: Executed }
  | { readonly ok: false; readonly detail: string };

export interface Executors {
  /**
   * Runs an executor on a task that this agent has claimed, and resolves when it has ended. The
   * agent's own run waits for it, which does not count as its time.
   */
  execute(by: ExecutedBy, project: Project, task: Task, brief: string): Promise<Execution>;
}
/** Who waits for an executor. `runId`: the agent's run. Left out: an API client. */
export type ExecutedBy = Pick<Caller, 'agentId' | 'runId' | 'signal'>;

/** The executor, for what its tools allow. */
const callerOf = (agentId: AgentId): Caller => ({
  ...{ agentId, sessionId: null, run: 'executor', kind: 'run' },
  signal: new AbortController().signal,
});

const refused = (detail: string): Execution => ({ ok: false, detail });

/** What an execution came to, and why it is not complete. `broken`: why its work cannot be read. */
function outcomeOf(
  project: Pick<Project, 'executorSeconds'>,
  {
    end,
    ending,
    approvals,
    broken,
    receipt,
  }: {
    readonly end: RunResult;
    readonly ending: Ending;
    readonly approvals: Receipt['approvals'];
    readonly broken: string | null;
    readonly receipt: Receipt | null;
  },
): readonly [Executed['outcome'], string | null] {
  if (end.outcome === 'timed-out') return ['timeout', `It did not end within ${project.executorSeconds} s.`];
  if (ending.kind === 'fail') return ['blocked', ending.why];
  if (end.outcome !== 'done') return ['failed', end.reason ?? 'Its run failed.'];
  if (approvals.length > 0)
    return [
      'blocked',
      `It needs the human’s permission for ${[...new Set(approvals.map(({ tool }) => tool))].join(', ')}.`,
    ];
  if (broken !== null || !receipt) return ['blocked', broken ?? 'Its work could not be read.'];
  if (receipt.files.length + receipt.commits.length === 0) return ['blocked', 'It changed nothing.'];
  if (receipt.uncommitted.length > 0)
    return ['blocked', `It left ${receipt.uncommitted.length} changed files in no commit.`];
  if (receipt.elsewhere.length > 0)
    return ['blocked', `It left commits that are not on the branch: ${receipt.elsewhere.map(commitText).join(', ')}.`];
  const failed = receipt.checks.find(({ code }) => code !== 0);
  if (failed) return ['blocked', `The check ${titled(failed.command)} failed.`];
  if (ending.kind === 'none') return ['blocked', 'It ended without saying that it is complete.'];
  return ['complete', null];
}

export function createExecutors(deps: ExecutorsDeps): Executors {
  const { projects, attempts, work, runs, now } = deps;
  /** When a model's provider refused a task last, by task. */
  const waits = new Map<string, number>();
  /** Executors that begin now and have no row yet, by project. */
  const starting = new Map<string, number>();

  async function refuse(
    agentId: AgentId,
    project: Project,
    task: Task,
    all: readonly Attempt[],
  ): Promise<string | null> {
    const kind = kindOfColumn(project, task.columnId);
    if (kind === 'review' || kind === 'done') return `The task is in ${titled(kind)}, and is not started again.`;
    const until = waits.get(task.taskId) ?? 0;
    if (until > now())
      return `The model’s provider was overloaded. The next executor of this task may begin in ${Math.ceil((until - now()) / 60_000)} min.`;
    const own = all.filter((attempt) => attempt.kind === 'executor');
    if (own.length >= project.attemptsPerTask)
      return await stop(
        `${own.length} executors have worked on the task ${titled(task.title)}, as many as its project allows.`,
      );
    const spent = (await deps.limits.ofTask(project, task)) ?? (await deps.limits.ofDay(project));
    if (spent) return await stop(spent.detail);
    const atWork = (await attempts.open()).filter(
      ({ attempt }) => attempt.kind === 'executor' && attempt.projectId === project.projectId,
    );
    if (atWork.length + (starting.get(project.projectId) ?? 0) >= project.executorsAtOnce)
      return `${atWork.length} executors of this project are at work, as many as it allows. Try again when one has ended.`;
    return await deps.usedUp(agentId);

    async function stop(why: string): Promise<string> {
      await deps.tellPerson(agentId, why);
      return why;
    }
  }

  /** `folder`: the checkout, in the agent's folder. */
  function toolsOf(folder: string, noted: Receipt['approvals']): readonly TeamTool[] {
    return deps.tools
      .all()
      .filter(({ name }) => EXECUTOR_TOOLSETS.includes(toolsetOf(name) ?? ''))
      .map((tool) => ({
        ...tool,
        async run(input: unknown, caller: Parameters<TeamTool['run']>[1]) {
          const outcome = await tool.run(input, { ...caller, folder });
          // The person is asked, and the executor does not wait for them.
          if (outcome.asks) noted.push({ tool: tool.name, allowed: null });
          return outcome;
        },
      }));
  }

  async function execute(by: ExecutedBy, project: Project, task: Task, brief: string): Promise<Execution> {
    const timeGoesOn = by.runId === undefined ? () => undefined : runs.holdTime(by.runId);
    try {
      return await executeNow(by, project, task, brief);
    } finally {
      timeGoesOn();
    }
  }
  async function executeNow(
    { agentId, signal }: ExecutedBy,
    project: Project,
    task: Task,
    brief: string,
  ): Promise<Execution> {
    const { projectId, taskId } = task;
    const all = await attempts.list(taskId);
    const why = await refuse(agentId, project, task, all);
    if (why !== null) return refused(why);
    const claim = all.findLast(
      ({ endedAt, agentId: holder, kind }) => endedAt === null && holder === agentId && kind === 'agent',
    );
    const held = await projects.heldBy(taskId);
    if (!claim || held?.agentId !== agentId) return refused('You have not claimed this task.');
    const isCheckout = projectFolderOf(projectId, claim) !== null;
    if (!isCheckout || !(await deps.checkouts.exists(placeOf(project, claim))))
      return refused('The checkout of the task is gone. Release the task, and claim it again.');
    const mind = await deps.mindOf(agentId, 'executor');
    const caller = callerOf(agentId);
    const relayCommits = project.kind === 'git' && !(await deps.means.of(caller)).commits;
    const approvals: Receipt['approvals'] = [];
    let ending: Ending = { kind: 'none' };
    const own: OwnTools = {
      definitions: ENDINGS,
      run(name, input) {
        if (name === 'complete') ending = { kind: 'complete', notes: textIn(input, 'notes') };
        else if (name === 'fail') {
          const proposal = textIn(input, 'proposal');
          ending = { kind: 'fail', why: textIn(input, 'why'), proposal: proposal === '' ? null : proposal };
        } else return toolError(`There is no tool “${name}” here.`);
        return { ...toolDone('Your work is over.'), endsTurn: true };
      },
    };
    const team = toolsOf(claim.folder, approvals);
    let attempt: Attempt | null = null;
    const run: AgentRun = {
      identity: { agentId },
      cause: { kind: 'executor', projectId, taskId },
      takesTurn: false,
      tellsAround: false,
      instructions: () => (relayCommits ? `${EXECUTOR_RULES}\n\n${RELAY_COMMITS}` : EXECUTOR_RULES),
      // All its tools are offered at once.
      worksBy: [team.map(({ name }) => name).join(' ')],
      context: [{ messageId: null, text: () => ({ text: brief, shortened: () => brief }) }],
      readsInbox: false,
      tools: { own, team },
      mind: { answers: mind.answers, isAgents: false, model: mind.model },
      limits: {
        timeoutMs: project.executorSeconds * 1_000,
        busyMs: 0,
        maxAnswerTokens: mind.maxAnswerTokens,
        contextTokens: mind.contextTokens,
      },
      async begins(runId: RunId) {
        attempt = await attempts.begin({ agentId, runId }, held.token, {
          ...{ projectId, taskId, kind: 'executor', model: mind.model, startedAt: now() },
          ...{ branch: claim.branch, base: claim.base, folder: claim.folder },
        });
        return null;
      },
    };
    starting.set(projectId, (starting.get(projectId) ?? 0) + 1);
    let started: Awaited<ReturnType<typeof runs.start>>;
    try {
      started = await runs.start(run);
    } finally {
      starting.set(projectId, (starting.get(projectId) ?? 1) - 1);
    }
    if (!started.ok) return refused('The relay is ending.');
    const { run: live } = started;
    const stop = () => void live.stop();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const end = await live.whenEnded;
    signal.removeEventListener('abort', stop);
    // What it left in the background would go on changing the checkout.
    await deps.endCommandsOf(agentId, live.runId);
    const begun = attempt as Attempt | null;
    if (!begun) return refused('The executor did not begin.');
    return { ok: true, value: await settle(agentId, project, task, begun, end, ending, approvals) };
  }

  /** The result, from git and from what ran. */
  async function settle(
    agentId: AgentId,
    project: Project,
    task: Task,
    attempt: Attempt,
    end: RunResult,
    ending: Ending,
    approvals: Receipt['approvals'],
  ): Promise<Executed> {
    if (end.refusedForNow) waits.set(task.taskId, now() + TASK_WORK_SETTINGS.overloadedMs);
    const open = (await attempts.open(agentId)).find((each) => each.attempt.attemptId === attempt.attemptId);
    let found: Receipt | null = null;
    let broken: string | null = null;
    try {
      if (ending.kind === 'complete') broken = await work.commit(project, task, callerOf(agentId));
      found = await work.found(project, task);
    } catch (error) {
      broken = error instanceof Error ? error.message : String(error);
    }
    const receipt: Receipt | null = found && {
      ...found,
      commands: (open?.commands ?? []).slice(-ATTEMPT_LIMITS.commands).map((each) => ({ ...each })),
      moreCommands: Math.max(0, (open?.commands.length ?? 0) - ATTEMPT_LIMITS.commands),
      approvals,
      tokens: end.usage && tokensOf(end.usage),
      ...{ costMicroUsd: end.costMicroUsd, estimated: end.estimated },
    };
    const [outcome, why] = outcomeOf(project, { end, ending, approvals, broken, receipt });
    const ends = { complete: 'done', blocked: 'blocked', failed: 'ended', timeout: 'timed-out' } as const;
    const note = [
      ...(why === null ? [] : [why]),
      ...(ending.kind === 'complete' && ending.notes !== '' ? [ending.notes] : []),
    ].join(' ');
    await attempts.end(attempt.attemptId, {
      ...{ outcome: ends[outcome], head: receipt?.commits.at(-1)?.commit ?? null, receipt, note: note.slice(0, 2_000) },
      noteBy: why === null ? 'agent' : 'relay',
    });
    const written =
      (await attempts.list(task.taskId)).find(({ attemptId }) => attemptId === attempt.attemptId) ?? attempt;
    if (outcome === 'timeout')
      await projects.release(
        agentId,
        task.projectId,
        task.taskId,
        'The executor took too long. Its commits are on the branch.',
      );
    return { outcome, why, proposal: ending.kind === 'fail' ? ending.proposal : null, attempt: written };
  }

  reviewOnMove(deps);

  return { execute };
}

/** The result as text for the planner: data, with what ran quoted. */
export function executedText({ outcome, why, proposal, attempt }: Executed): string {
  const { receipt } = attempt;
  const isDeviation = (subject: string) => /^(fix|chore):/.test(subject);
  const commits = receipt?.commits ?? [];
  return [
    `Outcome: ${outcome}${why === null ? '' : ` (${why})`}. Branch ${attempt.branch}.`,
    ...(proposal === null ? [] : [writeSaid({ head: 'The executor proposes:', text: proposal })]),
    `Commits: ${commits.length === 0 ? 'none' : commits.map(({ commit, subject }) => `${commit.slice(0, 12)} ${titled(subject)}`).join('; ')}.`,
    ...(commits.some(({ subject }) => isDeviation(subject))
      ? [
          `Deviations: ${commits
            .filter(({ subject }) => isDeviation(subject))
            .map(({ subject }) => titled(subject))
            .join('; ')}.`,
        ]
      : []),
    `Files: ${receipt && receipt.files.length > 0 ? receipt.files.map(({ path, status, added, removed }) => `${titled(path)} (${status}, +${added ?? '?'} −${removed ?? '?'})`).join(', ') : 'none'}.`,
    ...(receipt && receipt.uncommitted.length > 0
      ? [`In no commit: ${receipt.uncommitted.map(titled).join(', ')}.`]
      : []),
    ...(receipt?.checks ?? []).map(({ command, code, output }) =>
      code === 0
        ? `Check ${titled(command)}: passed.`
        : writeSaid({ head: `Check ${titled(command)} ended with ${code ?? 'no status'}:`, text: output }),
    ),
    ...(attempt.note === '' || attempt.note === why ? [] : [writeSaid({ head: 'Note:', text: attempt.note })]),
  ].join('\n');
}
