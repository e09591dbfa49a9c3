/**
 * A program that speaks MCP over its input and output, in a process group of its own: what it has
 * started ends with it. It is given the few variables that programs need to be found and to keep
 * their caches, and those that the person has set for it; none of the relay's. What it writes is
 * bounded, in one message and in time.
 */
import type { Readable } from 'node:stream';
import {
  deserializeMessage,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import type { Box } from '../../../src/shared/protocol/attached.ts';
import type { KeyFilter } from '../../platform/key-filter.ts';
import { createFlood } from '../../platform/flood.ts';
import type { Group, Processes, ProgramStart } from '../../platform/processes/index.ts';
import { linesOf } from '../../platform/processes/lines.ts';
import { FLOODED } from '../../platform/too-much.ts';
import { jsonOf, type AttachedLimits } from './settings.ts';

export interface Program {
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

export interface ProgramTransport extends Transport {
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
