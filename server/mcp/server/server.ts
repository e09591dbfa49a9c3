/**
 * One MCP server instance: the team's tools, and the agent's own resources. It stores nothing about
 * its caller, who is identified by each request. So one instance serves one request of the
 * stateless protocol as well as a session.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type Resource,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AgentId, RunId } from '../../../src/shared/domain/ids.ts';
import { shownName } from '../../../src/shared/domain/names.ts';
import { seatNumber } from '../../../src/shared/domain/seat.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { SessionHost } from '../../agents/session/contract.ts';
import type { EventLog } from '../../log/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Gate } from '../../team/gate/contract.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import type { Pauses } from '../../team/pauses/index.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import type { Threads } from '../../team/threads/index.ts';
import type { Credentials } from '../../access/index.ts';
import { misfitsOf } from '../../tools/define-tool.ts';
import {
  howToLive,
  INSTRUCTIONS,
  type Joined,
  joinedOf,
  notBorn,
  parkedSentence,
  type StillParked,
  WAITING,
  WORKING,
} from './bearer.ts';

// The person's messages to an agent that a client drives. They end a call of that client that only
// waits.

interface HeardDeps {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly inbox: Pick<Inbox, 'waiting'>;
  readonly stateOf: SessionHost['stateOf'];
}

interface Heard {
  /**
   * `signal` aborts when a message of the person waits for this agent's client, also one from
   * before the call.
   */
  listen(agentId: AgentId): Promise<{ readonly signal: AbortSignal; stop(): void }>;
  close(): void;
}

export function createReceived({ log, inbox, stateOf }: HeardDeps): Heard {
  /** Waiting calls, by agent. */
  const calls = new Map<string, Set<AbortController>>();
  const close = log.subscribe(({ event }) => {
    // Messages that the relay's own mind reads are not for a client.
    if (event.kind === 'message' && event.author === 'human' && event.waiting)
      for (const call of calls.get(event.agentId) ?? []) call.abort();
  });
  return {
    async listen(agentId) {
      const call = new AbortController();
      const mine = calls.get(agentId) ?? new Set();
      calls.set(agentId, mine.add(call));
      const stop = () => {
        mine.delete(call);
        if (mine.size === 0 && calls.get(agentId) === mine) calls.delete(agentId);
      };
      try {
        if (stateOf(agentId) === 'driven' && (await inbox.waiting(agentId, 0)).some(({ from }) => from === 'human'))
          call.abort();
      } catch (error) {
        stop();
        throw error;
      }
      return { signal: call.signal, stop };
    },
    close,
  };
}

// What an agent can read about itself.

interface ResourceDeps {
  readonly pauses: Pick<Pauses, 'isPaused'>;
  readonly inbox: Pick<Inbox, 'unread'>;
  readonly gate: Pick<Gate, 'stats'>;
  readonly threads: Pick<Threads, 'list'>;
  /** The running session, or null. */
  readonly sessionId: () => string | null;
}

interface AgentResource extends Resource {
  readonly mimeType: string;
  read(agent: TeamMember): Promise<string>;
}

/** Most open threads in `roost://agent/threads`. Tools read the others. */
const MOST_THREADS = 50;

/** JSON without raw line separators, so that others' text stays within its strings. */
const json = (value: unknown) =>
  JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * The agent's state, as `roost://agent/state` returns it. Seats count from 1. Times are in ms since
 * the epoch.
 */
async function stateOf({ pauses, inbox, gate, sessionId }: ResourceDeps, { agentId, name, position }: TeamMember) {
  const [unread, wakes] = await Promise.all([inbox.unread(), gate.stats(agentId)]);
  return {
    agentId,
    name,
    seat: position === null ? null : seatNumber(position),
    sessionId: sessionId(),
    sleeping: pauses.isPaused(agentId),
    unread: unread.get(agentId) ?? 0,
    wakes,
  };
}

export function createResources(deps: ResourceDeps): readonly AgentResource[] {
  return [
    {
      uri: 'roost://agent/state',
      name: 'state',
      title: 'Who I am',
      description:
        'My name and seat, the running session, whether I am set to sleep, how many messages wait for me, and how often I can be woken today.',
      mimeType: 'application/json',
      read: async (agent) => json(await stateOf(deps, agent)),
    },
    {
      uri: 'roost://agent/threads',
      name: 'threads',
      title: 'My threads',
      description:
        'The open threads that I am in, newest first: participants, number of messages, and when the last was.',
      mimeType: 'application/json',
      read: async ({ agentId }) =>
        json(await deps.threads.list(agentId, { before: null, limit: MOST_THREADS, closedToo: false })),
    },
    {
      uri: 'roost://agent/instructions',
      name: 'instructions',
      title: 'How to live in a Roost',
      description: 'How agents of a Roost reach each other, and what sleep and limits mean for them.',
      mimeType: 'text/markdown',
      read: (agent) => Promise.resolve(howToLive(shownName(agent.name, 'agent'))),
    },
  ];
}

// Progress notifications of one call, for clients that asked for them. Those clients give up on
// silent calls.

/** Calls `run` every `ms`. Returns a function that stops it. */
export type Every = (ms: number, run: () => void) => () => void;

interface Progress {
  /** Sends the message at once, and repeats it until another one is set. */
  now(message: string): void;
  /** As `now`, but first after a delay. */
  later(message: string): void;
  stop(): void;
}

interface ProgressDeps {
  readonly every: Every;
  readonly progressEveryMs: number;
  /** A notification could not be sent to a client that is still connected. */
  readonly onError: (error: unknown) => void;
}

const SILENT: Progress = { now: () => undefined, later: () => undefined, stop: () => undefined };

function createProgress(
  { every, progressEveryMs, onError }: ProgressDeps,
  { mcpReq }: ServerContext,
  signal: AbortSignal,
): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return SILENT;
  // Counts over the whole call, because progress may only grow.
  let progress = 0;
  let stop = () => {};
  const send = (message: string) => {
    const sent = mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress: (progress += 1), message },
    });
    sent.catch((error: unknown) => {
      if (!signal.aborted) onError(error);
    });
  };
  const later = (message: string) => {
    stop();
    stop = every(progressEveryMs, () => send(message));
  };
  return {
    now(message) {
      send(message);
      later(message);
    },
    later,
    stop: () => stop(),
  };
}

// The sleep gate of MCP calls. A call of a sleeping agent waits until the agent is woken, and then
// continues once.

interface ParkDeps {
  readonly pauses: Pick<Pauses, 'wait' | 'isPaused'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly credentials: Pick<Credentials, 'check' | 'onRevoke'>;
}

/** The agent and credential of a call. */
interface ParkedCall {
  readonly agentId: AgentId;
  readonly credentialId: string;
  readonly secret: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

type ParkOutcome = { readonly go: true } | { readonly go: false; readonly held: StillParked; readonly seconds: number };

interface Park {
  /**
   * Resolves at once where the agent is awake. Rejects with the signal's reason if the client
   * disconnects first.
   */
  wait(call: ParkedCall): Promise<ParkOutcome>;
  close(): void;
}

export function createPark({ pauses, configs, credentials }: ParkDeps): Park {
  /** Controllers that end the waits of each credential. */
  const waits = new Map<string, Set<AbortController>>();
  const stop = credentials.onRevoke((credentialId) => {
    for (const controller of waits.get(credentialId) ?? []) controller.abort();
  });

  /** Hundreds of calls released at once share one check. */
  const asking = new Map<string, Promise<boolean>>();
  function isGood(secret: string): Promise<boolean> {
    const check =
      asking.get(secret) ??
      credentials
        .check(secret)
        .then((bearer) => bearer !== null)
        .finally(() => asking.delete(secret));
    asking.set(secret, check);
    return check;
  }

  return {
    async wait({ agentId, credentialId, secret, signal, progress }) {
      signal.throwIfAborted();
      if (!pauses.isPaused(agentId)) return { go: true };
      const { sleep_wait_seconds: seconds } = (await configs.household()).effective;
      const revoked = new AbortController();
      const mine = waits.get(credentialId) ?? new Set();
      waits.set(credentialId, mine.add(revoked));
      progress.now(WAITING);
      try {
        const waited = await pauses.wait(agentId, {
          signal: AbortSignal.any([signal, revoked.signal]),
          limitMs: seconds * 1_000,
        });
        signal.throwIfAborted();
        if (waited === 'late' || waited === 'ended') return { go: false, held: waited, seconds };
        // Another process may have revoked the credential, so it is checked again after a wait.
        const good = waited === 'awake' && (await isGood(secret));
        signal.throwIfAborted();
        return good ? { go: true } : { go: false, held: 'revoked', seconds };
      } finally {
        mine.delete(revoked);
        if (mine.size === 0 && waits.get(credentialId) === mine) waits.delete(credentialId);
      }
    },
    close: stop,
  };
}

/**
 * JSON-RPC error of a resource read while its agent sleeps. The code is in the range that servers
 * may define.
 */
const PAUSED_CODE = -32_010;

interface McpServerDeps extends ProgressDeps {
  readonly tools: readonly TeamTool[];
  readonly resources: readonly AgentResource[];
  readonly park: Park;
  readonly heard: Heard;
  readonly version: string;
  readonly sessionId: () => string | null;
  readonly joined: SessionHost['joined'];
  readonly clientCalls: SessionHost['clientCalls'];
  readonly newborn: SessionHost['newborn'];
  /** A run of the relay itself has listed its tools. */
  readonly onListed: (runId: RunId) => void;
  /** A run of the relay itself waits for a tool, until the returned function is called. */
  readonly onCalled: (runId: RunId) => () => void;
  readonly newId: () => string;
  /** A fault of the relay. Returns the id of its log entry. */
  readonly onFault: (error: unknown) => string;
}

/**
 * Called when a request begins. The returned function is called when it ends. `cancelled`: there
 * will be no answer.
 */
export type Busy = (id: RequestId) => (cancelled: boolean) => void;

/** The JSON Schema as plain JSON, as it is sent. */
const inputSchemaOf = (input: z.ZodObject) =>
  z.record(z.string(), z.json()).parse(JSON.parse(JSON.stringify(z.toJSONSchema(input, { io: 'input' }))));

const described = ({ name, description, input, readOnly }: TeamTool): Tool => ({
  name,
  description,
  inputSchema: { ...inputSchemaOf(input), type: 'object' },
  annotations: { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false },
  // Otherwise Claude Code hides a server's tools behind a search.
  _meta: { 'anthropic/alwaysLoad': true },
});

const textResult = (text: string, isError: boolean) => ({ content: [{ type: 'text' as const, text }], isError });
const resultOf = ({ text, isError, picture }: ToolOutcome) => {
  const { content } = textResult(text, isError);
  if (!picture) return { content, isError };
  return { content: [...content, { type: 'image' as const, mimeType: picture.type, data: picture.data }], isError };
};

/** Returns a factory of instances. */
export function createServers(deps: McpServerDeps): (busy?: Busy) => Server {
  const { tools, resources, park, heard, version, sessionId, joined, newId, onFault } = deps;
  const byName = new Map(tools.filter(({ provider }) => !provider).map((tool) => [tool.name, tool]));
  /** Made for the first client that lists them: a home without one opens sooner. */
  const descriptions = new Map<TeamTool, Tool>();
  function describedOnce(tool: TeamTool): Tool {
    const known = descriptions.get(tool) ?? described(tool);
    descriptions.set(tool, known);
    return known;
  }

  const callerOf = ({ agent, credentialId, readsSoul, run }: Joined, signal: AbortSignal): Caller => ({
    agentId: agent.agentId,
    sessionId: run ? run.sessionId : sessionId(),
    run: newId(),
    ...(run ? { runId: run.runId } : {}),
    kind: run ? (run.sessionId === null ? 'run' : 'session') : 'client',
    credential: { credentialId, readsSoul },
    signal,
  });
  /** Aborts when the client cancels, or when nobody reads the answer any more. */
  const signalOf = ({ mcpReq, http }: ServerContext) =>
    http?.req ? AbortSignal.any([mcpReq.signal, http.req.signal]) : mcpReq.signal;

  /** Waits until the agent is awake. Null: it is. Otherwise why the call does not continue. */
  async function held({ agent, credentialId, secret }: Joined, signal: AbortSignal, progress: Progress) {
    const parked = await park.wait({ agentId: agent.agentId, credentialId, secret, signal, progress });
    return parked.go ? null : { words: parkedSentence(parked.held, parked.seconds), held: parked.held };
  }

  /** As `held`, after the agent has joined. Joining may put it to sleep. */
  async function enter(who: Joined, signal: AbortSignal, progress: Progress) {
    const { agent, credentialId, label, run } = who;
    // An ACP agent that the relay started has joined already.
    if (!run && sessionId() !== null) await joined(agent, { credentialId, name: label, readsInbox: true });
    return await held(who, signal, progress);
  }

  /** What an egg may call. Null: the caller is no egg, or is born by now. */
  const birthOf = ({ agent, run }: Joined) => (run && deps.newborn(agent.agentId)?.birth) ?? null;

  function refuseHeld(why: Awaited<ReturnType<typeof held>>): void {
    if (why) throw new ProtocolError(PAUSED_CODE, why.words, { held: why.held });
  }

  /**
   * Protocol errors of the SDK are sent as they are. Any other error is a fault of the relay, with
   * details in the log.
   */
  async function answer<Result>(
    context: ServerContext,
    busy: Busy | undefined,
    run: (who: Joined, signal: AbortSignal, telling: Progress) => Promise<Result>,
  ): Promise<Result> {
    const done = busy?.(context.mcpReq.id);
    const signal = signalOf(context);
    const progress = createProgress(deps, context, signal);
    try {
      return await run(joinedOf(context), signal, progress);
    } catch (error) {
      if (error instanceof ProtocolError || signal.aborted) throw error;
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        `The relay had an error. Its log says more under ${onFault(error)}.`,
      );
    } finally {
      progress.stop();
      done?.(context.mcpReq.signal.aborted);
    }
  }

  const listedResources = resources.map(({ uri, name, title, description, mimeType }) => {
    return { uri, name, title, description, mimeType };
  });

  return (busy) => {
    /**
     * While the agent sleeps all requests wait, except `initialize` and `ping`, which the SDK
     * answers.
     */
    const answerAwake = <Result>(context: ServerContext, run: Parameters<typeof answer<Result>>[2]) =>
      answer(context, busy, async (who, signal, telling) => {
        refuseHeld(await held(who, signal, telling));
        return await run(who, signal, telling);
      });
    const server = new Server(
      { name: 'roost', title: 'Roost', version },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
    );

    server.setRequestHandler('tools/list', (_request, context) =>
      answerAwake(context, async (who, signal) => {
        const caller = callerOf(who, signal);
        const listed: Tool[] = [];
        for (const tool of byName.values())
          if ((await tool.allowed?.(caller)) ?? true) listed.push(describedOnce(tool));
        if (who.run) deps.onListed(who.run.runId);
        return { tools: listed };
      }),
    );

    server.setRequestHandler('tools/call', ({ params }, context) =>
      answer(context, busy, async (who, signal, telling) => {
        const birth = birthOf(who);
        // An MCP client lists tools only once. So an egg lists all tools, but may call only those
        // of its birth.
        if (birth)
          return birth.tools.includes(params.name)
            ? resultOf(await birth.call(params.name, params.arguments ?? {}))
            : textResult(notBorn(birth.tools), true);
        const asleep = await held(who, signal, telling);
        if (asleep) return textResult(asleep.words, true);
        const tool = byName.get(params.name);
        const caller = callerOf(who, signal);
        if (!tool || !((await tool.allowed?.(caller)) ?? true))
          throw new ProtocolError(
            ProtocolErrorCode.InvalidParams,
            `There is no tool "${params.name}". tools/list has their names.`,
          );
        const input = tool.input.safeParse(params.arguments ?? {});
        if (!input.success)
          return textResult(`These arguments do not fit ${tool.name}. ${misfitsOf(tool, input.error)}.`, true);
        const entered = await enter(who, signal, telling);
        if (entered) return textResult(entered.words, true);
        telling.later(WORKING);
        const over = who.run ? deps.onCalled(who.run.runId) : deps.clientCalls(caller.agentId, tool.name, input.data);
        const listening = tool.waits ? await heard.listen(caller.agentId) : null;
        try {
          const outcome = await tool.run(input.data, {
            ...caller,
            ...(who.run ? {} : { sessionId: sessionId() }),
            ...(listening ? { heard: listening.signal } : {}),
          });
          return resultOf(outcome);
        } finally {
          listening?.stop();
          over();
        }
      }),
    );

    server.setRequestHandler('resources/list', (_request, context) =>
      answerAwake(context, () => Promise.resolve({ resources: listedResources })),
    );
    server.setRequestHandler('resources/templates/list', (_request, context) =>
      answerAwake(context, () => Promise.resolve({ resourceTemplates: [] })),
    );

    server.setRequestHandler('resources/read', ({ params }, context) =>
      answerAwake(context, async (who, signal, telling) => {
        const resource = resources.find(({ uri }) => uri === params.uri);
        if (!resource) throw new ResourceNotFoundError(params.uri);
        // Listed for an egg too, as its tools are.
        const birth = birthOf(who);
        if (birth) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, notBorn(birth.tools));
        refuseHeld(await enter(who, signal, telling));
        return { contents: [{ uri: resource.uri, mimeType: resource.mimeType, text: await resource.read(who.agent) }] };
      }),
    );
    return server;
  };
}
