/**
 * The queue of starts, shared by all homes. A household's own setting and the free memory limit how
 * many run at once.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  type LoadSessionRequest,
  methods,
  type NewSessionRequest,
  type NewSessionResponse,
  type ResumeSessionRequest,
  type ResumeSessionResponse,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import type { AgentId } from '../../../../src/shared/domain/ids.ts';
import { PERSON } from '../../../../src/shared/domain/threads.ts';
import { isRecord } from '../../../../src/shared/domain/platform/json.ts';
import { sentence } from '../../../../src/shared/domain/names.ts';
import type { WokenTalk } from '../mind.ts';
import type { Sealer } from '../../../platform/sealer.ts';
import type { HomeStore } from '../../../store/index.ts';
import { memoryLeft } from '../../../platform/processes/index.ts';
import { ASKING_MODES, type ProgramLimits } from './settings.ts';
import {
  faultOf,
  type Connection,
  type ConnectionHandlers,
  type ConnectionStart,
  openConnection,
  ProgramError,
  NO_PROTOCOL,
} from './connection.ts';
import { mcpServers, type Takes } from './turn.ts';

// Stored sessions of ACP agents that ended with their agent's own session. The next wake resumes
// one, if the ACP agent supports that, and if agent and conversation are unchanged. Otherwise the
// wake begins with soul and transcript, as for every mind.

/** The state of an ACP session when it ended. */
export interface LeftSession {
  readonly sessionId: string;
  /** US dollars that it had reported. */
  readonly dollars: number;
  /** The agent's system prompt. */
  readonly system: string;
  /** All texts that it had received. */
  readonly heard: readonly string[];
}
export type ResumableSession = Pick<LeftSession, 'sessionId' | 'dollars'>;

const keptSchema = z.object({
  programId: z.string(),
  sessionId: z.string(),
  dollars: z.number(),
  /** Hash of system prompt and soul. */
  agent: z.string(),
  lastSaid: z.number(),
  firstWords: z.string(),
});
type StoredSession = z.infer<typeof keptSchema>;

const agentOf = (system: string, soul: string | null) =>
  createHash('sha256')
    .update(JSON.stringify([system, soul]))
    .digest('hex');

/**
 * Characters of a first line by which a message is found again. A transcript may cut longer ones.
 */
const FIRST_WORDS = 60;
const beginningOf = (text: string) => text.trim().split('\n', 1).join('').slice(0, FIRST_WORDS).trimEnd();

/** What is stored of an ended session. Null: it does not know the whole conversation. */
function keptOf(programId: string, left: LeftSession, talk: WokenTalk): StoredSession | null {
  const [first] = talk.said;
  const firstWords = first ? beginningOf(first.text) : '';
  const heard = (text: string) => left.heard.some((each) => text === each || text.startsWith(`${each}\n`));
  const hasHeard = talk.said.every(({ author, text }) => author !== PERSON || heard(text));
  if (!talk.whole || firstWords === '' || !hasHeard) return null;
  const { sessionId, dollars, system } = left;
  const lastSaid = talk.said.reduce((last, { time }) => Math.max(last, time), 0);
  return { programId, sessionId, dollars, agent: agentOf(system, talk.soul), lastSaid, firstWords };
}

/**
 * Whether the agent and the conversation are those that the session knows: the same ACP agent,
 * system prompt and soul, and no later message. The transcript must still hold the first message,
 * which shows that nothing in between was forgotten either.
 */
const isSame = (kept: StoredSession, programId: string, system: string, talk: WokenTalk): boolean =>
  kept.programId === programId &&
  kept.agent === agentOf(system, talk.soul) &&
  kept.lastSaid === talk.asleepSince &&
  talk.transcript?.includes(kept.firstWords) === true;

export interface StoredSessionsDeps extends HomeStore {
  readonly sealer: Sealer;
  readonly now: () => number;
  /** The conversation with the agent. Also called at the very end of its run. */
  readonly talkOf: (agentId: AgentId) => WokenTalk | null;
  readonly limits: Pick<ProgramLimits, 'resumeWithinMs'>;
}

export function createStoredSessions({ db, home, sealer, now, talkOf, limits }: StoredSessionsDeps) {
  const about = (agentId: AgentId) => JSON.stringify(['program session', home, agentId]);
  const oldest = () => now() - limits.resumeWithinMs;
  return {
    /** Deletes sessions that are too old to resume. */
    async start(): Promise<void> {
      await db.deleteFrom('program_sessions').where('home', '=', home).where('ended_at', '<', oldest()).execute();
    },
    /**
     * The session that a wake may resume. Null: none. It is deleted at once, because a relay that
     * is killed now would leave a session with messages that nobody has received.
     */
    async take(agentId: AgentId, programId: string, system: string): Promise<ResumableSession | null> {
      const talk = talkOf(agentId);
      const row = await db
        .deleteFrom('program_sessions')
        .where('home', '=', home)
        .where('agent_json', '=', JSON.stringify(agentId))
        .returning(['sealed', 'ended_at'])
        .executeTakeFirst();
      const text = row && row.ended_at >= oldest() ? sealer.open(row.sealed, about(agentId)) : null;
      if (text === null || !talk) return null;
      const kept = keptSchema.parse(JSON.parse(text));
      return isSame(kept, programId, system, talk) ? kept : null;
    },
    /** A run is ending. The returned function is called when its process has ended. */
    leaving(agentId: AgentId, programId: string): (left: LeftSession | null) => Promise<void> {
      const talk = talkOf(agentId);
      return async (left) => {
        const kept = left && talk ? keptOf(programId, left, talk) : null;
        if (kept === null) return;
        const row = { sealed: sealer.seal(JSON.stringify(kept), about(agentId)), ended_at: now() };
        await db
          .insertInto('program_sessions')
          .values({ home, agent_json: JSON.stringify(agentId), ...row })
          .onConflict((conflict) => conflict.columns(['home', 'agent_json']).doUpdateSet(row))
          .execute();
      };
    },
  };
}

// Starts a process and opens one session in it, ready for the first prompt.

export interface OpenSession {
  readonly line: Connection;
  readonly sessionId: string;
  /** The instructions were sent beside the conversation. */
  readonly instructed: boolean;
  /** The session was resumed, and knows the earlier conversation. */
  readonly resumed: boolean;
  /** Another process can resume the session. */
  readonly resumable: boolean;
  readonly takes: Takes;
  readonly modes: Modes;
}

interface SessionStart {
  /** Roost's own MCP server, for this agent alone. */
  readonly server: { readonly url: string; readonly secret: string };
  /** For ACP agents that accept instructions beside the conversation. */
  readonly instructions: string;
  /** An earlier session to resume, if the ACP agent supports that. Null: a new one. */
  readonly resumes: string | null;
}

/** The modes of a session, if it has any. */
interface Modes {
  /** The current mode. Null: it has none. `asks`: the person is asked in this mode. */
  now(): { readonly name: string; readonly asks: boolean } | null;
  /** The session reports a new mode. */
  changed(modeId: string): void;
  /**
   * Switches to a mode in which the person is asked, where one exists. Some programs begin in
   * another, or change by themselves.
   */
  ask(): Promise<void>;
}

function modesOf(
  { agent, answer, info }: Connection,
  sessionId: string,
  offered: SessionModeState | null | undefined,
): Modes {
  const named = info.agentInfo?.name ?? '';
  const asking = ASKING_MODES.find(({ of }) => of.test(named))?.modes ?? [];
  const there = new Map((offered?.availableModes ?? []).map(({ id, name }) => [id, name]));
  const wanted = asking.find((id) => there.has(id)) ?? null;
  let current = offered?.currentModeId ?? null;
  return {
    now: () => (current === null ? null : { name: there.get(current) ?? current, asks: asking.includes(current) }),
    changed: (modeId) => void (current = modeId),
    async ask() {
      if (wanted === null || current === wanted) return;
      await answer(agent.request(methods.agent.session.setMode, { sessionId, modeId: wanted }));
      current = wanted;
    },
  };
}

/**
 * Whether the ACP agent accepts instructions beside the conversation. Claude Code's adapter does.
 */
const takesInstructions = ({ info }: Connection) => info.agentInfo?.name.includes('claude') ?? false;
function takesOf({ info }: Connection): Takes {
  const { image, embeddedContext } = info.agentCapabilities?.promptCapabilities ?? {};
  return { image: image === true, file: embeddedContext === true };
}

const openedSchema = z.looseObject({ sessionId: z.string().min(1) });
/** Throws where the answer has no session id. */
export function openedOf(name: string, opened: NewSessionResponse): NewSessionResponse {
  if (openedSchema.safeParse(opened).success) return opened;
  throw new ProgramError('nonsense', sentence`${name}: ${NO_PROTOCOL}.`);
}

type Resuming = (asked: ResumeSessionRequest & LoadSessionRequest) => Promise<Pick<ResumeSessionResponse, 'modes'>>;

/** How the ACP agent resumes a session, if it can. */
function resumingOf({ agent, info: { agentCapabilities: can } }: Connection): Resuming | null {
  if (can?.sessionCapabilities?.resume) return (asked) => agent.request(methods.agent.session.resume, asked);
  // Loading replays the conversation. It is known already, so nobody listens.
  return can?.loadSession === true ? (asked) => agent.request(methods.agent.session.load, asked) : null;
}

async function open(
  start: ConnectionStart,
  { server, instructions, resumes }: SessionStart,
  handlers: ConnectionHandlers,
  late: AbortSignal,
): Promise<OpenSession> {
  const line = await openConnection(start, handlers, late);
  try {
    const instructed = takesInstructions(line);
    const resuming = resumingOf(line);
    const request: NewSessionRequest = {
      cwd: start.cwd,
      mcpServers: mcpServers(server, line),
      ...(instructed ? { _meta: { systemPrompt: { append: instructions } } } : {}),
    };
    const earlier =
      resumes === null || resuming === null
        ? null
        : await line.answer(resuming({ sessionId: resumes, ...request })).then(
            (resumed) => ({ sessionId: resumes, modes: isRecord(resumed) ? resumed.modes : null }),
            (error: unknown) => {
              if (error instanceof ProgramError) throw error;
              // The session is gone or cannot be resumed. The same process begins a new one.
              return null;
            },
          );
    const { sessionId, modes: told } =
      earlier ?? openedOf(start.name, await line.answer(line.agent.request(methods.agent.session.new, request)));
    const modes = modesOf(line, sessionId, told);
    await modes.ask();
    const resumed = earlier !== null;
    return { line, sessionId, instructed, resumed, resumable: resuming !== null, takes: takesOf(line), modes };
  } catch (error) {
    await line.close();
    throw faultOf(start.name, error);
  }
}

/** Rejects with a `ProgramError`, after the process has ended. */
export async function openSession(
  start: ConnectionStart,
  session: SessionStart,
  handlers: ConnectionHandlers,
  late: AbortSignal,
  timers: Parameters<typeof inTime>[0],
): Promise<OpenSession> {
  if (session.resumes !== null)
    try {
      const { resumeMs: startMs } = start.limits;
      return await inTime(timers, { startMs }, late, (soon) => open(start, session, handlers, soon));
    } catch (error) {
      // Whatever the failure, the resumed session may be its cause.
      if (late.aborted) throw error;
    }
  return open(start, { ...session, resumes: null }, handlers, late);
}

/**
 * Runs a start within its time. `left` and the time-out end it with a `ProgramError` as the reason.
 */
export async function inTime<Value>(
  timers: { after(ms: number, run: () => void): () => void },
  { startMs }: Pick<ProgramLimits, 'startMs'>,
  left: AbortSignal,
  work: (late: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const late = new AbortController();
  const stop = timers.after(startMs, () => late.abort());
  const leave = () => late.abort(new ProgramError('died', sentence`stopped`));
  if (left.aborted) leave();
  else left.addEventListener('abort', leave, { once: true });
  try {
    return await work(late.signal);
  } finally {
    stop();
    left.removeEventListener('abort', leave);
  }
}

export interface Starts {
  /**
   * `onPlace`: receives each new position; 1 is next. `most`: the household's limit of concurrent
   * starts. Rejects with an `AbortError` where `signal` aborts before its turn.
   */
  inTurn<Value>(
    work: () => Promise<Value>,
    onPlace: (place: number) => void,
    signal: AbortSignal,
    most: () => Promise<number>,
  ): Promise<Value>;
  /** A household's limit may have changed. */
  recheck(): void;
}

interface Waiter {
  readonly go: () => void;
  readonly onPlace: (place: number) => void;
  readonly most: () => Promise<number>;
}

export function createStarts(
  limits: Pick<ProgramLimits, 'freeBytes'>,
  available: () => Promise<number> = async () => (await memoryLeft()).available,
): Starts {
  const waiting: Waiter[] = [];
  let under = 0;
  /** Set when something changes while a check runs. */
  let [looking, again] = [false, false];

  /**
   * One start is always allowed. With little memory, or an unreadable limit, starts run one after
   * another.
   */
  const mayStart = async ({ most }: Waiter) =>
    under === 0 || (under < (await most().catch(() => 1)) && (await available()) >= limits.freeBytes);

  async function next(): Promise<void> {
    again = true;
    if (looking) return;
    looking = true;
    try {
      while (again) {
        again = false;
        for (let first = waiting[0]; first && (await mayStart(first)); first = waiting[0]) {
          // The start may have left the queue meanwhile.
          if (waiting[0] !== first) continue;
          waiting.shift();
          under += 1;
          first.go();
        }
      }
    } finally {
      looking = false;
    }
    waiting.forEach(({ onPlace }, index) => onPlace(index + 1));
  }

  return {
    async inTurn(work, onPlace, signal, most) {
      await new Promise<void>((resolve, reject) => {
        const refuse = () => reject(new DOMException('It was stopped while it waited.', 'AbortError'));
        const leave = () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          refuse();
        };
        const waiter: Waiter = {
          onPlace,
          most,
          go() {
            signal.removeEventListener('abort', leave);
            resolve();
          },
        };
        if (signal.aborted) return refuse();
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(waiter);
        void next();
      });
      try {
        return await work();
      } finally {
        under -= 1;
        void next();
      }
    },
    recheck: () => void next(),
  };
}
