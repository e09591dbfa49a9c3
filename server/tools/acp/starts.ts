/**
 * The line in which programs wait to be started: one for all homes, with so many under way as its
 * own household has set, and as memory allows.
 */
import {
  type LoadSessionRequest,
  methods,
  type NewSessionRequest,
  type NewSessionResponse,
  type ResumeSessionRequest,
  type ResumeSessionResponse,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { isRecord } from '../../../src/shared/domain/platform/is-record.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';
import { memoryLeft } from '../../platform/processes/index.ts';
import { faultOf, type Line, type LineHandlers, type LineStart, openLine, ProgramError } from './line.ts';
import { mcpServers, type Takes } from './prompt.ts';
import { ASKING_MODES, type ProgramLimits } from './settings.ts';

// From a program that does not run to one that waits for its first prompt: its process, and one
// session in it.

export interface OpenSession {
  readonly line: Line;
  readonly sessionId: string;
  /** It was given its instructions beside the conversation. */
  readonly instructed: boolean;
  /** It is one from before, and knows what was said in it. */
  readonly resumed: boolean;
  /** It can be gone on with by another process. */
  readonly resumable: boolean;
  readonly takes: Takes;
  readonly modes: Modes;
}

interface SessionStart {
  /** Roost's own MCP server, for this agent alone. */
  readonly server: { readonly url: string; readonly secret: string };
  /** For those that take them beside the conversation. */
  readonly instructions: string;
  /** An earlier session to go on with, where it can; null: a new one. */
  readonly resumes: string | null;
}

/** The modes of a session, as far as it has any. */
interface Modes {
  /** The mode it is in now; null: it has none. `asks`: it is one in which the person is asked. */
  now(): { readonly name: string; readonly asks: boolean } | null;
  /** It says that it is in this mode from now on. */
  changed(modeId: string): void;
  /**
   * Puts it into a mode in which the person is asked, where it has one: some begin in another, or
   * change by themselves.
   */
  ask(): Promise<void>;
}

function modesOf({ agent, answer, info }: Line, sessionId: string, told: SessionModeState | null | undefined): Modes {
  const named = info.agentInfo?.name ?? '';
  const asking = ASKING_MODES.find(({ of }) => of.test(named))?.modes ?? [];
  const there = new Map((told?.availableModes ?? []).map(({ id, name }) => [id, name]));
  const wanted = asking.find((id) => there.has(id)) ?? null;
  let current = told?.currentModeId ?? null;
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

/** Whether it takes instructions beside the conversation: Claude Code's adapter does. */
const takesInstructions = ({ info }: Line) => info.agentInfo?.name.includes('claude') ?? false;
function takesOf({ info }: Line): Takes {
  const { image, embeddedContext } = info.agentCapabilities?.promptCapabilities ?? {};
  return { image: image === true, file: embeddedContext === true };
}

const openedSchema = z.looseObject({ sessionId: z.string().min(1) });
/** Throws where it answered that it has opened a session, and told none. */
export function openedOf(name: string, opened: NewSessionResponse): NewSessionResponse {
  if (openedSchema.safeParse(opened).success) return opened;
  throw new ProgramError('nonsense', sentence`${name} said that it opened a session, and did not say which.`);
}

type Resuming = (asked: ResumeSessionRequest & LoadSessionRequest) => Promise<Pick<ResumeSessionResponse, 'modes'>>;

/** How it goes on with a session, if it can. */
function resumingOf({ agent, info: { agentCapabilities: can } }: Line): Resuming | null {
  if (can?.sessionCapabilities?.resume) return (asked) => agent.request(methods.agent.session.resume, asked);
  // What it tells of it then is known: nobody listens yet.
  return can?.loadSession === true ? (asked) => agent.request(methods.agent.session.load, asked) : null;
}

async function open(
  start: LineStart,
  { server, instructions, resumes }: SessionStart,
  handlers: LineHandlers,
  late: AbortSignal,
): Promise<OpenSession> {
  const line = await openLine(start, handlers, late);
  try {
    const instructed = takesInstructions(line);
    const resuming = resumingOf(line);
    const asked: NewSessionRequest = {
      cwd: start.cwd,
      mcpServers: mcpServers(server, line),
      ...(instructed ? { _meta: { systemPrompt: { append: instructions } } } : {}),
    };
    const earlier =
      resumes === null || resuming === null
        ? null
        : await line.answer(resuming({ sessionId: resumes, ...asked })).then(
            (resumed) => ({ sessionId: resumes, modes: isRecord(resumed) ? resumed.modes : null }),
            (error: unknown) => {
              if (error instanceof ProgramError) throw error;
              // It has it no more, or says why it cannot: the same process begins a new one.
              return null;
            },
          );
    const { sessionId, modes: told } =
      earlier ?? openedOf(start.name, await line.answer(line.agent.request(methods.agent.session.new, asked)));
    const modes = modesOf(line, sessionId, told);
    await modes.ask();
    const resumed = earlier !== null;
    return { line, sessionId, instructed, resumed, resumable: resuming !== null, takes: takesOf(line), modes };
  } catch (error) {
    await line.close();
    throw faultOf(start.name, error);
  }
}

/** Rejects with a `ProgramError`, and nothing of it is left then. */
export async function openSession(
  start: LineStart,
  asked: SessionStart,
  handlers: LineHandlers,
  late: AbortSignal,
  timers: Parameters<typeof inTime>[0],
): Promise<OpenSession> {
  if (asked.resumes !== null)
    try {
      const { resumeMs: startMs } = start.limits;
      return await inTime(timers, { startMs }, late, (soon) => open(start, asked, handlers, soon));
    } catch (error) {
      // Whatever it died or hung of, it may be the session that it was to go on with.
      if (late.aborted) throw error;
    }
  return open(start, { ...asked, resumes: null }, handlers, late);
}

/**
 * Does it within the time that a start may take; what `left` or the time ends ends with a
 * `ProgramError` as its reason.
 */
export async function inTime<Value>(
  timers: { after(ms: number, run: () => void): () => void },
  { startMs }: Pick<ProgramLimits, 'startMs'>,
  left: AbortSignal,
  work: (late: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const late = new AbortController();
  const stop = timers.after(startMs, () => late.abort());
  const leave = () => late.abort(new ProgramError('died', sentence`it was stopped while it started`));
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
   * `onPlace`: 1 is next; told whenever it changes. `most`: how many may be under way with it, as
   * its household has set it. Rejects with an `AbortError` where `signal` aborts before its turn.
   */
  inTurn<Value>(
    work: () => Promise<Value>,
    onPlace: (place: number) => void,
    signal: AbortSignal,
    most: () => Promise<number>,
  ): Promise<Value>;
  /** What a household has set may be another now. */
  look(): void;
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
  /** Something has changed that whoever looks now may not have seen. */
  let [looking, again] = [false, false];

  /**
   * One is always let: where memory is short, or what is set cannot be read, they come one after
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
          // It may have left the line meanwhile.
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
    look: () => void next(),
  };
}
