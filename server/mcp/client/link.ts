/**
 * The connection to one MCP server. It opens on demand, retries with pauses after a failure, and
 * ends as a whole.
 */
import type {
  AuthProvider,
  Client,
  jsonSchemaValidator,
  RequestOptions,
  Transport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { beginningOfText, endOfText } from '../../../src/shared/domain/cut-middle.ts';
import { sentence, shownText } from '../../../src/shared/domain/names.ts';
import { doubling } from '../../../src/shared/domain/platform/retry.ts';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { onOneLine } from '../../../src/shared/domain/quoting.ts';
import type { FormValue } from '../../../src/shared/domain/question-form.ts';
import { singleFlight } from '../../../src/shared/domain/platform/single-flight.ts';
import { LONGEST_TIMER_MS, type Timers, within } from '../../../src/shared/domain/platform/timers.ts';
import type { McpServer, Attachment } from '../../../src/shared/protocol/mcp.ts';
import { isFetched } from '../../../src/shared/protocol/runners.ts';
import { createKeyFilter, type KeyFilter } from '../../platform/key-filter.ts';
import { createFlood, createPace } from '../../platform/pace.ts';
import { createBoundedFetch } from '../../platform/guarded-fetch.ts';
import { FLOODED } from '../../platform/json-bounds.ts';
import {
  type Answered,
  answeredSchema,
  createCursors,
  createDeadline,
  type ListedTool,
  listSchema,
  offeredOf,
  readAnswer,
  type ReadAnswer,
} from './offered.ts';
import { MCP_LIMITS, type McpLimits, jsonOf } from './settings.ts';
import { type Asks, createCallTime, createQuestions, QuestionError, type Questions } from './elicitation.ts';
import { isSdkError, loadSdk, sdk } from './sdk.ts';
import { createProgramTransport, type Starts } from './program.ts';

// A server's resources (MCP's resources), as one more tool. It lists them, or reads one by its
// address, and its answer is bounded like any other.

const NAME = 'read_resource';
const inputSchema = z.object({
  uri: z.string().min(1).optional().describe('a listed address; left out: lists them'),
});

/** Compared by identity, because a server may have a tool of its own with this name. */
const RESOURCES_TOOL = offeredOf(
  {
    name: NAME,
    title: 'Read what it has',
    description: 'Lists what the server offers to read, or reads one of these by its address.',
    inputSchema: z.toJSONSchema(inputSchema),
    annotations: { readOnlyHint: true },
  },
  createKeyFilter(),
);

/**
 * The tools that a server lists. The resources tool is added where the server has resources and no
 * tool of that name.
 */
const withResources = (client: Client, listed: ReadonlyMap<string, ListedTool>): readonly ListedTool[] => [
  ...listed.values(),
  ...(client.getServerCapabilities()?.resources && !listed.has(NAME) && RESOURCES_TOOL ? [RESOURCES_TOOL] : []),
];

const readsResources = (tools: readonly ListedTool[] | null, tool: string): boolean =>
  tool === NAME && tools?.some((each) => each === RESOURCES_TOOL) === true;

const contentsSchema = z.looseObject({ contents: z.array(z.unknown()) });
const rowsSchema = z.array(z.unknown()).catch([]);
const pageSchema = z.looseObject({
  resources: rowsSchema,
  resourceTemplates: rowsSchema,
  nextCursor: z.unknown().optional(),
});
const rowSchema = z.object({
  uri: z.string().optional().catch(undefined),
  uriTemplate: z.string().optional().catch(undefined),
  name: z.string().catch(''),
  description: z.string().catch(''),
});
/** The lists of a server: the method, and the field that holds the list. */
const LISTS = { resources: 'resources/list', resourceTemplates: 'resources/templates/list' } as const;
/** Characters of the line about one resource. */
const LINE_CHARS = 500;

interface ReadingDeps {
  readonly client: Client;
  readonly options: RequestOptions;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly filter: KeyFilter;
  readonly limits: Pick<McpLimits, 'pages' | 'answerParts' | 'listMs'>;
}

/** One line per listed resource, up to the limit. */
async function linesOf(
  what: keyof typeof LISTS,
  { client, options, elapsed, filter, limits }: ReadingDeps,
): Promise<string[]> {
  const lines: string[] = [];
  const pace = createPace();
  const left = createDeadline(limits.listMs, elapsed);
  const cursors = createCursors();
  let cursor: string | undefined;
  for (let read = 0; read < limits.pages; read++) {
    const params = cursor === undefined ? {} : { cursor };
    const page = await left((times) =>
      client.request({ method: LISTS[what], params }, pageSchema, { ...options, ...times }),
    );
    for (const row of page[what]) {
      if (lines.length >= limits.answerParts) return lines;
      await pace();
      const { uri, uriTemplate, name, description } = rowSchema.safeParse(row).data ?? {};
      const line = [uri ?? uriTemplate ?? '', name, description].filter((part) => part !== '').join(' – ');
      if (line !== '') lines.push(beginningOfText(shownText(filter.part(line, 0, LINE_CHARS + 1)), LINE_CHARS));
    }
    cursor = cursors.next(page.nextCursor);
    if (cursor === undefined) break;
  }
  return lines;
}

/** Throws if the server refuses, or if the input is not an address. */
async function readResources(input: unknown, deps: ReadingDeps): Promise<Answered> {
  const asked = inputSchema.safeParse(input);
  if (!asked.success) throw new Error('“uri” has to be the address of one thing that it lists');
  const { uri } = asked.data;
  if (uri !== undefined) {
    const { client, options } = deps;
    const { contents } = await client.request({ method: 'resources/read', params: { uri } }, contentsSchema, options);
    return { content: contents.map((resource) => ({ type: 'resource', resource })) };
  }
  const lines = [
    ...(await linesOf('resources', deps)),
    // Some servers have resources without templates for them.
    ...(await linesOf('resourceTemplates', deps).catch(() => [])),
  ];
  return { content: lines.length === 0 ? [] : [{ type: 'text', text: lines.join('\n') }] };
}

interface LinkStatus {
  readonly state: McpServer['state'];
  /** A sentence for the person. Null: no problem. */
  readonly problem: string | null;
  /** The tools of the last list. Null: no list yet. */
  readonly tools: readonly ListedTool[] | null;
}

/** The server was unreachable, or the connection broke: a sentence for the caller. */
export class LinkError extends Error {
  /** The call did not run. It may be made again on a new connection. */
  readonly isUndone: boolean;
  constructor(message: string, { isUndone = false, ...options }: ErrorOptions & { isUndone?: boolean } = {}) {
    super(message, options);
    this.isUndone = isUndone;
  }
}

export interface Link {
  status(): LinkStatus;
  /**
   * Resolves when the server is connected and its tools are known, or when that failed. After a
   * recent failure it resolves with that failure until the pause is over.
   */
  open(): Promise<LinkStatus>;
  /** As `open`, but without the pause, and lists the tools again. For the person's request. */
  retry(): Promise<LinkStatus>;
  /**
   * Throws `LinkError`. `asks`: the way to the person, for questions during the call. `again`: the
   * server refused this call once without running it. A second refusal is the answer.
   */
  call(
    tool: string,
    input: Record<string, unknown>,
    asks: Asks,
    signal: AbortSignal,
    again?: boolean,
  ): Promise<ReadAnswer & { readonly isError: boolean }>;
  /** Resolves when nothing of the connection runs any more. */
  close(): Promise<void>;
}

interface LinkDeps extends Starts {
  readonly attachment: Attachment;
  /** Supplies the token for each request. Null: the server has no sign-in. */
  readonly auth: AuthProvider | null;
  /**
   * The server refused the renewed token too. `scope`: it accepted the token, but needs this
   * further scope.
   */
  readonly onTokenRefused?: (scope?: string) => void;
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  readonly timers: Timers;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  /**
   * Removes the server's secrets from its output, so that neither an agent nor the person sees
   * them.
   */
  readonly filter: KeyFilter;
  /** The state or the tools have changed. */
  readonly onChange: () => void;
  readonly limits?: McpLimits;
}

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

/**
 * The transport: streamable HTTP (`requests`), or HTTP with SSE of the revision of 2024-11-05
 * (`stream`).
 */
type Way = 'requests' | 'stream';

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
const NOTHING = () => undefined;

const isBoxed = (attachment: Attachment) => attachment.kind === 'program' && attachment.box !== null;
/** Words of programs that had no memory. More folders or hosts would not help them. */
const NO_MEMORY = /WebAssembly|out of memory|allocat\w* (?:of )?memory|memory allocation|ENOMEM|heap limit/i;
/** A possible cause of the trouble of a sandboxed program. */
const boxedTrouble = (trouble: string) =>
  NO_MEMORY.test(trouble)
    ? sentence`It ran out of memory in the sandbox. ${trouble}`
    : sentence`In the sandbox it reaches only system programs, and the folders and hosts that you named. Add what it lacks, or let it run outside the sandbox. ${trouble}`;

const wantsSignIn = (error: unknown) =>
  isSdkError('UnauthorizedError', error) ||
  isSdkError('InsufficientScopeError', error) ||
  (isSdkError('SdkHttpError', error) && error.data.status === 401);

const statusOf = (error: unknown): number | null => (isSdkError('SdkHttpError', error) ? error.data.status : null);
/** Statuses with which a restarted server refuses an old session. */
const FORGOTTEN: readonly (number | null)[] = [400, 404];
/** Statuses for which another transport does not help. */
const NO_OTHER_WAY: readonly number[] = [401, 403, 429];
/** Statuses of a proxy whose server is away. */
const AWAY: readonly (number | null)[] = [502, 503, 504];

const isRefusedConnection = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && error.code === 'ECONNREFUSED') || isRefusedConnection(error.cause));
/** The server does not know this connection: the request did not run. */
const isForgotten = (error: unknown) => FORGOTTEN.includes(statusOf(error)) || isRefusedConnection(error);
/** The connection broke. Whether the request ran is unknown. */
const isBroken = (error: unknown) => error instanceof TypeError || AWAY.includes(statusOf(error));

const sentenceOf = (error: unknown): string => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const reason = cause instanceof Error ? cause.message : '';
  return reason === '' || message.includes(reason) ? message : `${message}: ${reason}`;
};

/** `cause`: why the connection failed. `said`: the end of a program's error output. */
class ConnectError extends Error {
  readonly said: string;
  constructor(cause: unknown, said = '') {
    super('not connected', { cause });
    this.said = said;
  }
}

export function createLink(deps: LinkDeps): Link {
  const { attachment, version, timers, now, elapsed, filter, onChange, limits = MCP_LIMITS } = deps;
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

  /** A failed request may mean that the connection has ended, so its state is checked. */
  const watched: typeof fetch = async (input, init) => {
    const doubt = () => current && relistSoon(current);
    try {
      const answer = await deps.fetch(input, init);
      if (!answer.ok && ![401, 405].includes(answer.status)) doubt();
      return answer;
    } catch (error) {
      if (!init?.signal?.aborted) doubt();
      throw error;
    }
  };
  /** The SSE transport does not report the status of a refusal. */
  const withStatus =
    (inner: typeof fetch): typeof fetch =>
    async (input, init) => {
      const answer = await inner(input, init);
      const { ok, status, statusText } = answer;
      if (ok || status === 401 || init?.method !== 'POST') return answer;
      const { SdkErrorCode, SdkHttpError } = sdk();
      throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `it answered with ${status} ${statusText}`, {
        status,
        statusText,
      });
    };

  /** `onTooMuch`: the server writes more than the limits permit. */
  function transportOf(way: Way, onTooMuch: (error: Error) => void): Transport & { said?(): string } {
    if (attachment.kind === 'program') return createProgramTransport(attachment, deps, limits, filter);
    const fetch = createBoundedFetch(
      { messageBytes: limits.messageBytes, json: jsonOf(limits), flood: limits, onTooMuch },
      watched,
    );
    const options = {
      ...(deps.auth ? { authProvider: deps.auth } : {}),
      requestInit: { headers: attachment.headers },
    };
    const url = new URL(attachment.url);
    const { SSEClientTransport, StreamableHTTPClientTransport } = sdk();
    if (way === 'stream') return new SSEClientTransport(url, { ...options, fetch: withStatus(fetch) });
    return new StreamableHTTPClientTransport(url, {
      ...options,
      fetch,
      reconnectionOptions: {
        initialReconnectionDelay: limits.backoffFirst,
        maxReconnectionDelay: limits.backoffMost,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 2,
      },
    });
  }

  async function listed(client: Client): Promise<Pick<LinkStatus, 'tools' | 'problem'>> {
    const tools = new Map<string, ListedTool>();
    if (!client.getServerCapabilities()?.tools) return { tools: withResources(client, tools), problem: null };
    const pace = createPace();
    const left = createDeadline(limits.listMs, elapsed);
    const cursors = createCursors();
    let cursor: string | undefined;
    let chars = 0;
    let unread = 0;
    /** Why the rest of the list was left out, as a sentence. */
    let cutBy: string | null = null;
    pages: for (let page = 0; page < limits.pages; page++) {
      // Reads only as much of each tool as is needed to refuse it. The SDK would validate all of
      // them first.
      let answer: z.infer<typeof listSchema>;
      try {
        answer = await left((options) =>
          client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, listSchema, options),
        );
      } catch (error) {
        if (tools.size === 0 || wantsSignIn(error)) throw error;
        cutBy = sentence`Page ${page + 1} of its list of tools failed: ${saying(error)}. Roost left out the rest.`;
        break;
      }
      for (const each of answer.tools) {
        await pace();
        if (tools.size >= limits.tools) {
          cutBy = sentence`It has more than ${limits.tools} tools. Roost left out the rest.`;
          break pages;
        }
        const offered = offeredOf(each, filter, limits);
        if (!offered) {
          unread += 1;
          continue;
        }
        chars += offered.description.length + JSON.stringify(offered.schema).length;
        if (chars > limits.toolChars) {
          cutBy = sentence`It describes its tools with more than ${limits.toolChars.toLocaleString('en')} characters. Roost left out the rest.`;
          break pages;
        }
        const before = tools.get(offered.name);
        // With two tools of one name, it is unknown which one the person reviewed.
        const isTwice = before !== undefined && before.hash !== offered.hash;
        tools.set(
          offered.name,
          isTwice ? { ...offered, problem: sentence`The server offers two tools with this name.` } : offered,
        );
      }
      cursor = cursors.next(answer.nextCursor);
      if (cursor === undefined) break;
    }
    const unnamed =
      unread === 0 ? null : sentence`Roost left out ${unread} of its tools, because their names cannot be used.`;
    const further =
      cursor === undefined
        ? null
        : sentence`Its list of tools has more than ${limits.pages} pages. Roost left out the rest.`;
    return { tools: withResources(client, tools), problem: cutBy ?? unnamed ?? further };
  }

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
    const asks = wantsSignIn(error);
    if (isSdkError('InsufficientScopeError', error)) deps.onTokenRefused?.(error.requiredScope);
    else if (statusOf(error) === 401) deps.onTokenRefused?.();
    const words = !asks
      ? saying(error)
      : isSdkError('UnauthorizedError', error)
        ? onOneLine(error.message)
        : sentence`it wants a sign-in, or does not accept the key`;
    const trouble =
      said === '' ? words : sentence`${words}. It wrote: ${endOfText(onOneLine(said), limits.errorChars)}`;
    stand({
      state: asks ? 'sign-in' : 'failed',
      problem: isBoxed(attachment) ? boxedTrouble(trouble) : trouble,
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
    const client = new Client(
      { name: 'roost', version },
      {
        // Not `url`: no page is opened for a server, and no link of it appears as a step of Roost.
        capabilities: { elicitation: { form: {} } },
        jsonSchemaValidator: NO_CHECK,
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => open && relistSoon(open) } },
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
    client.onerror = (error) => {
      if (attachment.kind === 'program') first ??= error;
      // The SSE stream reconnects by itself, to a server that has lost the session.
      if (way === 'stream' && open) void replace(open);
    };
    // The SDK answers each question of a server by a request of its own.
    const asksTooMuch = createFlood({ ...limits, windowMessages: limits.windowQuestions });
    transport.onmessage = (message) => {
      if (!('method' in message && 'id' in message) || !asksTooMuch(1, 0)) return;
      const error = new Error(FLOODED);
      endFor(error);
      throw error;
    };
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
        throw new Error(sentence`it timed out: it did not answer within ${connectMs / 1_000} seconds`);
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
  /** The server refuses the request in the way that servers of 2024 do. */
  const mayBeOld = ({ cause }: ConnectError) => {
    const status = statusOf(cause);
    return !closed && status !== null && status >= 400 && status < 500 && !NO_OTHER_WAY.includes(status);
  };
  const connect = singleFlight(async (): Promise<LinkStatus> => {
    if (closed || current) return status;
    stand({ state: 'connecting', problem: null });
    try {
      await connectBy('requests');
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      if (!mayBeOld(error)) return fail(error.cause, error.said);
      try {
        await connectBy('stream');
      } catch (again) {
        // It is not a server of 2024 either. Its first error is the cause.
        return fail(again instanceof ConnectError && wantsSignIn(again.cause) ? again.cause : error.cause);
      }
    }
    return status;
  });

  async function ask(open: Open, tool: string, input: Record<string, unknown>, asks: Asks, signal: AbortSignal) {
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
      if (readsResources(status.tools, tool))
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
          return await ask(open, tool, input, asks, signal);
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
