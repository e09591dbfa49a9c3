/**
 * A program that speaks MCP over stdin and stdout, in a process group of its own, so its children
 * end with it. Its environment has only a few variables: those that programs need to be found and
 * to keep their caches, and those that the person set for it. It has none of the relay's. Its
 * output is bounded per message and over time.
 */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { keepLoaded } from '../../../src/shared/domain/platform/single-flight.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { type Runner, RUNNERS } from '../../../src/shared/protocol/runners.ts';
import type { Box } from '../../../src/shared/protocol/mcp.ts';
import { type Group, type Processes, programAt, type ProgramStart } from '../../platform/processes/index.ts';
import type { KeyFilter } from '../../platform/key-filter.ts';
import { createFlood } from '../../platform/pace.ts';
import { linesOf } from '../../platform/processes/lines.ts';
import { FLOODED } from '../../platform/json-bounds.ts';
import { programEnv, sdk } from './sdk.ts';
import { MCP_LIMITS, type McpLimits, jsonOf } from './settings.ts';

// This machine's settings for programs that fetch others (`npx`, `bunx`, `uvx`). Those programs are
// asked when a page wants to know.

/** The command that prints each program's registry address, and the variable that sets it. */
const ASKS: Readonly<
  Record<Runner['command'], { readonly ask: readonly [string, ...string[]]; readonly name: string }>
> = {
  npx: { ask: ['npm', 'config', 'get', 'registry'], name: 'npm_config_registry' },
  bunx: { ask: ['npm', 'config', 'get', 'registry'], name: 'npm_config_registry' },
  uvx: { ask: ['pip', 'config', 'get', 'global.index-url'], name: 'UV_DEFAULT_INDEX' },
};
/** Variables of the relay that may hold such an address. */
const SET_BY =
  /^(?:npm_config_registry|npm_config_userconfig|pip_index_url|pip_config_file|uv_default_index|uv_index_url)$/i;

interface RunnersDeps {
  readonly processes: Pick<Processes, 'start'>;
  readonly timers: Timers;
  /** The relay's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits?: Pick<McpLimits, 'runnersMs' | 'errorChars'>;
}

export function createRunners({ processes, timers, env, limits = MCP_LIMITS }: RunnersDeps): () => Promise<Runner[]> {
  const givenEnv = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && SET_BY.test(name) ? [[name, value]] : [])),
  );

  /** The command's output. Empty: the command is missing, failed, or took too long. */
  async function printedBy([command, ...args]: readonly [string, ...string[]]): Promise<string> {
    try {
      const { child, signal } = await processes.start({ command, args, env: { ...(await programEnv()), ...givenEnv } });
      const cancel = timers.after(limits.runnersMs, () => signal('SIGKILL'));
      let text = '';
      child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
        text = (text + piece).slice(0, limits.errorChars);
      });
      child.stderr?.resume();
      child.stdin?.end();
      await new Promise((ended) => child.once('close', ended));
      cancel();
      return text.trim();
    } catch {
      // The program is not installed, so its registry is unknown.
      return '';
    }
  }
  const printed = new Map<string, Promise<string>>();
  const once = (ask: readonly [string, ...string[]]) => {
    const key = ask.join(' ');
    const before = printed.get(key) ?? printedBy(ask);
    printed.set(key, before);
    return before;
  };

  async function runnerOf(command: Runner['command']): Promise<Runner> {
    const { ask, name } = ASKS[command];
    const address = await once(ask);
    const url = URL.canParse(address) ? new URL(address) : null;
    const isOpen = url !== null && ['http:', 'https:'].includes(url.protocol);
    const file = programAt(command, env['PATH']);
    const real = file === null ? null : await realpath(file).catch(() => null);
    const isSystems = (path: string) => /^\/(?:usr|bin|lib)\//.test(path);
    return {
      command,
      hosts: isOpen ? [url.host] : [],
      reads: [
        ...new Set([file, real].flatMap((path) => (path === null || isSystems(path) ? [] : [dirname(dirname(path))]))),
      ],
      // An address with a password in it is not passed on.
      env: isOpen && url.username === '' && url.password === '' ? { [name]: url.href } : {},
    };
  }
  const all = keepLoaded(async () => await Promise.all(RUNNERS.map(runnerOf)));
  return () => all.get();
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its sandbox settings. Null: it runs outside the sandbox. */
  readonly box: Box | null;
}

/** Starts programs outside and inside the sandbox. */
export interface Starts {
  readonly processes: Pick<Processes, 'start'>;
  readonly sandbox: { start(program: ProgramStart & Box): Promise<Group> };
}

interface ProgramTransport extends Transport {
  /** The end of its error output. */
  said(): string;
}

type Limits = Pick<
  McpLimits,
  'messageBytes' | 'jsonDepth' | 'jsonValues' | 'windowMs' | 'windowMessages' | 'windowBytes' | 'endMs' | 'errorChars'
>;

/** The message in a line. Null: it holds none. Programs print greetings, and logs in JSON too. */
function messageIn(line: string): JSONRPCMessage | null {
  try {
    return sdk().deserializeMessage(line);
  } catch {
    return unreadableAnswer(line);
  }
}
/** An invalid answer fails only the call that it belongs to. Null: it belongs to none. */
function unreadableAnswer(line: string): JSONRPCMessage | null {
  const answer = answerSchema.safeParse(jsonIn(line));
  if (!answer.success || 'method' in answer.data) return null;
  const { id } = answer.data;
  return { jsonrpc: '2.0', id, error: { code: -32_603, message: 'its answer cannot be read' } };
}
const answerSchema = z.looseObject({ jsonrpc: z.literal('2.0'), id: z.union([z.number(), z.string()]) });
function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export function createProgramTransport(
  { command, args, env, box }: Program,
  { processes, sandbox }: Starts,
  limits: Limits,
  filter: KeyFilter,
): ProgramTransport {
  let group: Group | null = null;
  let closing: Promise<void> | null = null;
  let errors = '';
  const cleaning = filter.pieces();
  const isFlooded = createFlood(limits);

  function fail(error: unknown): void {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    void transport.close();
  }

  async function read(output: Readable): Promise<void> {
    try {
      for await (const line of linesOf(output, { ...limits, json: jsonOf(limits) })) {
        const message = messageIn(line.toString('utf8'));
        if (message) transport.onmessage?.(message);
      }
    } catch (error) {
      fail(error);
    }
  }

  const transport: ProgramTransport = {
    said() {
      errors = (errors + cleaning.rest()).slice(-limits.errorChars);
      return errors.trim();
    },
    async start() {
      const program = { command, args, env: { ...(await programEnv()), ...env } };
      group = await (box ? sandbox.start({ ...program, ...box }) : processes.start(program));
      const { child } = group;
      child.once('error', (error) => transport.onerror?.(error));
      child.once('close', () => transport.onclose?.());
      if (child.stdout) void read(child.stdout);
      child.stdin?.on('error', fail);
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        if (isFlooded(0, text.length)) return fail(new Error(FLOODED));
        errors = (errors + cleaning.take(text)).slice(-limits.errorChars);
      });
    },
    send: (message) => group?.write(sdk().serializeMessage(message)) ?? Promise.reject(new Error('it has ended')),
    close() {
      closing ??= new Promise((closed) => {
        // If the program has exited, the rest of its group was ended with it.
        if (!group || group.child.exitCode !== null || group.child.signalCode !== null) return closed();
        const { child: ending, signal } = group;
        const kill = setTimeout(() => signal('SIGKILL'), limits.endMs);
        ending.once('exit', () => {
          clearTimeout(kill);
          ending.stdout?.destroy();
          ending.stderr?.destroy();
          closed();
        });
        ending.stdin?.end();
        signal('SIGTERM');
      });
      return closing;
    },
  };
  return transport;
}
