/** From a program that does not run to one that waits for its first prompt: its process, and one session in it. */
import { methods } from '@agentclientprotocol/sdk';
import { faultOf, openLine, ProgramError, type Line, type LineHandlers, type LineStart } from './line.ts';
import { mcpServers, type Takes } from './prompt.ts';
import type { ProgramLimits } from './settings.ts';

export interface OpenSession {
  readonly line: Line;
  readonly sessionId: string;
  /** It was given its instructions beside the conversation. */
  readonly instructed: boolean;
  readonly takes: Takes;
}

export interface SessionStart {
  /** Roost's own MCP server, for this agent alone. */
  readonly server: { readonly url: string; readonly secret: string };
  /** For those that take them beside the conversation. */
  readonly instructions: string;
}

/** The mode of Claude Code in which it asks before it acts. */
const ASKS = 'default';

/** Whether it takes instructions beside the conversation: Claude Code's adapter does. */
const takesInstructions = ({ info }: Line) => info.agentInfo?.name.includes('claude') ?? false;
function takesOf({ info }: Line): Takes {
  const { image, embeddedContext } = info.agentCapabilities?.promptCapabilities ?? {};
  return { image: image === true, file: embeddedContext === true };
}

/** Rejects with a `ProgramError`, and nothing of it is left then. */
export async function openSession(
  start: LineStart,
  { server, instructions }: SessionStart,
  handlers: LineHandlers,
  late: AbortSignal,
): Promise<OpenSession> {
  const line = await openLine(start, handlers, late);
  try {
    const instructed = takesInstructions(line);
    const { sessionId, modes } = await line.answer(
      line.agent.request(methods.agent.session.new, {
        cwd: start.cwd,
        mcpServers: mcpServers(server, line),
        ...(instructed ? { _meta: { systemPrompt: { append: instructions } } } : {}),
      }),
    );
    // Some begin in a mode that acts without asking: it is the person who lets it.
    if (modes?.currentModeId !== ASKS && modes?.availableModes.some(({ id }) => id === ASKS))
      await line.answer(line.agent.request(methods.agent.session.setMode, { sessionId, modeId: ASKS }));
    return { line, sessionId, instructed, takes: takesOf(line) };
  } catch (error) {
    await line.close();
    throw faultOf(start.name, error);
  }
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
  const leave = () => late.abort(new ProgramError('died', 'it was stopped while it started'));
  if (left.aborted) leave();
  else left.addEventListener('abort', leave, { once: true });
  try {
    return await work(late.signal);
  } finally {
    stop();
    left.removeEventListener('abort', leave);
  }
}
