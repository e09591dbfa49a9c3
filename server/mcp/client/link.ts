/**
 * The connection to one MCP server. It opens on demand, retries with pauses after a failure, and
 * ends as a whole.
 */
import type { Client, jsonSchemaValidator, Transport } from '@modelcontextprotocol/client';
import { beginningOfText } from '../../../src/shared/domain/cut-middle.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { doubling } from '../../../src/shared/domain/platform/retry.ts';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { onOneLine } from '../../../src/shared/domain/quoting.ts';
import type { FormValue } from '../../../src/shared/domain/question-form.ts';
import { singleFlight } from '../../../src/shared/domain/platform/single-flight.ts';
import { LONGEST_TIMER_MS, within } from '../../../src/shared/domain/platform/timers.ts';
import { isFetched } from '../../../src/shared/protocol/runners.ts';
import { createFlood } from '../../platform/pace.ts';
import { FLOODED } from '../../platform/json-bounds.ts';
import { answeredSchema, readAnswer } from './offered.ts';
import { MCP_LIMITS } from './settings.ts';
import { type Asks, createCallTime, createQuestions, QuestionError, type Questions } from './elicitation.ts';
import { isSdkError, loadSdk } from './sdk.ts';
import {
  ConnectError,
  isBroken,
  isForgotten,
  isRefusedConnection,
  NO_OTHER_WAY,
  sentenceOf,
  statusOf,
  troubleOf,
  wantsSignIn,
} from './failures.ts';
import { type Link, type LinkDeps, LinkError, type LinkStatus, type Way } from './link-types.ts';
import { listTools } from './listing.ts';
import { readResources, readsResources } from './resources.ts';
import { createTransports } from './transport.ts';

const NOTHING = () => undefined;

interface Open {
  readonly client: Client;
  readonly transport: Transport;
  readonly questions: Questions;
  /** ms of `elapsed`. */
  readonly since: number;
  /** Number of running calls. */
  calls: number;
  /** Another connection has replaced this one. It closes when its calls have ended. */
  replaced: boolean;
}

/** The person's input in the SDK's types, whose lists are not readonly. */
const forServer = (content: Readonly<Record<string, FormValue>>) =>
  Object.fromEntries(
    Object.entries(content).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  );

type Asked = Parameters<NonNullable<Client['fallbackRequestHandler']>>[1]['mcpReq'];
/**
 * Servers wait a minute by default, and longer after progress notifications. Undefined: the server
 * wants none.
 */
function signOf({ _meta, notify }: Asked): (() => void) | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return () => {
    progress += 1;
    const params = { progressToken, progress, message: 'The person is asked.' };
    void notify({ method: 'notifications/progress', params }).catch(NOTHING);
  };
}

/** Output is shown as it is. No schema of a server is compiled and run to check it. */
const NO_CHECK: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** A client that passes the questions of its server on. `onList`: its tools have changed. */
function createClient(
  Client: Awaited<ReturnType<typeof loadSdk>>['Client'],
  { version, filter, now, timers, limits = MCP_LIMITS }: LinkDeps,
  onList: () => void,
): { readonly client: Client; readonly questions: Questions } {
  const client = new Client(
    { name: 'roost', version },
    {
      // Not `url`: no page is opened for a server, and no link of it appears as a step of Roost.
      capabilities: { elicitation: { form: {} } },
      jsonSchemaValidator: NO_CHECK,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onList } },
    },
  );
  const questions = createQuestions({ filter, now, timers, limits });
  // The SDK's own handler validates a whole form first, and answers a large invalid one with
  // fifty megabytes.
  client.fallbackRequestHandler = async ({ method, params }, { mcpReq }) => {
    if (method !== 'elicitation/create') throw new QuestionError('unknown-method', 'Method not found');
    const { action, ...rest } = await questions.ask(params, mcpReq.signal, signOf(mcpReq));
    return { action, ...('content' in rest ? { content: forServer(rest.content) } : {}) };
  };
  return { client, questions };
}

/** One call on an open connection. `tools`: those that the server lists. */
async function callTool(
  deps: LinkDeps,
  open: Open,
  tools: LinkStatus['tools'],
  {
    tool,
    input,
    asks,
    signal,
  }: {
    readonly tool: string;
    readonly input: Record<string, unknown>;
    readonly asks: Asks;
    readonly signal: AbortSignal;
  },
) {
  const { timers, elapsed, filter, limits = MCP_LIMITS } = deps;
  const time = createCallTime(timers, elapsed, limits);
  const end = open.questions.begin(asks, time);
  const options = {
    signal: AbortSignal.any([signal, time.signal]),
    // The SDK has a time-out per request, and cannot suspend it while the person is asked.
    timeout: LONGEST_TIMER_MS,
    // The server is asked to report progress. The call waits as long as it does.
    onprogress: time.progress,
  };
  try {
    if (readsResources(tools, tool))
      return {
        ...readAnswer(
          await readResources(input, { client: open.client, options, elapsed, filter, limits }),
          filter,
          limits,
        ),
        isError: false,
      };
    const { content, structuredContent, isError } = await open.client.request(
      { method: 'tools/call', params: { name: tool, arguments: input } },
      answeredSchema,
      options,
    );
    return { ...readAnswer({ content, structured: structuredContent ?? undefined }, filter, limits), isError };
  } catch (error) {
    throw time.signal.aborted && !signal.aborted ? time.signal.reason : error;
  } finally {
    end();
  }
}

/** The SDK answers each question of a server by a request of its own. Too many end the link. */
function limitQuestions(
  transport: Open['transport'],
  limits: NonNullable<LinkDeps['limits']>,
  onFlood: (error: Error) => void,
): void {
  const asksTooMuch = createFlood({ ...limits, windowMessages: limits.windowQuestions });
  transport.onmessage = (message) => {
    if (!('method' in message && 'id' in message) || !asksTooMuch(1, 0)) return;
    const error = new Error(FLOODED);
    onFlood(error);
    throw error;
  };
}

/** Whether the server refuses the request as servers with the protocol of 2024 do. */
function mayBeOld({ cause }: ConnectError): boolean {
  const status = statusOf(cause);
  return status !== null && status >= 400 && status < 500 && !NO_OTHER_WAY.includes(status);
}

export function createLink(deps: LinkDeps): Link {
  const { attachment, timers, elapsed, filter, onChange, limits = MCP_LIMITS } = deps;
  /** One line, because a line break would make the text look like the relay's own. */
  const saying = (error: unknown) =>
    beginningOfText(onOneLine(filter.part(sentenceOf(error), 0, limits.problemChars + 1)), limits.problemChars);
  const limited = createLimiter(limits.callsAtOnce);
  const isProgram = attachment.kind === 'program';
  const programMs = isProgram && isFetched(attachment.command) ? limits.fetchedConnectMs : limits.programConnectMs;
  const connectMs = isProgram ? programMs : limits.connectMs;
  let current: Open | null = null;
  let connecting: Pick<Open, 'client' | 'transport'> | null = null;
  let status: LinkStatus = { state: 'connecting', problem: null, tools: null };
  let failures = 0;
  let againAt = 0;
  let closed = false;
  let cancelRelist: (() => void) | null = null;

  function stand(next: Partial<LinkStatus>): void {
    status = { ...status, ...next };
    if (!closed) onChange();
  }

  const transportOf = createTransports(deps, () => current && relistSoon(current));
  const listed = (client: Client) => listTools(client, deps, saying);

  async function relist(open: Open): Promise<LinkStatus> {
    try {
      const list = await listed(open.client);
      if (current === open) stand(list);
    } catch (error) {
      if (current === open && isForgotten(error)) return replace(open);
      lost(open, error);
    }
    return status;
  }
  /** The tool list or the state may have changed. One check answers any number of notifications. */
  function relistSoon(open: Open): void {
    cancelRelist ??= timers.after(limits.changedMs, () => {
      cancelRelist = null;
      if (current === open) void relist(open);
    });
  }

  function fail(error: unknown, said = ''): LinkStatus {
    failures += 1;
    againAt = elapsed() + doubling(limits, failures - 1);
    if (isSdkError('InsufficientScopeError', error)) deps.onTokenRefused?.(error.requiredScope);
    else if (statusOf(error) === 401) deps.onTokenRefused?.();
    stand({
      state: wantsSignIn(error) ? 'sign-in' : 'failed',
      problem: troubleOf(attachment, error, { said, saying, limits }),
    });
    return status;
  }

  /**
   * Closes the connection when its calls have ended. `atOnce`: running calls get no answer any
   * more.
   */
  function retire(open: Open, atOnce: boolean): void {
    open.replaced = true;
    open.client.onclose = NOTHING;
    const close = () => void open.client.close().catch(NOTHING);
    if (open.calls === 0) close();
    else if (atOnce) timers.after(limits.endMs, close);
  }

  /** The server does not know this connection any more. A new one opens at once. */
  function replace(open: Open, atOnce = true): Promise<LinkStatus> {
    if (current === open) {
      current = null;
      retire(open, atOnce);
    }
    return connect();
  }

  function lost(open: Open, error: unknown): void {
    if (current !== open) return;
    current = null;
    void open.client.close().catch(NOTHING);
    fail(error);
    // If a connection has lasted for a while, the next call opens a new one without a pause.
    if (elapsed() - open.since > limits.backoffFirst) againAt = elapsed();
  }

  /** Throws the first failure. */
  async function connectBy(way: Way): Promise<void> {
    let open: Open | null = null;
    /** Why the relay ended the connection. */
    let ended: Error | null = null as Error | null;
    /** A program's first failure. The closed connection is only its consequence. */
    let first: Error | null = null as Error | null;
    /** The server broke the protocol. Every waiting call fails with this error. */
    const endFor = (error: Error) => {
      ended ??= error;
      if (open) lost(open, error);
      else void client.close().catch(NOTHING);
    };
    const { Client } = await loadSdk();
    if (closed) throw new ConnectError(new LinkError('it is not connected any more'));
    const transport = transportOf(way, endFor);
    const { client, questions } = createClient(Client, deps, () => open && relistSoon(open));
    client.onerror = (error) => {
      if (attachment.kind === 'program') first ??= error;
      // The SSE stream reconnects by itself, to a server that has lost the session.
      if (way === 'stream' && open) void replace(open);
    };
    limitQuestions(transport, limits, endFor);
    connecting = { client, transport };
    const notSlow = timers.after(limits.slowStartMs, () => {
      if (isProgram && status.state === 'connecting')
        stand({
          problem: sentence`It has not answered yet. Roost waits ${connectMs / 1_000} seconds, because a first start may fetch the program.`,
        });
    });
    try {
      const times = { timeout: connectMs, maxTotalTimeout: connectMs };
      const connected = client.connect(transport, times).then(() => true);
      // No time-out of the SDK covers the start of the transport.
      if ((await within(timers.after, connectMs, connected)) === null) {
        void connected.catch(NOTHING);
        throw new Error(sentence`it timed out after ${connectMs / 1_000} seconds`);
      }
      const opened: Open = { client, transport, questions, since: elapsed(), calls: 0, replaced: false };
      client.onclose = () => lost(opened, ended ?? first ?? new Error('it has ended'));
      const list = await listed(client);
      if (closed) throw new LinkError('it is not connected any more');
      open = current = opened;
      failures = 0;
      stand({ state: 'connected', ...list });
    } catch (error) {
      client.onclose = NOTHING;
      await client.close().catch(NOTHING);
      await transport.close().catch(NOTHING);
      throw new ConnectError(ended ?? (wantsSignIn(error) ? null : first) ?? error, transport.said?.());
    } finally {
      notSlow();
      connecting = null;
    }
  }
  const connect = singleFlight(async (): Promise<LinkStatus> => {
    if (closed || current) return status;
    stand({ state: 'connecting', problem: null });
    try {
      await connectBy('requests');
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      if (closed || !mayBeOld(error)) return fail(error.cause, error.said);
      try {
        await connectBy('stream');
      } catch (again) {
        // It is not a server of 2024 either. Its first error is the cause.
        return fail(again instanceof ConnectError && wantsSignIn(again.cause) ? again.cause : error.cause);
      }
    }
    return status;
  });

  return {
    status: () => status,
    open: () => (current || elapsed() >= againAt ? connect() : Promise.resolve(status)),
    async retry() {
      if (!current) return connect();
      await relist(current);
      return current || status.state === 'sign-in' ? status : connect();
    },
    call: (tool, input, asks, signal, again = false) =>
      limited(async () => {
        const open = current;
        if (!open) throw new LinkError(status.problem ?? 'it is not connected', { isUndone: true });
        open.calls += 1;
        try {
          return await callTool(deps, open, status.tools, { tool, input, asks, signal });
        } catch (error) {
          const isUndone = !again && !signal.aborted && isForgotten(error);
          if (isUndone) void replace(open, statusOf(error) !== 400);
          else if (wantsSignIn(error) || isRefusedConnection(error) || isBroken(error)) lost(open, error);
          const why = current === open || isUndone ? saying(error) : (status.problem ?? saying(error));
          throw new LinkError(signal.aborted ? 'it was stopped' : why, { cause: error, isUndone });
        } finally {
          open.calls -= 1;
          if (open.replaced && open.calls === 0) void open.client.close().catch(NOTHING);
        }
      }),
    async close() {
      closed = true;
      cancelRelist?.();
      const open = current ?? connecting;
      current = null;
      if (!open) return;
      open.client.onclose = NOTHING;
      await open.client.close().catch(NOTHING);
      await open.transport.close().catch(NOTHING);
    },
  };
}
