/** The line to one attached server: opened when it is needed, tried again with pauses where it fails, and ended as a whole. */
import {
  Client,
  StreamableHTTPClientTransport,
  SdkHttpError,
  UnauthorizedError,
  type AuthProvider,
  type jsonSchemaValidator,
  type Transport,
} from '@modelcontextprotocol/client';
import { beginningOfText, endOfText } from '../../src/domain/cut-middle.ts';
import { createLimiter } from '../../src/domain/platform/queue.ts';
import { onOneLine } from '../../src/domain/quoting.ts';
import { sentence } from '../../src/domain/sentence.ts';
import { singleFlight } from '../../src/domain/platform/single-flight.ts';
import type { Timers } from '../../src/domain/platform/timers.ts';
import type { AttachedServer, Attachment } from '../../src/protocol/attached.ts';
import { createBoundedFetch } from '../bounded-fetch.ts';
import type { KeyFilter } from '../key-filter.ts';
import { answeredSchema, listSchema, offeredOf, readAnswer, type ListedTool, type ReadAnswer } from './offered.ts';
import { createPace } from '../pace.ts';
import { createFlood } from '../flood.ts';
import { FLOODED } from '../too-much.ts';
import { createProgramTransport, type Starts } from './program.ts';
import { readResources, readsResources, withResources } from './resources.ts';
import { ATTACHED_LIMITS, jsonOf, type AttachedLimits } from './settings.ts';

export interface LinkStanding {
  readonly state: AttachedServer['state'];
  /** A sentence for the person; null: nothing is wrong. */
  readonly problem: string | null;
  /** As it listed them last; null: it has not yet. */
  readonly tools: readonly ListedTool[] | null;
}

/** It could not be reached, or broke off: a sentence for whoever called. */
export class LinkError extends Error {}

export interface Link {
  standing(): LinkStanding;
  /** Resolves when it is connected and its tools are known, or that failed. Where it failed a moment ago, that is said again until its pause is over. */
  open(): Promise<LinkStanding>;
  /** The same at once, pause or none, and its tools anew: the person asks. */
  retry(): Promise<LinkStanding>;
  /** Throws `LinkError`. */
  call(
    tool: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<ReadAnswer & { readonly isError: boolean }>;
  /** Nothing of it is left running. */
  close(): Promise<void>;
}

export interface LinkDeps extends Starts {
  readonly attachment: Attachment;
  /** Gives the token that goes with each call; null: there is no sign-in to it. */
  readonly auth: AuthProvider | null;
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  readonly timers: Timers;
  /** ms, only ever forward */
  readonly elapsed: () => number;
  /** Takes out of its words what it was given in confidence: no agent is told, nor the person again. */
  readonly filter: KeyFilter;
  /** Its state, or its tools, are others. */
  readonly onChange: () => void;
  readonly limits?: AttachedLimits;
}

interface Open {
  readonly client: Client;
  readonly transport: Transport;
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
  error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.data.status === 401);

const sentenceOf = (error: unknown): string => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const reason = cause instanceof Error ? cause.message : '';
  return reason === '' || message.includes(reason) ? message : `${message}: ${reason}`;
};

export function createLink(deps: LinkDeps): Link {
  const { attachment, version, timers, elapsed, filter, onChange, limits = ATTACHED_LIMITS } = deps;
  /** In one line: a line of its own would stand before a mind as one of the relay's. */
  const saying = (error: unknown) =>
    beginningOfText(onOneLine(filter.part(sentenceOf(error), 0, limits.problemChars + 1)), limits.problemChars);
  const limited = createLimiter(limits.callsAtOnce);
  let current: Open | null = null;
  let standing: LinkStanding = { state: 'connecting', problem: null, tools: null };
  let failures = 0;
  let againAt = 0;
  let closed = false;
  let cancelLook: (() => void) | null = null;

  function stand(next: Partial<LinkStanding>): void {
    standing = { ...standing, ...next };
    if (!closed) onChange();
  }

  /** `onTooMuch`: it writes more than is read of it. */
  function transportOf(onTooMuch: (error: Error) => void): Transport & { said?(): string } {
    if (attachment.kind === 'program') return createProgramTransport(attachment, deps, limits, filter);
    return new StreamableHTTPClientTransport(new URL(attachment.url), {
      fetch: createBoundedFetch(
        { messageBytes: limits.messageBytes, json: jsonOf(limits), flood: limits, onTooMuch },
        deps.fetch,
      ),
      ...(deps.auth ? { authProvider: deps.auth } : {}),
      requestInit: { headers: attachment.headers },
      reconnectionOptions: {
        initialReconnectionDelay: limits.againMs,
        maxReconnectionDelay: limits.againMostMs,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 2,
      },
    });
  }

  async function listed(client: Client): Promise<readonly ListedTool[]> {
    const tools = new Map<string, ListedTool>();
    if (!client.getServerCapabilities()?.tools) return withResources(client, tools);
    const pace = createPace();
    let cursor: string | undefined;
    let chars = 0;
    for (let page = 0; page < limits.pages; page++) {
      // Of each tool no more is looked at than is needed to refuse it: the SDK would check all of all first.
      const answer = await client.request(
        { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
        listSchema,
        { timeout: limits.listMs, maxTotalTimeout: limits.listMs },
      );
      if (answer.tools.length > limits.tools) throw new Error(`it has more than ${limits.tools} tools`);
      for (const each of answer.tools) {
        await pace();
        const offered = offeredOf(each, filter, limits);
        chars += offered ? offered.description.length + JSON.stringify(offered.schema).length : 0;
        if (chars > limits.toolChars)
          throw new Error(`it describes its tools with more than ${limits.toolChars.toLocaleString('en')} characters`);
        // Of two that it gives one name, neither is known to be the one that was looked at.
        if (offered)
          tools.set(
            offered.name,
            tools.has(offered.name) ? { ...offered, problem: sentence`It is there twice.` } : offered,
          );
        if (tools.size > limits.tools) throw new Error(`it has more than ${limits.tools} tools`);
      }
      cursor = answer.nextCursor;
      if (cursor === undefined) break;
    }
    return withResources(client, tools);
  }

  async function relist(open: Open): Promise<LinkStanding> {
    try {
      const tools = await listed(open.client);
      if (current === open) stand({ tools });
    } catch (error) {
      lost(open, error);
    }
    return standing;
  }
  /** It said that its list is another: it is asked once, however often it says so. */
  function lookSoon(open: Open): void {
    cancelLook ??= timers.after(limits.changedMs, () => {
      cancelLook = null;
      if (current === open) void relist(open);
    });
  }

  function fail(error: unknown, said = ''): LinkStanding {
    failures += 1;
    againAt = elapsed() + Math.min(limits.againMs * 2 ** (failures - 1), limits.againMostMs);
    const asks = wantsSignIn(error);
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

  function lost(open: Open, error: unknown): void {
    if (current !== open) return;
    current = null;
    void open.client.close().catch(() => undefined);
    fail(error);
  }

  const connect = singleFlight(async (): Promise<LinkStanding> => {
    if (closed) throw new LinkError('it is not connected any more');
    if (current) return standing;
    stand({ state: 'connecting', problem: null });
    /** It is out of its mind: whoever waits for an answer is told so. */
    const endFor = (error: Error) => {
      first ??= error;
      if (open) lost(open, error);
      else void client.close().catch(NOTHING);
    };
    const transport = transportOf(endFor);
    const client = new Client(
      { name: 'roost', version },
      {
        capabilities: {},
        jsonSchemaValidator: NO_CHECK,
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => open && lookSoon(open) } },
      },
    );
    let open: Open | null = null;
    /** What was wrong first: that the line has closed follows from it. */
    let first: Error | null = null as Error | null;
    client.onerror = (error) => (first ??= error);
    // The SDK answers each question of a server by a request of its own.
    const asksTooMuch = createFlood({ ...limits, windowMessages: limits.windowQuestions });
    transport.onmessage = (message) => {
      if (!('method' in message && 'id' in message) || !asksTooMuch(1, 0)) return;
      const error = new Error(FLOODED);
      endFor(error);
      throw error;
    };
    try {
      await client.connect(transport, { timeout: limits.connectMs, maxTotalTimeout: limits.connectMs });
      const opened = { client, transport };
      client.onclose = () => lost(opened, first ?? new Error('it has ended'));
      const tools = await listed(client);
      if (closed) throw new LinkError('it is not connected any more');
      open = current = opened;
      failures = 0;
      stand({ state: 'connected', problem: null, tools });
      return standing;
    } catch (error) {
      client.onclose = NOTHING;
      await client.close().catch(() => undefined);
      await transport.close().catch(() => undefined);
      return fail(first ?? error, transport.said?.());
    }
  });

  return {
    standing: () => standing,
    open: () => (current || elapsed() >= againAt ? connect() : Promise.resolve(standing)),
    retry: () => (current ? relist(current) : connect()),
    call: (tool, input, signal) =>
      limited(async () => {
        const open = current;
        if (!open) throw new LinkError(standing.problem ?? 'it is not connected');
        try {
          const options = { signal, timeout: limits.callMs, maxTotalTimeout: limits.callMs };
          if (readsResources(standing.tools, tool))
            return {
              ...readAnswer(
                await readResources(input, { client: open.client, options, filter, limits }),
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
          return { ...readAnswer({ content, structured: structuredContent }, filter, limits), isError };
        } catch (error) {
          if (wantsSignIn(error)) lost(open, error);
          const why = current === open ? saying(error) : (standing.problem ?? saying(error));
          throw new LinkError(signal.aborted ? 'it was stopped' : why, { cause: error });
        }
      }),
    async close() {
      closed = true;
      cancelLook?.();
      const open = current;
      current = null;
      if (open) {
        open.client.onclose = NOTHING;
        await open.client.close().catch(() => undefined);
      }
    },
  };
}
