/**
 * The connection to one ACP agent: its process, and the Agent Client Protocol over stdin and
 * stdout. Output is bounded per message and over time. Lines that are not messages are skipped, and
 * too many of them end the process. Its environment has only the few variables that programs need
 * to be found and to keep their sign-in, and those configured for it. It has none of the relay's.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type {
  AnyMessage,
  ClientContext,
  InitializeResponse,
  ReadTextFileRequest,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionNotification,
  Stream,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk';
import { beginningOfText } from '../../../../src/shared/domain/cut-middle.ts';
import { isRecord } from '../../../../src/shared/domain/platform/json.ts';
import type { PROGRAM_FAULTS } from '../../../../src/shared/protocol/programs.ts';
import { Readable } from 'node:stream';
import { NoProgramError, type Group, type Processes } from '../../../platform/processes/index.ts';
import { linesOf } from '../../../platform/processes/lines.ts';
import { FLOODED, TOO_LARGE, TooMuchError } from '../../../platform/json-bounds.ts';
import type { ProgramLimits } from './settings.ts';
import { sentence } from '../../../../src/shared/domain/names.ts';

/** Why the ACP agent cannot answer: a sentence for people. */
export class ProgramError extends Error {
  readonly why: (typeof PROGRAM_FAULTS)[number];
  constructor(why: ProgramError['why'], message: string) {
    super(message);
    this.why = why;
  }
}

/** Requests of the ACP agent that Roost answers. */
export interface ConnectionHandlers {
  update(notification: SessionNotification): void;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  readFile(request: ReadTextFileRequest): Promise<{ content: string }>;
  writeFile(request: WriteTextFileRequest): Promise<void>;
}

export interface Connection {
  readonly pid: number;
  readonly agent: ClientContext;
  readonly info: InitializeResponse;
  /** Resolves with the answer. Rejects with the `ProgramError` of the process if it ends first. */
  answer<Value>(asked: Promise<Value>): Promise<Value>;
  /** Rejects with a `ProgramError` when the process ends or is ended. Never resolves. */
  readonly broken: Promise<never>;
  /** Resolves when the whole process group has ended. */
  close(): Promise<void>;
}

export interface ConnectionStart {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /**
   * Folder of its sessions. The process itself starts in an empty folder of its own, because many
   * programs read files where they start.
   */
  readonly cwd: string;
  readonly processes: Pick<Processes, 'start'>;
  readonly version: string;
  readonly limits: ProgramLimits;
}

/** Fields that the protocol's parser does not check. */
const FREE: ReadonlySet<string> = new Set(['rawInput', 'rawOutput']);

/**
 * Cuts a message to the number of values that the protocol's parser may check. The parser takes up
 * to 0.2 ms per invalid value, and looks at all of them. No meaningful message has so many. Values
 * are cut at the end of their list.
 */
function checkable(message: unknown, most: number): unknown {
  let remaining = most;
  const within = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const kept: unknown[] = [];
      for (const each of value) {
        if (--remaining < 0) break;
        kept.push(within(each));
      }
      return kept;
    }
    const kept: [string, unknown][] = [];
    for (const [key, each] of Object.entries(value)) {
      if (--remaining < 0) break;
      kept.push([key, FREE.has(key) ? each : within(each)]);
    }
    return Object.fromEntries(kept);
  };
  return within(message);
}

/** The program writes something else, or leaves out what Roost needs. */
export const NO_PROTOCOL = sentence`it does not speak the Agent Client Protocol`;

/** The error for output that exceeded a limit. */
function endOf({ what }: TooMuchError): ProgramError {
  switch (what) {
    case 'flood':
      return new ProgramError('nonsense', FLOODED);
    case 'length':
    case 'depth':
    case 'values':
      return new ProgramError('nonsense', TOO_LARGE);
    default:
      return what satisfies never;
  }
}

/**
 * JSON-RPC messages, one per line, in both directions. `fail` receives the error that ends them.
 */
function streamOf({ child, write }: Group, limits: ProgramLimits, fail: (error: ProgramError) => void): Stream {
  let nonsense = 0;

  function messageIn(line: string): AnyMessage | null {
    if (line.trim() === '') return null;
    try {
      const value: unknown = JSON.parse(line);
      // The protocol's own parser checks its shape. A batch is not a message.
      if (isRecord(value) && value['jsonrpc'] === '2.0') return checkable(value, limits.checkedValues) as AnyMessage;
    } catch {
      // Some programs print a greeting before they speak the protocol.
    }
    if (++nonsense > limits.nonsenseLines) fail(new ProgramError('nonsense', NO_PROTOCOL));
    return null;
  }

  const { messageBytes, jsonDepth, jsonValues, windowMs, windowMessages, windowBytes } = limits;
  const lines = linesOf(child.stdout ?? Readable.from([]), {
    messageBytes,
    json: { depth: jsonDepth, values: jsonValues },
    ...{ windowMs, windowMessages, windowBytes },
  });
  // A process that closes its output usually exits at once, and its exit tells more.
  const ended = () =>
    setTimeout(() => fail(new ProgramError('died', sentence`it has closed its output`)), limits.endMs).unref();
  const readable = new ReadableStream<AnyMessage>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await lines.next();
            if (done) {
              ended();
              return controller.close();
            }
            const message = messageIn(value.toString('utf8'));
            if (message) return controller.enqueue(message);
          }
        } catch (error) {
          if (error instanceof TooMuchError) fail(endOf(error));
          else ended();
          controller.close();
        }
      },
      cancel: () => void child.stdout?.destroy(),
    },
    { highWaterMark: 0 },
  );
  const writable = new WritableStream<AnyMessage>({
    write: (message) => write(`${JSON.stringify(message)}\n`),
  });
  return { readable, writable };
}

/** Explains a protocol error to the person. */
const AUTH_REQUIRED = -32_000;
export function faultOf(name: string, error: unknown): ProgramError {
  if (error instanceof ProgramError) return error;
  const { message } = error instanceof Error ? error : new Error(String(error));
  return error instanceof RequestError && error.code === AUTH_REQUIRED
    ? new ProgramError(
        'not-signed-in',
        sentence`${name} is not signed in. Sign in to it in a terminal on the relay’s machine, or give it its key as a variable. It says: ${beginningOfText(message, 300)}`,
      )
    : new ProgramError('other', sentence`${name} answered with an error: ${beginningOfText(message, 300)}`);
}

/**
 * Starts the process. Resolves when it has answered `initialize`. Rejects with a `ProgramError`,
 * after the process has ended. `late` ends it at any time during its start, with its reason as the
 * `ProgramError`, or as a process that hangs.
 */
export async function openConnection(
  start: ConnectionStart,
  handlers: ConnectionHandlers,
  late: AbortSignal,
): Promise<Connection> {
  const { name, command, args, limits } = start;
  const { getDefaultEnvironment } = await import('@modelcontextprotocol/client/stdio');
  const env = { ...getDefaultEnvironment(), ...start.env };
  const cwd = await mkdtemp(join(tmpdir(), 'roost-program-'));
  const leave = () => rm(cwd, { recursive: true, force: true });
  const group = await start.processes.start({ command, args, env, cwd }).catch(async (error: unknown) => {
    await leave();
    throw new ProgramError(
      'not-installed',
      error instanceof NoProgramError
        ? sentence`${name} is not installed: there is no program “${command}” on the relay’s machine, or it may not be run.`
        : sentence`${name} could not be started: ${String(error)}`,
    );
  });
  const { child } = group;
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-limits.errorChars);
  });
  let fail: (error: ProgramError) => void = () => undefined;
  const broken = new Promise<never>((_, reject) => {
    fail = (error) => {
      reject(new ProgramError(error.why, sentence`${name}: ${error.message.replace(/\.$/, '')}.`));
      group.signal('SIGKILL');
    };
  });
  // Callers that wait receive the error. Without a caller it is not an unhandled rejection.
  broken.catch(() => undefined);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exit status ${code ?? '?'}` : `signal ${signal}`;
      const said = errors.trim();
      const ended =
        said === '' ? sentence`it has ended (${how})` : sentence`it has ended (${how}). It wrote last: ${said}`;
      fail(new ProgramError('died', ended));
      child.stdout?.destroy();
      child.stderr?.destroy();
      leave().then(resolve, resolve);
    });
  });
  child.stdin?.on('error', () => undefined);
  const tooLate = () => {
    const seconds = limits.startMs / 1_000;
    const missed = sentence`it did not answer within ${seconds} s, and was ended`;
    const hangs = new ProgramError('hangs', missed);
    fail(late.reason instanceof ProgramError ? late.reason : hangs);
  };
  if (late.aborted) tooLate();
  else late.addEventListener('abort', tooLate, { once: true });

  const connection = client({ name: 'roost' })
    .onNotification(methods.client.session.update, ({ params }) => handlers.update(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => handlers.permission(params))
    .onRequest(methods.client.fs.readTextFile, ({ params }) => handlers.readFile(params))
    .onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
      await handlers.writeFile(params);
      return {};
    })
    .connect(streamOf(group, limits, (error) => fail(error)));

  /** The connection reports its end before the cause is known. */
  const answer = <Value>(asked: Promise<Value>): Promise<Value> =>
    Promise.race([
      asked.catch((error: unknown) => (connection.signal.aborted ? broken : Promise.reject(error))),
      broken,
    ]);

  async function close(): Promise<void> {
    const kill = setTimeout(() => group.signal('SIGKILL'), limits.endMs);
    child.stdin?.end();
    group.signal('SIGTERM');
    await exited;
    clearTimeout(kill);
    connection.close();
  }
  try {
    const info = await answer(
      connection.agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
        clientInfo: { name: 'roost', title: 'Roost', version: start.version },
      }),
    );
    // Some programs answer `null` here.
    if (!isRecord(info)) throw new ProgramError('nonsense', sentence`${name}: ${NO_PROTOCOL}.`);
    if (info.protocolVersion !== PROTOCOL_VERSION)
      throw new ProgramError(
        'nonsense',
        sentence`${name} speaks version ${info.protocolVersion} of the Agent Client Protocol, and Roost ${PROTOCOL_VERSION}.`,
      );
    return { pid: group.pid, agent: connection.agent, info, answer, broken, close };
  } catch (error) {
    await close();
    throw faultOf(name, error);
  }
}
