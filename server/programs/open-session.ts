/** From a program that does not run to one that waits for its first prompt: its process, and one session in it. */
import { methods } from '@agentclientprotocol/sdk';
import type {
  LoadSessionRequest,
  NewSessionRequest,
  ResumeSessionRequest,
  ResumeSessionResponse,
} from '@agentclientprotocol/sdk';
import { sentence } from '../../src/domain/sentence.ts';
import { faultOf, openLine, ProgramError, type Line, type LineHandlers, type LineStart } from './line.ts';
import { mcpServers, type Takes } from './prompt.ts';
import type { ProgramLimits } from './settings.ts';

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
}

export interface SessionStart {
  /** Roost's own MCP server, for this agent alone. */
  readonly server: { readonly url: string; readonly secret: string };
  /** For those that take them beside the conversation. */
  readonly instructions: string;
  /** An earlier session to go on with, where it can; null: a new one. */
  readonly resumes: string | null;
}

/** The mode of Claude Code in which it asks before it acts. */
const ASKS = 'default';

/** Whether it takes instructions beside the conversation: Claude Code's adapter does. */
const takesInstructions = ({ info }: Line) => info.agentInfo?.name.includes('claude') ?? false;
function takesOf({ info }: Line): Takes {
  const { image, embeddedContext } = info.agentCapabilities?.promptCapabilities ?? {};
  return { image: image === true, file: embeddedContext === true };
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
            ({ modes }) => ({ sessionId: resumes, modes }),
            (error: unknown) => {
              if (error instanceof ProgramError) throw error;
              // It has it no more, or says why it cannot: the same process begins a new one.
              return null;
            },
          );
    const { sessionId, modes } = earlier ?? (await line.answer(line.agent.request(methods.agent.session.new, asked)));
    // Some begin in a mode that acts without asking: it is the person who lets it.
    if (modes?.currentModeId !== ASKS && modes?.availableModes.some(({ id }) => id === ASKS))
      await line.answer(line.agent.request(methods.agent.session.setMode, { sessionId, modeId: ASKS }));
    const resumed = earlier !== null;
    return { line, sessionId, instructed, resumed, resumable: resuming !== null, takes: takesOf(line) };
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

/** Does it within the time that a start may take; what `left` or the time ends ends with a `ProgramError` as its reason. */
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
