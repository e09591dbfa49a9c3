/**
 * The line to one attached server: opened when it is needed, tried again with pauses where it
 * fails, and ended as a whole.
 */
import {
  type AuthProvider,
  Client,
  InsufficientScopeError,
  type jsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  type RequestOptions,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { beginningOfText, endOfText } from '../../../src/shared/domain/cut-middle.ts';
import { shownText } from '../../../src/shared/domain/names.ts';
import { doubling } from '../../../src/shared/domain/platform/retry.ts';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { onOneLine } from '../../../src/shared/domain/quoting.ts';
import type { FormValue } from '../../../src/shared/domain/question-form.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';
import { singleFlight } from '../../../src/shared/domain/platform/single-flight.ts';
import { LONGEST_TIMER_MS, type Timers, within } from '../../../src/shared/domain/platform/timers.ts';
import type { AttachedServer, Attachment } from '../../../src/shared/protocol/attached.ts';
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
import { ATTACHED_LIMITS, type AttachedLimits, jsonOf } from './settings.ts';
import { type Asks, createCallTime, createQuestions, type Questions } from './elicitation.ts';
import { createProgramTransport, type Starts } from './program.ts';

// What a server has to read (MCP's resources), as one more tool of it: listed, or read by address,
// and bounded like any answer.

const NAME = 'read_resource';
const inputSchema = z.object({
  uri: z.string().min(1).optional().describe('one of those that were listed; left out: lists them'),
});

/** Known by being this very object: a server may have a tool of its own by the name. */
const RESOURCES_TOOL = offeredOf(
  {
    name: NAME,
    title: 'Read what it has',
    description: 'Lists what the server has to read, or reads one thing of it by its address.',
    inputSchema: z.toJSONSchema(inputSchema),
    annotations: { readOnlyHint: true },
  },
  createKeyFilter(),
);

/**
 * Those that a server lists, and the one more where it has something to read and no tool of that
 * name.
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
/** What a server lists: the method, and the name under which the list stands. */
const LISTS = { resources: 'resources/list', resourceTemplates: 'resources/templates/list' } as const;
/** Characters of the line that tells of one thing. */
const LINE_CHARS = 500;

interface ReadingDeps {
  readonly client: Client;
  readonly options: RequestOptions;
  /** ms, only ever forward */
  readonly elapsed: () => number;
  readonly filter: KeyFilter;
  readonly limits: Pick<AttachedLimits, 'pages' | 'answerParts' | 'listMs'>;
}

/** A line for each thing that it lists, as far as they are read. */
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

/** Throws where the server refuses, or what is asked is no address. */
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
    // Not every server that has resources knows of patterns for them.
    ...(await linesOf('resourceTemplates', deps).catch(() => [])),
  ];
  return { content: lines.length === 0 ? [] : [{ type: 'text', text: lines.join('\n') }] };
}

interface LinkStanding {
  readonly state: AttachedServer['state'];
  /** A sentence for the person; null: nothing is wrong. */
  readonly problem: string | null;
  /** As it listed them last; null: it has not yet. */
  readonly tools: readonly ListedTool[] | null;
}

/** It could not be reached, or broke off: a sentence for whoever called. */
export class LinkError extends Error {
  /** The call was not carried out. It may be made once more, when the server is connected anew. */
  readonly isUndone: boolean;
  constructor(message: string, { isUndone = false, ...options }: ErrorOptions & { isUndone?: boolean } = {}) {
    super(message, options);
    this.isUndone = isUndone;
  }
}

export interface Link {
  standing(): LinkStanding;
  /**
   * Resolves when it is connected and its tools are known, or that failed. Where it failed a moment
   * ago, that is said again until its pause is over.
   */
  open(): Promise<LinkStanding>;
  /** The same at once, pause or none, and its tools anew: the person asks. */
  retry(): Promise<LinkStanding>;
  /**
   * Throws `LinkError`. `asks`: the way to the person, for what the server asks meanwhile. `again`:
   * the server refused this call once without running it. A second refusal is the answer.
   */
  call(
    tool: string,
    input: Record<string, unknown>,
    asks: Asks,
    signal: AbortSignal,
    again?: boolean,
  ): Promise<ReadAnswer & { readonly isError: boolean }>;
  /** Nothing of it is left running. */
  close(): Promise<void>;
}

interface LinkDeps extends Starts {
  readonly attachment: Attachment;
  /** Gives the token that goes with each call; null: there is no sign-in to it. */
  readonly auth: AuthProvider | null;
  /**
   * The server refused the renewed token too. `scope`: it took the token, and asks for this scope
   * besides.
   */
  readonly onTokenRefused?: (scope?: string) => void;
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  readonly timers: Timers;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms, only ever forward */
  readonly elapsed: () => number;
  /**
   * Takes out of its words what it was given in confidence: no agent is told, nor the person again.
   */
  readonly filter: KeyFilter;
  /** Its state, or its tools, are others. */
  readonly onChange: () => void;
  readonly limits?: AttachedLimits;
}

interface Open {
  readonly client: Client;
  readonly transport: Transport;
  readonly questions: Questions;
  /** ms, as `elapsed` has it */
  readonly since: number;
  /** How many are under way. */
  calls: number;
  /** Another connection has taken its place. It is closed when its calls have ended. */
  replaced: boolean;
}

/**
 * The transport: streamable HTTP (`requests`), or HTTP with SSE of the revision of 2024-11-05
 * (`stream`).
 */
type Way = 'requests' | 'stream';

/** What the person typed, as the SDK takes it: its lists are not readonly. */
const forServer = (content: Readonly<Record<string, FormValue>>) =>
  Object.fromEntries(
    Object.entries(content).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  );

type Asked = Parameters<NonNullable<Client['fallbackRequestHandler']>>[1]['mcpReq'];
/**
 * Servers wait a minute by default, and longer for whoever says that the question still stands.
 * Undefined: it wants no signs.
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

/** What came is shown as it is: nothing of a stranger’s is compiled and run to check it. */
const NO_CHECK: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};
const NOTHING = () => undefined;

const isBoxed = (attachment: Attachment) => attachment.kind === 'program' && attachment.box !== null;
/** What may be the matter with one that is held. */
const boxedTrouble = (trouble: string) =>
  sentence`It runs in the sandbox: it sees the system’s programs, the folders that you named, and of the network what you named. Name what it lacks, or let it run free. ${trouble}`;

const wantsSignIn = (error: unknown) =>
  error instanceof UnauthorizedError ||
  error instanceof InsufficientScopeError ||
  (error instanceof SdkHttpError && error.data.status === 401);

const statusOf = (error: unknown): number | null => (error instanceof SdkHttpError ? error.data.status : null);
/** How a server that was restarted refuses who names a session from before. */
const FORGOTTEN: readonly (number | null)[] = [400, 404];
/** It asks for something else than another way to speak to it. */
const NO_OTHER_WAY: readonly number[] = [401, 403, 429];
/** What stands before a server says so while that is away. */
const AWAY: readonly (number | null)[] = [502, 503, 504];

const isRefusedConnection = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && error.code === 'ECONNREFUSED') || isRefusedConnection(error.cause));
/** The server knows nothing of this connection: what was asked was not carried out. */
const isForgotten = (error: unknown) => FORGOTTEN.includes(statusOf(error)) || isRefusedConnection(error);
/** The connection broke off. Whether what was asked was carried out, nobody knows. */
const isBroken = (error: unknown) => error instanceof TypeError || AWAY.includes(statusOf(error));

const sentenceOf = (error: unknown): string => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const reason = cause instanceof Error ? cause.message : '';
  return reason === '' || message.includes(reason) ? message : `${message}: ${reason}`;
};

/**
 * `cause`: why it could not be connected; `said`: the end of what a program wrote to its errors.
 */
class ConnectError extends Error {
  readonly said: string;
  constructor(cause: unknown, said = '') {
    super('not connected', { cause });
    this.said = said;
  }
}

export function createLink(deps: LinkDeps): Link {
  const { attachment, version, timers, now, elapsed, filter, onChange, limits = ATTACHED_LIMITS } = deps;
  /** In one line: a line of its own would stand before a mind as one of the relay's. */
  const saying = (error: unknown) =>
    beginningOfText(onOneLine(filter.part(sentenceOf(error), 0, limits.problemChars + 1)), limits.problemChars);
  const limited = createLimiter(limits.callsAtOnce);
  const connectMs = isFetched(attachment) ? limits.fetchedConnectMs : limits.connectMs;
  let current: Open | null = null;
  let connecting: Pick<Open, 'client' | 'transport'> | null = null;
  let standing: LinkStanding = { state: 'connecting', problem: null, tools: null };
  let failures = 0;
  let againAt = 0;
  let closed = false;
  let cancelLook: (() => void) | null = null;

  function stand(next: Partial<LinkStanding>): void {
    standing = { ...standing, ...next };
    if (!closed) onChange();
  }

  /**
   * What goes wrong with one request may be the end of the connection: then its state is another.
   */
  const watched: typeof fetch = async (input, init) => {
    const doubt = () => current && lookSoon(current);
    try {
      const answer = await deps.fetch(input, init);
      if (!answer.ok && ![401, 405].includes(answer.status)) doubt();
      return answer;
    } catch (error) {
      if (!init?.signal?.aborted) doubt();
      throw error;
    }
  };
  /** The transport for one stream tells no status of a refusal. */
  const withStatus =
    (inner: typeof fetch): typeof fetch =>
    async (input, init) => {
      const answer = await inner(input, init);
      const { ok, status, statusText } = answer;
      if (ok || status === 401 || init?.method !== 'POST') return answer;
      throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `it answered with ${status} ${statusText}`, {
        status,
        statusText,
      });
    };

  /** `onTooMuch`: it writes more than is read of it. */
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

  async function listed(client: Client): Promise<Pick<LinkStanding, 'tools' | 'problem'>> {
    const tools = new Map<string, ListedTool>();
    if (!client.getServerCapabilities()?.tools) return { tools: withResources(client, tools), problem: null };
    const pace = createPace();
    const left = createDeadline(limits.listMs, elapsed);
    const cursors = createCursors();
    let cursor: string | undefined;
    let chars = 0;
    let unread = 0;
    for (let page = 0; page < limits.pages; page++) {
      // Of each tool no more is looked at than is needed to refuse it: the SDK would check all of
      // all first.
      const answer = await left((options) =>
        client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, listSchema, options),
      );
      if (answer.tools.length > limits.tools) throw new Error(`it has more than ${limits.tools} tools`);
      for (const each of answer.tools) {
        await pace();
        const offered = offeredOf(each, filter, limits);
        if (!offered) {
          unread += 1;
          continue;
        }
        chars += offered.description.length + JSON.stringify(offered.schema).length;
        if (chars > limits.toolChars)
          throw new Error(`it describes its tools with more than ${limits.toolChars.toLocaleString('en')} characters`);
        const before = tools.get(offered.name);
        // Of two that it gives one name, neither is known to be the one that was looked at.
        const isTwice = before !== undefined && before.hash !== offered.hash;
        tools.set(offered.name, isTwice ? { ...offered, problem: sentence`It is there twice.` } : offered);
        if (tools.size > limits.tools) throw new Error(`it has more than ${limits.tools} tools`);
      }
      cursor = cursors.next(answer.nextCursor);
      if (cursor === undefined) break;
    }
    const unnamed =
      unread === 0 ? null : sentence`${unread} of its tools have no name that can be used, and are left out.`;
    const further =
      cursor === undefined
        ? null
        : sentence`Its list goes on after ${limits.pages} pages. What stands there is left out.`;
    return { tools: withResources(client, tools), problem: unnamed ?? further };
  }

  async function relist(open: Open): Promise<LinkStanding> {
    try {
      const list = await listed(open.client);
      if (current === open) stand(list);
    } catch (error) {
      if (current === open && isForgotten(error)) return replace(open);
      lost(open, error);
    }
    return standing;
  }
  /** Its list or its state may be another: it is asked once, however often it says so. */
  function lookSoon(open: Open): void {
    cancelLook ??= timers.after(limits.changedMs, () => {
      cancelLook = null;
      if (current === open) void relist(open);
    });
  }

  function fail(error: unknown, said = ''): LinkStanding {
    failures += 1;
    againAt = elapsed() + doubling(limits, failures - 1);
    const asks = wantsSignIn(error);
    if (error instanceof InsufficientScopeError) deps.onTokenRefused?.(error.requiredScope);
    else if (statusOf(error) === 401) deps.onTokenRefused?.();
    const words = !asks
      ? saying(error)
      : error instanceof UnauthorizedError
        ? onOneLine(error.message)
        : sentence`it asks for a sign-in, or does not take the key it was given`;
    const trouble =
      said === '' ? words : sentence`${words}. It wrote: ${endOfText(onOneLine(said), limits.errorChars)}`;
    stand({
      state: asks ? 'sign-in' : 'failed',
      problem: isBoxed(attachment) ? boxedTrouble(trouble) : trouble,
    });
    return standing;
  }

  /**
   * Closed when its calls have ended; `atOnce`: those that are under way are not answered any more.
   */
  function retire(open: Open, atOnce: boolean): void {
    open.replaced = true;
    open.client.onclose = NOTHING;
    const close = () => void open.client.close().catch(NOTHING);
    if (open.calls === 0) close();
    else if (atOnce) timers.after(limits.endMs, close);
  }

  /** The server does not know this connection any more: it is connected anew, at once. */
  function replace(open: Open, atOnce = true): Promise<LinkStanding> {
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
    // One that has held for a while is tried anew by the next call.
    if (elapsed() - open.since > limits.backoffFirst) againAt = elapsed();
  }

  /** Throws what went wrong first. */
  async function connectBy(way: Way): Promise<void> {
    let open: Open | null = null;
    /** Why it was ended here. */
    let ended: Error | null = null as Error | null;
    /** Of a program, what was wrong first: that the connection has closed follows from it. */
    let first: Error | null = null as Error | null;
    /** The server broke the protocol: every call that waits fails with this error. */
    const endFor = (error: Error) => {
      ended ??= error;
      if (open) lost(open, error);
      else void client.close().catch(NOTHING);
    };
    const transport = transportOf(way, endFor);
    const client = new Client(
      { name: 'roost', version },
      {
        // Not `url`: no page is opened for a server, and nothing that it links to is shown as a
        // step of Roost’s.
        capabilities: { elicitation: { form: {} } },
        jsonSchemaValidator: NO_CHECK,
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => open && lookSoon(open) } },
      },
    );
    const questions = createQuestions({ filter, now, timers, limits });
    // The SDK's own handler checks a whole form first, and answers a large one that is wrong with
    // fifty megabytes.
    client.fallbackRequestHandler = async ({ method, params }, { mcpReq }) => {
      if (method !== 'elicitation/create')
        throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
      const { action, ...rest } = await questions.ask(params, mcpReq.signal, signOf(mcpReq));
      return { action, ...('content' in rest ? { content: forServer(rest.content) } : {}) };
    };
    client.onerror = (error) => {
      if (attachment.kind === 'program') first ??= error;
      // Its one stream comes back by itself, to a server that knows nothing of what was said
      // before.
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
    try {
      const times = { timeout: connectMs, maxTotalTimeout: connectMs };
      const connected = client.connect(transport, times).then(() => true);
      // The transport’s own beginning is in no time-out of the SDK.
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
      connecting = null;
    }
  }
  /** It refuses what is asked now in a way in which servers of 2024 do. */
  const mayBeOld = ({ cause }: ConnectError) => {
    const status = statusOf(cause);
    return !closed && status !== null && status >= 400 && status < 500 && !NO_OTHER_WAY.includes(status);
  };
  const connect = singleFlight(async (): Promise<LinkStanding> => {
    if (closed || current) return standing;
    stand({ state: 'connecting', problem: null });
    try {
      await connectBy('requests');
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      if (!mayBeOld(error)) return fail(error.cause, error.said);
      try {
        await connectBy('stream');
      } catch (again) {
        // It is no server of 2024 either: what it said first is what is the matter.
        return fail(again instanceof ConnectError && wantsSignIn(again.cause) ? again.cause : error.cause);
      }
    }
    return standing;
  });

  async function ask(open: Open, tool: string, input: Record<string, unknown>, asks: Asks, signal: AbortSignal) {
    const time = createCallTime(timers, elapsed, limits);
    const end = open.questions.begin(asks, time);
    const options = {
      signal: AbortSignal.any([signal, time.signal]),
      // The SDK has a time-out for each request, and cannot hold it while the person is asked.
      timeout: LONGEST_TIMER_MS,
      // The server is asked to say how far it is. As long as it does, it is waited for.
      onprogress: time.progress,
    };
    try {
      if (readsResources(standing.tools, tool))
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
    standing: () => standing,
    open: () => (current || elapsed() >= againAt ? connect() : Promise.resolve(standing)),
    async retry() {
      if (!current) return connect();
      await relist(current);
      return current || standing.state === 'sign-in' ? standing : connect();
    },
    call: (tool, input, asks, signal, again = false) =>
      limited(async () => {
        const open = current;
        if (!open) throw new LinkError(standing.problem ?? 'it is not connected', { isUndone: true });
        open.calls += 1;
        try {
          return await ask(open, tool, input, asks, signal);
        } catch (error) {
          const isUndone = !again && !signal.aborted && isForgotten(error);
          if (isUndone) void replace(open, statusOf(error) !== 400);
          else if (wantsSignIn(error) || isRefusedConnection(error) || isBroken(error)) lost(open, error);
          const why = current === open || isUndone ? saying(error) : (standing.problem ?? saying(error));
          throw new LinkError(signal.aborted ? 'it was stopped' : why, { cause: error, isUndone });
        } finally {
          open.calls -= 1;
          if (open.replaced && open.calls === 0) void open.client.close().catch(NOTHING);
        }
      }),
    async close() {
      closed = true;
      cancelLook?.();
      const open = current ?? connecting;
      current = null;
      if (!open) return;
      open.client.onclose = NOTHING;
      await open.client.close().catch(NOTHING);
      await open.transport.close().catch(NOTHING);
    },
  };
}
