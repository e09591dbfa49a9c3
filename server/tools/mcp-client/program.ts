/**
 * A program that speaks MCP over its input and output, in a process group of its own: what it has
 * started ends with it. It is given the few variables that programs need to be found and to keep
 * their caches, and those that the person has set for it; none of the relay's. What it writes is
 * bounded, in one message and in time.
 */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { keepLoaded } from '../../../src/shared/domain/platform/single-flight.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { type Runner, RUNNERS } from '../../../src/shared/protocol/runners.ts';
import type { Box } from '../../../src/shared/protocol/attached.ts';
import { type Group, type Processes, programAt, type ProgramStart } from '../../platform/processes/index.ts';
import type { KeyFilter } from '../../platform/key-filter.ts';
import { createFlood } from '../../platform/pace.ts';
import { linesOf } from '../../platform/processes/lines.ts';
import { FLOODED } from '../../platform/json-bounds.ts';
import { ATTACHED_LIMITS, type AttachedLimits, jsonOf } from './settings.ts';

// What this machine has set for programs that fetch others (`npx`, `bunx`, `uvx`). Their own
// settings are asked, when a page wants to know.

/** Who is asked for the address that each fetches from, and the variable by which it is told. */
const ASKS: Readonly<
  Record<Runner['command'], { readonly ask: readonly [string, ...string[]]; readonly name: string }>
> = {
  npx: { ask: ['npm', 'config', 'get', 'registry'], name: 'npm_config_registry' },
  bunx: { ask: ['npm', 'config', 'get', 'registry'], name: 'npm_config_registry' },
  uvx: { ask: ['pip', 'config', 'get', 'global.index-url'], name: 'UV_DEFAULT_INDEX' },
};
/** Variables of the relay in which such an address may stand. */
const SET_BY =
  /^(?:npm_config_registry|npm_config_userconfig|pip_index_url|pip_config_file|uv_default_index|uv_index_url)$/i;

interface RunnersDeps {
  readonly processes: Pick<Processes, 'start'>;
  readonly timers: Timers;
  /** Of the relay. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits?: Pick<AttachedLimits, 'runnersMs' | 'errorChars'>;
}

export function createRunners({
  processes,
  timers,
  env,
  limits = ATTACHED_LIMITS,
}: RunnersDeps): () => Promise<Runner[]> {
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && SET_BY.test(name) ? [[name, value]] : [])),
  );

  /** What it prints; empty: it is not there, failed, or took too long. */
  async function printedBy([command, ...args]: readonly [string, ...string[]]): Promise<string> {
    try {
      const { child, signal } = await processes.start({ command, args, env: { ...getDefaultEnvironment(), ...given } });
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
      // There is no such program here: then nothing is known of where it fetches from.
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
      // One with a password in it is not handed on.
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
  /** How it is held in the sandbox; null: it runs free. */
  readonly box: Box | null;
}

/** Where programs are begun: free, and in the sandbox. */
export interface Starts {
  readonly processes: Pick<Processes, 'start'>;
  readonly sandbox: { start(program: ProgramStart & Box): Promise<Group> };
}

interface ProgramTransport extends Transport {
  /** The end of what it wrote to its errors. */
  said(): string;
}

type Limits = Pick<
  AttachedLimits,
  'messageBytes' | 'jsonDepth' | 'jsonValues' | 'windowMs' | 'windowMessages' | 'windowBytes' | 'endMs' | 'errorChars'
>;

/**
 * What a line says; null: it is no message. Programs greet in words, and write logs as JSON, too.
 */
function messageIn(line: string): JSONRPCMessage | null {
  try {
    return deserializeMessage(line);
  } catch {
    return unreadableAnswer(line);
  }
}
/**
 * An answer that is none fails the call for which it came, and no other. Null: it answers nothing.
 */
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
      const program = { command, args, env: { ...getDefaultEnvironment(), ...env } };
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
    send: (message) => group?.write(serializeMessage(message)) ?? Promise.reject(new Error('it has ended')),
    close() {
      closing ??= new Promise((closed) => {
        // Where it has ended, the rest of its group was ended with it.
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
