/** Agents at work while nobody is there: a run from what the person's page has left of the agent with the relay. */
import type { AgentId, RunId } from '../../src/domain/ids.ts';
import { instructionsOf } from '../../src/domain/schedule/default-routine.ts';
import { endOfText } from '../../src/domain/cut-middle.ts';
import { textOf } from '../../src/domain/text-of.ts';
import { momentText } from '../../src/domain/moments.ts';
import { toolWords } from '../../src/domain/prompt-tools.ts';
import { inLanguage, renderTemplate, type Protocol } from '../../src/domain/prompts.ts';
import { writeSaid } from '../../src/domain/quoting.ts';
import { seatNumber } from '../../src/domain/seat.ts';
import { shownName } from '../../src/domain/names.ts';
import { teammatesText } from '../../src/domain/teammates.ts';
import type { Occurrence, StandingCopy } from '../../src/protocol/schedules.ts';
import type { Alone, Configs, DueCause, EventLog } from '../contracts.ts';
import type { Mind } from '../minds/index.ts';
import type { Around } from '../runs/around.ts';
import type { Logger } from '../runs/context.ts';
import type { AgentRun, OverRun, Runs } from '../runs/index.ts';
import type { TeamTools } from '../runs/team-tools.ts';
import { NO_TOOLS } from '../runs/toolbox.ts';
import { isAway } from '../store/index.ts';
import type { Copies } from './copies.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';

interface Work {
  readonly agentId: AgentId;
  readonly cause: AgentRun['cause'];
  /** What set it to work, a sentence in square brackets. */
  readonly why: string;
  /** Into its system prompt, as they are; empty: none. */
  readonly instructions: string;
  readonly columns: readonly string[];
  /** What it is given of its last conversation, and of what it said in runs before. */
  readonly lastSession: boolean;
  readonly before: readonly { readonly at: number; readonly said: string }[];
  /** Null: the agent’s own. */
  readonly model: string | null;
  readonly laterModel: string | null;
  /** Null: all that it has. */
  readonly tools: readonly string[] | null;
  readonly timeoutMs: number;
  readonly busyMs: number;
  /** Its prefix comes again within the hour. */
  readonly cachesForAnHour: boolean;
  /** It has its turn, and is about to begin. False: it may not. */
  begins?(runId: RunId): Promise<boolean>;
}

export type Worked =
  | { readonly kind: 'ended'; readonly runId: RunId; readonly end: OverRun; readonly said: string | null }
  | { readonly kind: 'skipped'; readonly why: 'no-copy' | 'agent-busy' | 'closing' | 'not-ours' };

/** Keeps account of runs that somebody's wake began. */
export interface Woken {
  /** `by`: who wakes it: an agent's id, or a name; `due`: what wakes it was due. */
  begin(agentId: AgentId, by: string, due: DueCause | null): Promise<WokenRun>;
  /** One that goes on with this: it stands in the account under the same name. */
  goOn(one: Pick<Occurrence, 'scheduleId' | 'agentId' | 'kind' | 'name'>): Promise<WokenRun>;
}
export interface WokenRun {
  /** False: it was believed dead, and may not begin. */
  begins(runId: RunId): Promise<boolean>;
  /** Null: something in the relay broke. */
  end(worked: Worked | null): Promise<void>;
}

export interface OpenAlone extends Alone {
  work(work: Work): Promise<Worked>;
}

export interface AloneDeps {
  readonly copies: Copies;
  readonly configs: Pick<Configs, 'agent'>;
  readonly runs: Pick<Runs, 'start' | 'stopRun'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly protocol: Protocol;
  readonly mind: Mind;
  readonly tools: Pick<TeamTools, 'all'>;
  /** Runs that somebody’s wake began stand in the same account as those that were due. */
  readonly woken: Woken;
  readonly logger: Logger;
  readonly limits?: Pick<ScheduleLimits, 'wakeRunMs' | 'saidChars'>;
}

/**
 * Its system prompt: the same for each of its runs, so that a model's cache has it; what changes comes behind it. `tools`: names
 * of those that it is offered.
 */
export function systemOf(
  { templates }: Pick<Protocol, 'templates'>,
  copy: StandingCopy,
  { instructions, columns }: Pick<Work, 'instructions' | 'columns'>,
  tools: ReadonlySet<string>,
): string {
  const [name, human] = [shownName(copy.name, 'agent'), shownName(copy.human, 'person')];
  const filled = instructionsOf(instructions).replaceAll('{{AGENT_NAME}}', () => name);
  const system = [
    renderTemplate(templates.agent, 'agent', {
      name,
      human,
      lead: shownName(copy.lead, 'lead'),
      colorName: copy.colorName,
      seat: String(seatNumber(copy.position)),
      ...toolWords(tools),
    }),
    renderTemplate(templates.alone, 'alone', {
      name,
      soul: copy.soul,
      human,
      instructions: filled,
      columns: columns.join(', '),
      ...toolWords(tools),
    }),
  ].join('\n\n');
  return inLanguage(system, { templates }, human, copy.language);
}

/** What comes first: the time, who is there, what set it to work, and what it is given of before. */
function firstWords(
  { agentId, why, lastSession, before }: Work,
  { transcript }: StandingCopy,
  { now, timeZone, team }: Around,
): string {
  const others = teammatesText(team, agentId);
  return [
    `[It is ${momentText(now, timeZone)}.${others === null ? '' : ` With you live ${others}.`}]`,
    ...(lastSession && transcript !== null && transcript !== ''
      ? [`<previous-session>\n${transcript}\n</previous-session>`]
      : []),
    ...before.map(({ at, said }) =>
      writeSaid({ head: `[What you said at the end of a run on ${momentText(at, timeZone)}]`, text: said }),
    ),
    why,
  ].join('\n\n');
}

const causeOf = (by: string, reason: string | null, due: DueCause | null): AgentRun['cause'] => {
  if (due === null) return { kind: 'wake', by, reason };
  const { name } = due;
  return due.kind === 'reminder' ? { kind: due.kind, name } : { kind: due.kind, name, status: due.status };
};

export function createAlone(deps: AloneDeps): OpenAlone {
  const { copies, runs, log, protocol, logger, limits = SCHEDULE_LIMITS } = deps;

  /** Where the database does not tell, it was left a moment ago. */
  const isLeftStill = (agentId: AgentId) =>
    copies.has(agentId).catch((error: unknown) => {
      if (!isAway(error)) throw error;
      return true;
    });

  async function work(asked: Work): Promise<Worked> {
    const { agentId, cause, timeoutMs, busyMs } = asked;
    const copy = await copies.of(agentId);
    if (!copy) return { kind: 'skipped', why: 'no-copy' };
    const mind = deps.mind.current?.() ?? deps.mind;
    const own = mind.models({ lead: '', agent: copy.model }).agentModel;
    const only = asked.tools && new Set(asked.tools);
    let takenBack = false;
    const started = await runs.start({
      identity: { agentId },
      cause,
      instructions: (offered) => systemOf(protocol, copy, asked, offered),
      worksBy: [asked.instructions, asked.why],
      context: [
        {
          messageId: null,
          text: (around) => {
            const text = firstWords(asked, copy, around);
            const short = firstWords({ ...asked, lastSession: false }, copy, around);
            return { text, shortened: (most) => (text.length <= most ? text : short) };
          },
        },
      ],
      readsInbox: true,
      tools: { own: NO_TOOLS, team: deps.tools.all().filter(({ name }) => !only || only.has(name)) },
      mind: {
        answers: mind,
        model: asked.model ?? own,
        laterModel: asked.laterModel ?? own,
        cachesForAnHour: asked.cachesForAnHour,
      },
      limits: {
        timeoutMs,
        busyMs,
        maxAnswerTokens: copy.maxAnswerTokens,
        contextTokens: copy.contextTokens,
      },
      async begins(runId) {
        // It may have waited for its turn since it was read.
        takenBack = !(await copies.has(agentId));
        return !takenBack && (asked.begins === undefined || (await asked.begins(runId)));
      },
    });
    if (!started.ok) return { kind: 'skipped', why: takenBack ? 'no-copy' : started.skipped };
    const { runId, whenEnded } = started.run;
    // Whoever takes it back stops what runs; it may have been taken back just before this did.
    if (!(await isLeftStill(agentId))) runs.stopRun(runId);
    let said: string | null = null;
    const stop = log.subscribe(({ event }) => {
      if (event.kind !== 'message' || event.runId !== runId || event.author !== agentId) return;
      const text = textOf(event.blocks).trim();
      if (text !== '') said = endOfText(text, limits.saidChars);
    });
    try {
      return { kind: 'ended', runId, end: await whenEnded, said };
    } finally {
      stop();
    }
  }

  return {
    can: (agentId) => copies.has(agentId),
    work,
    async wake(agentId, { name, reason, why, due = null }) {
      const { own, effective } = await deps.configs.agent(agentId);
      const account = await deps.woken.begin(agentId, name, due);
      const worked = await work({
        begins: (runId) => account.begins(runId),
        agentId,
        cause: causeOf(name, reason, due),
        why,
        instructions: '',
        columns: [],
        lastSession: true,
        before: [],
        model: null,
        laterModel: null,
        tools: null,
        timeoutMs: own.pulse_container_timeout_ms ?? limits.wakeRunMs,
        busyMs: effective.pulse_busy_wait_ms,
        cachesForAnHour: false,
      }).catch(async (error: unknown) => {
        await account.end(null);
        throw error;
      });
      await account.end(worked);
      if (worked.kind === 'skipped')
        logger.warn('a granted wake was not carried out; the message waits', { agentId, why: worked.why });
    },
  };
}
